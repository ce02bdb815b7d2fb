"""`graphmem why`: the reasons of a belief, event by event, or the history of a memory."""

from __future__ import annotations

from typing import Any

import click

from graphmem.cli.app import App, command
from graphmem.cli.belief import by, reading


@click.command()
@click.argument("item_id")
@click.option("--start", type=int, default=0, show_default=True, help="Pieces to pass over.")
@click.option("--limit", type=int, default=100, show_default=True, help="Pieces to show.")
@reading
@command(wall=True)
def why(app: App, item_id: str, *, start: int, limit: int, **times: Any) -> None:
    """Explain a belief, event by event, or say how a memory came about."""
    from graphmem.cli import why_views

    with app.memory() as opened:
        found = opened.why(item_id, start=start, limit=limit, **by(**times))
    app.emit(found, why_views.reasons)
