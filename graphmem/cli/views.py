"""Terminal views of memories and outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.model import (
    CommitOutcome,
    Memory,
    MemoryChain,
    MemoryEvent,
    Outcome,
    Status,
)

MARKS = {
    Status.CURRENT: ("●", "green"),
    Status.SUPERSEDED: ("○", "yellow"),
    Status.DEPRECATED: ("×", "red"),
    Status.ARCHIVED: ("×", "red"),
}
OUTCOMES = {
    Outcome.INSERTED_NEW: ("new", "green"),
    Outcome.EXACT_DUPE: ("exact duplicate", "cyan"),
    Outcome.NEAR_DUPE: ("near duplicate", "cyan"),
    Outcome.REJECTED_HYGIENE: ("rejected by hygiene", "red"),
}


def day(at: datetime) -> str:
    """Return a date such as 3 Feb 2025."""
    return f"{at.day} {at:%b %Y}"


def more(cursor: str | None) -> list[Text]:
    """Return the line with the cursor of the next page; empty on the last page."""
    return [Text(f"\nmore: --cursor {cursor}")] if cursor else []


def seen(memory: Memory) -> str:
    """Return how often and when a memory was stated."""
    if memory.reinforce_count:
        return f"stated {memory.reinforce_count + 1} times, last {day(memory.last_seen_at)}"
    return f"stated {day(memory.created_at)}"


def outcomes(counts: Mapping[Outcome, int], repeated: int) -> Table:
    """Return the number of texts per outcome."""
    table = Table("outcome", "texts", box=None, pad_edge=False)
    for outcome, (words, colour) in OUTCOMES.items():
        table.add_row(Text(words, style=colour), str(counts.get(outcome, 0)))
    if repeated:
        table.add_row(Text("committed by an earlier run", style="dim"), str(repeated))
    return table


def outcome(result: CommitOutcome) -> Text:
    """Return the outcome of one text."""
    words, colour = OUTCOMES[result.outcome]
    line = Text(f"{words}", style=colour)
    if result.memory_id:
        line.append(f"   {result.memory_id}", style="default")
    if result.hygiene_reasons:
        line.append(f": {', '.join(result.hygiene_reasons)}")
    if result.possible_update_of:
        line.append(f"\npossible update of {result.possible_update_of}", style="yellow")
    return line


def memories(rows: Iterable[Memory]) -> Group:
    """Return memories, two lines each: the text, then its id and tags."""
    return Group(*(_memory_lines(memory) for memory in rows))


def _memory_lines(memory: Memory) -> Text:
    mark, colour = MARKS[memory.status]
    line = Text(f"{mark} ", style=colour).append(memory.content, style="default")
    line.append(f"   {seen(memory)}", style="dim")
    return line.append("\n  " + "   ".join((memory.id, *memory.tags)), style="dim")


def memory(found: Memory) -> Group:
    """Return one memory in full."""
    mark, colour = MARKS[found.status]
    head = Text(f"{mark} ", style=colour).append(found.content, style="bold")
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in (
        ("status", found.status.value),
        ("now", ", ".join(found.head_ids)),
        ("stated", f"{found.reinforce_count + 1} times"),
        ("first", found.created_at.isoformat()),
        ("last", found.last_seen_at.isoformat()),
        ("tags", ", ".join(found.tags)),
        ("scope", found.scope),
        ("id", found.id),
    ):
        if value:
            table.add_row(Text(name, style="dim"), value)
    return Group(head, table)


def history(events: Iterable[MemoryEvent]) -> Table:
    """Return a memory's events as a table."""
    table = Table("when", "event", "by", "source", "reason or text", box=None, pad_edge=False)
    for event in events:
        table.add_row(
            event.occurred_at.strftime("%Y-%m-%d %H:%M:%S"),
            event.type,
            event.actor or "",
            event.source or "",
            str(event.payload.get("reason") or event.payload.get("text") or ""),
        )
    return table


def chain(found: MemoryChain) -> Group:
    """Return a supersession chain: the memories, then the replacements."""
    contents = {m.id: m.content for m in found.memories}
    lines: list[RenderableType] = [memories(found.memories)]
    for link in found.links:
        arrow = "→" if link.in_force else "⇢ (value came back)"
        lines.append(
            Text(
                f"{day(link.occurred_at)}: {contents[link.older_id]} {arrow} "
                f"{contents.get(link.newer_id, link.newer_id)}",
                style="default" if link.in_force else "dim",
            )
        )
    return Group(*lines)
