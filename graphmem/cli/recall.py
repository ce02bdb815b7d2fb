"""`graphmem recall`: find what is remembered about something."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from graphmem.cli.app import App, command
from graphmem.cli.memory import InstantType, as_of, moment


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=10, show_default=True, help="Hits at most.")
@click.option("--turns", is_flag=True, help="Look among the turns of conversations too.")
@click.option("--hidden", is_flag=True, help="Show what was superseded or outvoted too.")
@click.option("--tag", "tags", multiple=True, help="Must be there; may be given several times.")
@click.option("--source", help="One of its events must come from it.")
@click.option("--since", type=InstantType(), help="Said first then or later.")
@click.option("--until", type=InstantType(), help="Said first before.")
@click.option("--in-scope", "scopes", multiple=True, help="Only there; may be given several times.")
@click.option(
    "--policy",
    default="default",
    show_default=True,
    help="How to rank: default, flat, trace, esper, engram or agent.",
)
@moment
@command(wall=True)
def recall(
    app: App,
    query: tuple[str, ...],
    *,
    valid: datetime | None,
    known: datetime | None,
    **looking: Any,
) -> None:
    """Find what is remembered about QUERY, best first, each with its reasons."""
    given = {name: value for name, value in looking.items() if value}
    with app.memory() as memory:
        found = memory.recall(
            " ".join(query), as_of=as_of(valid, known), **{"limit": looking["limit"], **given}
        )
    from graphmem.cli import recall_views

    app.emit(found, lambda: recall_views.recollection(found))
