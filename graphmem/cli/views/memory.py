"""Terminal views of memories and outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem import model
from graphmem.cli.console import counted, day, fields, more, number, table

MARKS = {
    model.Status.CURRENT: ("●", "green"),
    model.Status.SUPERSEDED: ("○", "yellow"),
    model.Status.DEPRECATED: ("×", "red"),
    model.Status.ARCHIVED: ("×", "red"),
    model.Status.REJECTED: ("×", "red"),
}
OUTCOMES = {
    model.Outcome.INSERTED_NEW: ("new", "green"),
    model.Outcome.EXACT_DUPE: ("exact duplicate", "cyan"),
    model.Outcome.NEAR_DUPE: ("near duplicate", "cyan"),
    model.Outcome.REJECTED_HYGIENE: ("rejected by hygiene", "red"),
    model.Outcome.REJECTED: ("rejected by a person", "red"),
}


def seen(memory: model.Memory) -> str:
    """Return how often and when a memory was stated."""
    if memory.reinforce_count:
        return (
            f"stated {counted(memory.reinforce_count + 1, 'time')}, last {day(memory.last_seen_at)}"
        )
    return f"stated {day(memory.created_at)}"


def outcomes(found: Iterable[model.CommitOutcome]) -> Table:
    """Return the number of texts per outcome."""
    counts = Counter("repeated" if one.repeated else one.outcome for one in found)
    repeated = counts["repeated"]
    rows = table("outcome", "texts")
    for outcome, (words, colour) in OUTCOMES.items():
        rows.add_row(Text(words, style=colour), str(counts.get(outcome, 0)))
    if repeated:
        rows.add_row(Text("committed by an earlier run", style="dim"), str(repeated))
    return rows


def outcome(result: model.CommitOutcome) -> Text:
    """Return the outcome of one text."""
    words, colour = OUTCOMES[result.outcome]
    line = Text(f"{words}", style=colour)
    if result.memory_id:
        line.append(f"   {result.memory_id}", style="default")
    if result.hygiene_reasons:
        line.append(f": {', '.join(result.hygiene_reasons)}")
    if result.rejection:
        line.append(f"   {rejected(result.rejection)}", style="default")
    if result.rejected_ids:
        line.append(f"\nrejected beliefs: {', '.join(result.rejected_ids)}", style="yellow")
    line.append("".join(map(_refused_claim, result.refused_claims)), style="yellow")
    if result.superseded_ids:
        line.append(f"\nreplaces {', '.join(result.superseded_ids)}", style="yellow")
    elif result.proposal_id:
        text = f"\nproposed to replace {result.possible_update_of}: {result.proposal_id}"
        line.append(text, style="yellow")
    elif result.possible_update_of:
        line.append(f"\npossible update of {result.possible_update_of}", style="yellow")
    return line


def _refused_claim(claim: model.RefusedClaim) -> str:
    return f"\nclaim {claim.place + 1} not stored: {', '.join(claim.reasons)}"


def rejected(found: model.Rejection) -> str:
    """Return when, by whom and why a value was rejected."""
    by = f" by {found.actor}" if found.actor else ""
    return f"rejected {day(found.rejected_at)}{by}{f': {found.reason}' if found.reason else ''}"


def ruled(done: model.RejectionReceipt) -> Text:
    """Return the receipt of a rejection, or of one taken back."""
    state = "rejected" if done.rejected else "not rejected"
    if done.repeated:
        return Text(f"{state}; event {done.event_id} was recorded before.")
    line = Text("" if done.changed else "Nothing changed. ")
    line.append(f"{state}; event {done.event_id}.")
    for name in (*done.memory_ids, *done.belief_ids):
        line.append(f"\n  {name}", style="dim")
    return line


def memories(rows: Iterable[model.Memory]) -> Group:
    """Return memories, two lines each: the text, then its id and tags."""
    return Group(*(_memory_lines(memory) for memory in rows))


def vouched(trust: model.Trust | None) -> Text:
    """Return the mark of a text whose trust class is not a person's."""
    known = trust in (None, "person")
    return Text() if known else Text(f"   trust: {trust}", style="yellow")


def page(found: model.Page) -> Group:
    """Return a page of memories and the cursor of the next page."""
    return Group(memories(found.memories), *more(found.next_cursor))


def _memory_lines(memory: model.Memory) -> Text:
    mark, colour = MARKS[memory.status]
    line = Text(f"{mark} ", style=colour).append(memory.content, style="default")
    line.append(f"   {seen(memory)}", style="dim")
    line.append_text(vouched(memory.trust))
    return line.append("\n  " + "   ".join((memory.id, *memory.tags)), style="dim")


def memory(found: model.Memory) -> Group:
    """Return one memory in full."""
    mark, colour = MARKS[found.status]
    head = Text(f"{mark} ", style=colour).append(found.content, style="bold")
    rows = {
        "status": found.status.value,
        "now": ", ".join(found.head_ids),
        "trust": found.trust or "",
        "stated": counted(found.reinforce_count + 1, "time"),
        "first": found.created_at.isoformat(),
        "last": found.last_seen_at.isoformat(),
        "tags": ", ".join(found.tags),
        "scope": found.scope,
        "id": found.id,
    }
    return Group(head, fields(rows))


def history(events: Iterable[model.MemoryEvent]) -> Table:
    """Return a memory's events as a table."""
    names = ("when", "event", "by", "source", "trust", "reason or text")
    rows = table(*names, whole=("when", "event"))
    for event in events:
        rows.add_row(
            event.occurred_at.strftime("%Y-%m-%d %H:%M:%S"),
            event.type,
            event.actor or "",
            event.source or "",
            event.trust or "",
            str(event.payload.get("reason") or event.payload.get("text") or ""),
        )
    return rows


def chain(found: model.MemoryChain) -> Group:
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


def superseded(done: model.Supersession) -> str:
    """Return the ids of the new and the replaced memory."""
    head = f", the head of the chain of {done.requested_id}" if done.requested_id else ""
    return f"{done.newer_id} replaces {done.older_id}{head}."


def stale(found: model.StalePage) -> Group:
    """Return stale memories, two lines each, and the cursor of the next page."""
    lines = [_stale_lines(item) for item in found.memories]
    if not lines:
        lines.append(Text("No memory is that old or contradicted.", style="dim"))
    return Group(*lines, *more(found.next_cursor))


def _stale_lines(found: model.StaleMemory) -> Text:
    memory = found.memory
    line = Text("● ", style="green").append(memory.content, style="default")
    ago = counted(int(found.days), "day")
    line.append(f"   last stated {day(memory.last_seen_at)}, {ago} ago", style="dim")
    line.append(f"\n  {memory.id}   trace {number(found.trace)}", style="dim")
    if memory.lost_ids:
        lost = ", ".join(memory.lost_ids)
        line.append(f"\n  beliefs no longer held: {lost}", style="yellow")
    if model.StaleReason.UNSUPPORTED in found.reasons:
        line.append("\n  a claim has more evidence against it than for it", style="yellow")
    return line
