"""`graphmem belief slots | flip-set | chain`: the wider view of what is believed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from graphmem.cli.app import App, command
from graphmem.cli.memory import as_of, moment

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

    from graphmem.model import BeliefChain, FlipSet, SlotPage


@click.command()
@click.argument("subject", required=False)
@click.option("--limit", type=int, default=50, show_default=True, help="Slots of a page.")
@click.option("--cursor", help="Where the page before ended.")
@moment
@command(wall=True)
def slots(
    app: App,
    subject: str | None,
    *,
    limit: int,
    cursor: str | None,
    valid: datetime | None,
    known: datetime | None,
) -> None:
    """List what is believed of SUBJECT, or of everything: each slot with its best values."""
    with app.memory() as opened:
        page = opened.slots(subject, cursor=cursor, limit=limit, as_of=as_of(valid, known))
    app.emit(page, _slots)


def _slots(page: SlotPage) -> Group:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from graphmem.cli.belief_views import number
    from graphmem.cli.views import more

    table = Table("subject", "predicate", "believed", "others", box=None, pad_edge=False)
    for slot in page.slots:
        values = [f"{value.object} {number(value.belief)}" for value in slot.candidates]
        others = ", ".join(values[1:]) + ("  ambiguous" if slot.ambiguous else "")
        table.add_row(slot.subject, slot.predicate, "".join(values[:1]), Text(others, style="dim"))
    found = table if page.slots else Text("No slots.", style="dim")
    return Group(found, *more(page.next_cursor))


@click.command(name="flip-set")
@click.argument("belief_id")
@moment
@command(wall=True)
def flip_set(app: App, belief_id: str, *, valid: datetime | None, known: datetime | None) -> None:
    """Show a smallest set of evidence without which the test would end otherwise."""
    with app.memory() as opened:
        found = opened.flip_set(belief_id, as_of=as_of(valid, known))
    app.emit(found, _flip_set)


def _flip_set(found: FlipSet) -> Text:
    from rich.text import Text

    from graphmem.cli.belief_views import counted

    if found.event_ids is None:
        return Text(f"{found.status}, whichever of {counted(found.evidence, 'piece')} is left out.")
    lines = Text(f"{found.status}; without ")
    lines.append(f"{len(found.event_ids)} of {counted(found.evidence, 'piece')}", style="bold")
    lines.append(f" {found.becomes}:")
    for event_id in found.event_ids:
        lines.append(f"\n  {event_id}", style="dim")
    return lines


@click.command()
@click.argument("belief_id")
@moment
@command(wall=True)
def chain(app: App, belief_id: str, *, valid: datetime | None, known: datetime | None) -> None:
    """Show what a belief took the place of, and what took its place, at any remove."""
    with app.memory() as opened:
        found = opened.belief_chain(belief_id, as_of=as_of(valid, known))
    app.emit(found, _chain)


def _chain(found: BeliefChain) -> Group:
    from rich.console import Group
    from rich.text import Text

    from graphmem.cli.views import day

    newer = {link.older_id: link for link in found.links if link.in_force}
    lines = []
    for card in found.beliefs:
        is_head = card.id in found.head_ids
        line = Text("● " if is_head else "○ ", style="green" if is_head else "yellow")
        line.append(card.statement, style="default")
        line.append(f"\n  {card.id}   since {day(card.created_at)}", style="dim")
        if card.id in newer:
            link = newer[card.id]
            line.append(f"   replaced {day(link.occurred_at)} by {link.newer_id}", style="dim")
        lines.append(line)
    return Group(*lines)


READING = (slots, flip_set, chain)
"""The commands of this room, for the group."""
