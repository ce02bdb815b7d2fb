"""`graphmem belief same-as | apart | names`: by which names somebody is known."""

from __future__ import annotations

from typing import Any

import click

from graphmem.cli.app import App, command
from graphmem.cli.belief_evidence import origin, told


@click.command(name="same-as")
@click.argument("name")
@click.argument("other")
@origin
@command(wall=True)
def same_as(app: App, name: str, other: str, **source: Any) -> None:
    """Let NAME stand for OTHER: what is said of either is read as said of both."""
    with app.memory() as opened:
        done = opened.same_as(name, other, **told(source))
    app.emit(done, lambda it: f"{it.name} stands for {it.same_as}.\nevent {it.event_id}")


@click.command()
@click.argument("name")
@origin
@command(wall=True)
def apart(app: App, name: str, **source: Any) -> None:
    """Let NAME stand for itself again."""
    with app.memory() as opened:
        done = opened.apart(name, **told(source))
    app.emit(done, lambda it: f"{it.name} stands for itself again.\nevent {it.event_id}")


@click.command()
@command(wall=True)
def names(app: App) -> None:
    """Show which names stand for others."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        found = opened.names()
    app.emit(found, belief_views.names)


NAMING = (same_as, apart, names)
"""In the order of the help."""
