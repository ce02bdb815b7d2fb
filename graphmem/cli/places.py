"""`graphmem tenant`, `scope` and `session`: what a graph holds, by its parts."""

from __future__ import annotations

from typing import Any

from graphmem.cli import parameters
from graphmem.cli.app import App
from graphmem.cli.derived import Group

tenant = Group("tenant", "List the tenants of the graph.")
tenant.method(
    "tenants",
    name="list",
    more="This is for operators: all other commands see one tenant. A tenant with only a log of "
    "searches is not listed.",
    tenant=False,
)
scope = Group("scope", "List the scopes of a tenant.")
scope.method("admin.scopes", name="list")
session = Group("session", "List conversations by session.")


@session.runs("episodes.list", only=["since", "until", "cursor", "limit"])
def list_sessions(app: App, **page: Any) -> None:
    """List sessions in the read scopes, newest first, with their episodes.

    `graphmem episode turns` shows the messages, `graphmem usage audit` the searches.
    """
    from graphmem.cli.views import episode as views

    with app.client() as client:
        found = client.episodes.list(sessions_only=True, **parameters.grouped(page))
        app.emit(found, views.conversations)
