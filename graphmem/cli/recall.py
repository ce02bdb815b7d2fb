"""`graphmem recall`: find what is remembered about something."""

from __future__ import annotations

import click

from graphmem.cli.app import App, command


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=10, show_default=True, help="Hits at most.")
@click.option("--turns", is_flag=True, help="Look among the turns of conversations too.")
@click.option("--hidden", is_flag=True, help="Show superseded and deprecated memories too.")
@click.option(
    "--policy",
    default="default",
    show_default=True,
    help="How to rank: default, flat, trace, esper, engram or agent.",
)
@command(wall=True)
def recall(
    app: App, query: tuple[str, ...], *, limit: int, turns: bool, hidden: bool, policy: str
) -> None:
    """Find what is remembered about QUERY, best first, each with its reasons."""
    with app.memory() as memory:
        found = memory.recall(
            " ".join(query), limit=limit, turns=turns, hidden=hidden, policy=policy
        )
    from graphmem.cli import recall_views

    app.emit(found, lambda: recall_views.recollection(found))
