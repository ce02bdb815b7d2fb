"""`graphmem belief archive | restore | resolve`: put beliefs away, bring them back, clear flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, F, command
from graphmem.cli.belief_evidence import origin, told

if TYPE_CHECKING:
    from graphmem.model import StatusReceipt


def mark(function: F) -> F:
    """Give a command the belief that it is about, why, and where that comes from."""
    reason = click.option("--reason", help="Why; kept with the event.")
    belief_id = click.argument("belief_id")
    marked: F = belief_id(reason(origin(command(wall=True)(function))))
    return marked


def show(app: App, done: StatusReceipt, became: Callable[[StatusReceipt], str]) -> None:
    """Print what became of a belief."""
    again = "" if done.changed else "Nothing changed. "
    app.emit(done, lambda it: f"{again}{it.belief_id} is {became(it)}.\nevent {it.event_id}")


@click.command()
@mark
def archive(app: App, belief_id: str, **source: Any) -> None:
    """Put a belief away: hidden from recall, kept with its evidence."""
    with app.memory() as opened:
        done = opened.archive(belief_id, **told(source))
    show(app, done, lambda it: it.status)


@click.command()
@mark
def restore(app: App, belief_id: str, **source: Any) -> None:
    """Make an archived or superseded belief current again."""
    with app.memory() as opened:
        done = opened.restore_belief(belief_id, **told(source))
    show(app, done, lambda it: it.status)


@click.command()
@mark
def resolve(app: App, belief_id: str, **source: Any) -> None:
    """Clear the flag of a belief that was to be revised and may stay as it is."""
    with app.memory() as opened:
        done = opened.resolve(belief_id, **told(source))
    show(app, done, lambda it: "flagged" if it.flagged else "not flagged")


LIFECYCLE = (archive, restore, resolve)
"""In the order of the help."""
