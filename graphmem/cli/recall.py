"""`graphmem recall`: find what is remembered about something."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import click

from graphmem.cli.app import App, F, command
from graphmem.cli.memory import as_of, described, moment


def looking(function: F) -> F:
    """Give a command that recalls what decides among what, and how it is ranked."""
    for option in (
        click.option(
            "--policy",
            default="default",
            show_default=True,
            help="How to rank: default, flat, trace, esper, engram or agent.",
        ),
        click.option(
            "--in-scope", "scopes", multiple=True, help="Only there; give several for any."
        ),
        described,
        click.option("--hidden", is_flag=True, help="Show what was superseded or outvoted too."),
        click.option("--turns", is_flag=True, help="Look among what was said word for word too."),
    ):
        function = option(function)
    return moment(function)


def given(
    options: Mapping[str, Any], valid: datetime | None, known: datetime | None
) -> dict[str, Any]:
    """Return what `looking` was given, as `recall` takes it."""
    told = {name: value for name, value in options.items() if value not in (None, (), False)}
    return told | {"as_of": as_of(valid, known)}


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=10, show_default=True, help="Hits at most.")
@looking
@command(wall=True)
def recall(
    app: App,
    query: tuple[str, ...],
    *,
    limit: int,
    valid: datetime | None,
    known: datetime | None,
    **asked: Any,
) -> None:
    """Find what is remembered about QUERY, best first, each with its reasons."""
    wanted = given(asked, valid, known)
    with app.memory() as memory:
        found = memory.recall(" ".join(query), limit=limit, **wanted)
        from graphmem.cli import recall_views

        # Shown before the search is logged: that this fails is no reason to hide it.
        app.emit(found, recall_views.recollection)
