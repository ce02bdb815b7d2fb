"""How what recall found looks in a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem.cli import belief_views, views
from graphmem.model import AnyBite, BeliefBite, MemoryBite, OtherValue, Recollection, Status


def recollection(found: Recollection) -> RenderableType:
    """Return what recall found, best first, each with its reasons."""
    if not found.bites:
        return Text(f"Nothing: {found.reason}.", style="dim")
    return Group(*(_bite(place, bite) for place, bite in enumerate(found.bites, 1)))


def _bite(place: int, bite: AnyBite) -> Text:
    line = Text(f"{place:>2} ")
    match bite:
        case MemoryBite():
            notes = _memory(line, bite)
        case BeliefBite():
            notes = _belief(line, bite)
        case _:
            notes = []
            line.append("» ", style="blue")
            line.append(f"{bite.turn.name or bite.turn.role}: ", style="bold")
            line.append(f"{bite.text}   ").append(views.day(bite.turn.occurred_at), style="dim")
    line.append(f"\n     {'   '.join(_score(bite))}", style="dim")
    for note in notes:
        line.append(f"\n     {note}", style="yellow")
    return line


def _memory(line: Text, bite: MemoryBite) -> list[str]:
    mark, colour = views.MARKS[bite.memory.status]
    line.append(f"{mark} ", style=colour).append(f"{bite.text}   ", style="default")
    line.append(views.seen(bite.memory), style="dim")
    notes = []
    if bite.memory.head_ids:
        notes.append(f"now: {', '.join(bite.memory.head_ids)}")
    if bite.memory.lost_ids:
        notes.append(f"no longer believed of what it says: {', '.join(bite.memory.lost_ids)}")
    return notes


def _belief(line: Text, bite: BeliefBite) -> list[str]:
    found = bite.belief
    mark, colour = ("○", "yellow") if bite.lost else ("●", "green")
    line.append(f"{mark} ", style=colour).append(f"{bite.text}   ", style="default")
    line.append(f"{belief_views.number(found.belief)}  ")
    line.append_text(belief_views.verdict(found.verdict))
    episodes = belief_views.counted(found.supporting_episodes, "episode")
    newest = f", newest {views.day(bite.last_at)}" if bite.last_at else ""
    line.append(f"   {episodes} for{newest}", style="dim")
    notes = [_other(other, bite) for other in bite.others]
    if bite.ambiguous:
        notes.append("too close to call")
    if found.vitality and found.vitality.flagged_at:
        notes.append(f"flagged since {views.day(found.vitality.flagged_at)}")
    if found.status == Status.ARCHIVED:
        notes.append(f"archived: graphmem belief restore {found.id}")
    if bite.head_ids:
        notes.append(f"now: {', '.join(bite.head_ids)}")
    return notes


def _other(other: OtherValue, than: BeliefBite) -> str:
    word, when = ("was", "last said") if than.came_after(other) else ("also said:", "newest")
    said = f"{word} {other.object}, {when} {views.day(other.last_at)}"
    return f"{said}   {belief_views.number(other.belief)}   why: graphmem why {other.belief_id}"


def _score(bite: AnyBite) -> list[str]:
    parts = [bite.id, f"score {bite.score:.3f}"]
    if bite.similarity is not None:
        parts.append(f"meaning {bite.similarity:.2f} (#{bite.vector_rank})")
    if bite.bm25 is not None:
        parts.append(f"words {bite.bm25:.1f} (#{bite.bm25_rank})")
    if isinstance(bite, MemoryBite):
        parts.append(f"trace {bite.trace:.2f}")
    return parts
