"""How the card of one item, and memories that nobody has said for long, look in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.cli import belief_views, views
from graphmem.cli.belief_views import counted, number, sign
from graphmem.cli.views import day
from graphmem.model import (
    Belief,
    BeliefEvent,
    Card,
    ChainNeighbor,
    Episode,
    Memory,
    StaleMemory,
    StalePage,
    Turn,
)


def card(found: Card) -> Group:
    """Return all that is kept of one item."""
    parts: list[RenderableType] = list(_head(found))
    if isinstance(found.item, Memory):
        parts += ["", views.history(found.events)]
    elif found.events:
        parts += ["", _evidence(found)]
    if found.turns:
        parts += ["", *_said(found)]
    around = list(_around(found))
    if around:
        parts += ["", *around]
    return Group(*parts, "", _looks(found))


def _head(found: Card) -> Iterator[RenderableType]:
    item = found.item
    if isinstance(item, Memory):
        yield views.memory(item)
    elif isinstance(item, Belief):
        yield belief_views.belief(item)
    elif isinstance(item, Turn):
        yield Text(f"turn {item.position} of {item.episode_id}", style="dim")
    else:
        yield from _episode(item)


def _episode(item: Episode) -> Iterator[Text]:
    name = f"session {item.session_id}" if item.session_id else "episode"
    yield Text(f"{name} of {day(item.occurred_at)}", style="bold")
    yield Text(f"{item.id}   {counted(item.turns, 'turn')}", style="dim")
    for text in (item.summary, item.content, item.gist):
        if text:
            yield Text(text)
    if item.compressed:
        yield Text(f"compressed; `graphmem memory restore-episode {item.id}`", style="yellow")
    if item.entities:
        yield Text(f"about {', '.join(item.entities)}", style="dim")


def _evidence(found: Card) -> Table:
    """Return what a belief rests on, one event a row."""
    table = Table("when", "", "event", "source", "c", "s", "id", "note", box=None, pad_edge=False)
    for event in found.events:
        if isinstance(event, BeliefEvent):
            table.add_row(
                f"{event.occurred_at:%Y-%m-%d %H:%M}",
                sign(event.kind) if event.kind else "",
                event.type,
                event.source_type or event.source or "",
                "" if event.confidence is None else number(event.confidence),
                "" if event.strength is None else number(event.strength),
                event.id,
                str(event.payload.get("note") or ""),
            )
    return table


def _said(found: Card) -> Iterator[Text]:
    """Yield turns in their order; what is quoted, or was asked for, is marked."""
    item, turns = found.item, list(found.turns)
    quoted = isinstance(item, Memory | Belief)
    if isinstance(item, Turn):
        turns = sorted([*turns, item], key=lambda turn: turn.position)
    for turn in turns:
        line = Text("» " if quoted or turn == item else "  ", style="blue")
        line.append(f"{turn.name or turn.role}: ", style="bold")
        line.append(turn.text, style="bold" if turn == item else "default")
        yield line.append(f"   {day(turn.occurred_at)}   {turn.id}", style="dim")
    if isinstance(item, Episode) and item.turns > len(turns):
        yield Text(f"  {counted(item.turns - len(turns), 'more turn')}", style="dim")


def _around(found: Card) -> Iterator[Text]:
    """Yield what stands next to it, what it asserts, and where it was said."""
    for word, others in (
        ("put in the place of", found.supersedes),
        ("replaced by", found.superseded_by),
    ):
        for other in others:
            yield _neighbour(word, other)
    for belief in found.claims:
        line = Text("asserts ").append_text(belief_views.headline(belief))
        yield line.append(f"   {belief.id}", style="dim")
    lost = found.item.lost_ids if isinstance(found.item, Memory) else None
    if lost:
        yield Text(f"no longer believed of what it says: {', '.join(lost)}", style="yellow")
    for scene in found.episodes:
        name = f"session {scene.session_id}" if scene.session_id else "episode"
        yield Text(f"in {name} of {day(scene.occurred_at)}, {scene.id}", style="dim")


def _neighbour(word: str, other: ChainNeighbor) -> Text:
    back = "" if other.in_force else "; the value came back"
    return Text(
        f"{word} {other.text} ({other.id}) on {day(other.occurred_at)}{back}",
        style="yellow" if other.in_force else "dim",
    )


def _looks(found: Card) -> Text:
    if found.last_access_at is None:
        return Text("not looked at before", style="dim")
    times = counted(found.accesses, "time")
    return Text(f"looked at {times} before, last {day(found.last_access_at)}", style="dim")


def stale(found: StalePage) -> Group:
    """Return memories that nobody has said for long, two lines each, and how to get more."""
    lines = [_stale_lines(one) for one in found.memories]
    if not lines:
        lines.append(Text("Nothing is that old.", style="dim"))
    return Group(*lines, *views.more(found.next_cursor))


def _stale_lines(found: StaleMemory) -> Text:
    memory = found.memory
    line = Text("● ", style="green").append(memory.content, style="default")
    ago = counted(int(found.days), "day")
    line.append(f"   last said {day(memory.last_seen_at)}, {ago} ago", style="dim")
    line.append(f"\n  {memory.id}   trace {number(found.trace)}", style="dim")
    if memory.lost_ids:
        lost = ", ".join(memory.lost_ids)
        line.append(f"\n  no longer believed of what it says: {lost}", style="yellow")
    return line
