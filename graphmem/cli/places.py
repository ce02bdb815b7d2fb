"""`graphmem tenant`, `scope` and `session`: list where data is."""

from __future__ import annotations

from typing import Any

import click

from graphmem.cli import options
from graphmem.cli.app import App, command, given
from graphmem.cli.times import TimeType


@click.group()
def tenant() -> None:
    """List the tenants of the graph."""


@tenant.command(name="list")
@options.PAGE
@command()
def list_tenants(app: App, **page: Any) -> None:
    """List the tenants that have data, by name.

    This is for operators: all other commands see one tenant. A tenant with only a log of searches
    is not listed.
    """
    from graphmem.cli.views import admin as views

    with app.client() as client:
        app.emit(client.tenants(**given(page)), views.stored)


@click.group()
def scope() -> None:
    """List the scopes of a tenant."""


@scope.command(name="list")
@options.PAGE
@command(tenant=True)
def list_scopes(app: App, **page: Any) -> None:
    """List the scopes of a tenant that have data, by name."""
    from graphmem.cli.views import admin as views

    with app.client() as client:
        app.emit(client.admin.scopes(**given(page)), views.stored)


@click.group()
def session() -> None:
    """List conversations by session."""


@session.command(name="list")
@click.option("--since", type=TimeType(), help="Include only sessions started since then.")
@click.option("--until", type=TimeType(), help="Include only sessions started before then.")
@options.PAGE
@command(tenant=True)
def list_sessions(app: App, **page: Any) -> None:
    """List sessions in the read scopes, newest first, with their episodes.

    `graphmem episode turns` shows the messages, `graphmem usage audit` the searches.
    """
    from graphmem.cli.views import usage as views

    with app.client() as client:
        app.emit(client.episodes.list(sessions_only=True, **given(page)), views.conversations)
