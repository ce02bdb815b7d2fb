"""`graphmem expand`: all that is kept of one item."""

from __future__ import annotations

import click

from graphmem.cli.app import App, command


@click.command()
@click.argument("item_id")
@command(wall=True)
def expand(app: App, item_id: str) -> None:
    """Show all that is kept of a memory, a belief, a turn or an episode; it counts as a look."""
    from graphmem.cli import attention_views

    with app.memory() as opened:
        found = opened.expand(item_id)
        # Shown before the look is written: that this fails is no reason to hide it.
        app.emit(found, attention_views.card)
