"""Pages that read: each gathers with a few calls of the client what its template shows."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any, TypeAlias

from graphmem.client.recall_verbs import event_of, replayed
from graphmem.errors import NotFoundError
from graphmem.explorer import pictures, status
from graphmem.explorer.reader import RANKED, Asked, Reader
from graphmem.model import (
    AsOf,
    BeliefEvent,
    BeliefReasons,
    Candidate,
    Cardinality,
    MemoryEvent,
    MemoryReasons,
    Provenance,
    Recollection,
    Slot,
    SlotPage,
    Timeline,
    Trail,
)
from graphmem.model.recall import AnyBite, BeliefBite
from graphmem.operations.belief import SlotLimits, slot_page
from graphmem.rules.read_options import ReadOptions

Values: TypeAlias = dict[str, Any]
Page: TypeAlias = Callable[[Reader, Asked], Awaitable[tuple[str, Values]]]
"""Function that returns the name of a template and what it shows."""
SLOTS = 40
NEW = 8
WAITING = 50
STALE = 3
WIDE = 40
"""Number of results among which those are that a search leaves out."""
CANDIDATES = 100
QUOTED = 3
"""Number of values of a slot with their quoted words."""
PIECES = 50
EVENTS = 50
TURNS = 100
CARDS = 5
"""Number of items of an event that are shown."""
MOST = 1_000
"""Number of events of an item among which one is looked for."""
NOW = AsOf()
POINTS = 60
NO_COURSE = Timeline(subject=None, predicate=None, series=(), instants=(), provisional=False)


async def home(reader: Reader, asked: Asked) -> tuple[str, Values]:
    """Show what is known by subject, what needs review and what is new."""
    reader.need("read")
    seen = reader.reads
    slots, waiting, stale, memories, beliefs = await gather(
        _slots(reader, None, asked, SlotLimits(SLOTS, 2, RANKED)),
        seen.proposals.list(limit=WAITING),
        seen.memories.stale(limit=STALE),
        seen.memories.list(limit=NEW),
        seen.beliefs.list(limit=NEW),
    )
    return "home", {
        "subjects": _by_subject(slots.slots),
        "next_cursor": slots.next_cursor,
        "waiting": len(waiting.proposals) + len(waiting.updates) + len(waiting.retractions),
        "more_waiting": waiting.next_cursor is not None,
        "disputed": [slot for slot in slots.slots if slot.ambiguous],
        "stale": stale.memories,
        "memories": memories.memories,
        "due": [one for one in beliefs.beliefs if one.verdict.revise_due],
        "empty": not (slots.slots or memories.memories or beliefs.beliefs),
        "first": not asked.text("cursor"),
    }


async def subject(reader: Reader, asked: Asked) -> tuple[str, Values]:
    """Show all slots of a subject."""
    reader.need("read")
    name = asked.text("name")
    found = await _slots(reader, name or None, asked, SlotLimits(CANDIDATES, 3, RANKED))
    return "subject", {
        "name": name,
        "subjects": _by_subject(found.slots),
        "next_cursor": found.next_cursor,
    }


async def _slots(reader: Reader, subject: str | None, asked: Asked, limits: SlotLimits) -> SlotPage:
    """Return a page of slots; those of very many values are only counted."""
    return await slot_page(
        reader.handle._state.context,
        ReadOptions(asked.as_of),
        subject,
        limits,
        cursor=asked.text("cursor") or None,
    )


def _by_subject(slots: tuple[Slot, ...]) -> list[tuple[str, list[tuple[Slot, list[Any]]]]]:
    return [
        (name, [(slot, [*standings(slot)]) for slot in own])
        for name, own in groupby(slots, key=lambda slot: slot.subject)
    ]


def standings(slot: Slot) -> Iterator[tuple[Candidate, status.Standing]]:
    """Yield the values of a slot, each with its standing."""
    for one in slot.candidates:
        yield one, status.of_candidate(one, slot)


async def search(reader: Reader, asked: Asked) -> tuple[str, Values]:
    """Show what an agent would get for a question, why, and what was left out."""
    reader.need("read")
    question = asked.text("q")
    if not question:
        return "search", {"question": "", "found": None, "shown": [], "left_out": [], "block": None}
    seen, at = reader.reads, asked.as_of
    when = None if at == NOW else at
    done, wide = await gather(
        replayed(seen, question, when),
        seen.recall(question, as_of=when, limit=WIDE, include_hidden=True),
    )
    found = done.found
    chosen = {bite.id for bite in found.bites}
    highest = max((bite.parts.relevance for bite in wide.bites), default=1.0)
    return "search", {
        "question": question,
        "asked": asked,
        "found": found,
        "shown": results(found.bites, highest),
        "left_out": [
            (*_result(bite, highest), _why_not(bite, found, wide))
            for bite in wide.bites
            if bite.id not in chosen
        ],
        "block": done.block,
    }


def results(
    bites: Sequence[AnyBite], highest: float | None = None
) -> list[tuple[AnyBite, status.Standing, list[pictures.Part]]]:
    """Return recalled items, each with its standing and the parts of its score.

    Args:
        bites: the items.
        highest: score that fills a whole bar; None: the highest of them.
    """
    if highest is None:
        highest = max((bite.parts.relevance for bite in bites), default=1.0)
    return [_result(bite, highest) for bite in bites]


def _result(bite: AnyBite, highest: float) -> tuple[AnyBite, status.Standing, list[pictures.Part]]:
    return bite, status.of_bite(bite), pictures.parts(bite.parts, highest)


def _why_not(bite: AnyBite, found: Recollection, wide: Recollection) -> str:
    """Return why an item is not among the results of a question."""
    standing = status.of_bite(bite)
    if standing == "rejected":
        return "a person rejected it"
    if isinstance(bite, BeliefBite) and bite.lost:
        return "another value leads its slot, or it was replaced"
    if standing == "outdated":
        return "a newer version is among the results, or it was replaced"
    if any(bite.id in other.covers for other in (*found.bites, *wide.bites)):
        return "another result states the same"
    if not found.bites:
        return found.reason or "nothing is close enough to the question"
    least = min(other.score for other in found.bites)
    if bite.score < least:
        return f"its score is below {least:.2f}, that of the last result: probably noise"
    return "the results end before it"


async def slot(reader: Reader, asked: Asked) -> tuple[str, Values]:
    """Show the values of a slot with their words, and how they changed."""
    reader.need("read")
    name, predicate, at = asked.text("subject"), asked.text("predicate"), asked.as_of
    seen = reader.reads
    found = await seen.current(name, predicate, limit=CANDIDATES, as_of=at)
    course = NO_COURSE
    if found.total <= CANDIDATES:
        # Each point reads all values.
        known = AsOf(known=at.known)
        course = await seen.beliefs.timeline(name, predicate, points=POINTS, top=5, as_of=known)
    quoted = [one.belief_id for one in found.candidates[:QUOTED]]
    sources = await gather(
        *(seen.beliefs.provenance(one, limit=PIECES, as_of=at) for one in quoted)
    )
    return "slot", {
        "slot": found,
        "drawn": found.total <= CANDIDATES,
        "one": found.cardinality is Cardinality.ONE,
        "values": [*standings(found)],
        "words": {one.belief.id: [*_quoted(one)] for one in sources},
        **_over_time(course, asked),
    }


def _quoted(found: Provenance) -> Iterator[tuple[str, BeliefEvent]]:
    """Yield the newest words that are evidence, at most two, with their events."""
    turns = {turn.id: turn.text for turn in found.turns}
    words = (
        (str(event.payload.get("quote") or turns.get(event.turn_id or "", "")), event)
        for event in reversed(found.events)
    )
    yield from islice((pair for pair in words if pair[0]), 2)


def _over_time(course: Timeline, asked: Asked) -> Values:
    at, now = asked.as_of, datetime.now(UTC)
    first = course.instants[0] if course.instants else now
    return {
        "picture": pictures.timeline(course, at.valid),
        "course": course,
        "first_day": f"{first:%Y-%m-%d}",
        "today": f"{now:%Y-%m-%d}",
        "valid_day": asked.text("valid")[:10],
        "known_day": asked.text("known")[:10],
        "past": at != NOW,
    }


async def item(reader: Reader, asked: Asked) -> tuple[str, Values]:
    """Show an item by its id: a belief, a memory, an episode or a turn."""
    reader.need("read")
    item_id = asked.text("id")
    if item_id.startswith("ep_"):
        return await _episode(reader, item_id)
    if item_id.startswith("t_"):
        return "turn", {"card": await reader.reads.expand(item_id)}
    try:
        found = await reader.reads.why(
            item_id, limit=PIECES, cursor=asked.text("cursor") or None, as_of=asked.as_of
        )
    except NotFoundError:
        return await _other(reader, item_id)
    if isinstance(found, MemoryReasons):
        return await _memory(reader, found)
    return await _belief(reader, asked, found)


async def _belief(reader: Reader, asked: Asked, found: BeliefReasons) -> tuple[str, Values]:
    seen, at = reader.reads, asked.as_of
    result = found.competition
    events = await seen.beliefs.history(found.belief.id, limit=EVENTS, as_of=at)
    course = NO_COURSE
    if result is None or result.of <= CANDIDATES:
        course = await seen.beliefs.timeline(
            found.belief.id, points=POINTS, as_of=AsOf(known=at.known)
        )
    supposed = await _supposed(reader, asked, found)
    return "belief", {
        "why": found,
        "belief": found.belief,
        "standing": status.of_reasons(found),
        "bars": pictures.bars(found),
        "events": events,
        "supposed": supposed,
        **_over_time(course, asked),
    }


async def _supposed(reader: Reader, asked: Asked, found: BeliefReasons) -> Trail | None:
    """Return the test of a belief with the evidence that the reader supposes; None if none."""
    kind, without, strength = (asked.text(name) for name in ("suppose", "without", "strength"))
    if not (kind or without):
        return None
    more = [{"kind": kind, "strength": strength or "0.8"}] if kind else []
    return await reader.reads.beliefs.what_if(
        found.belief.id, more, without=[without] if without else (), as_of=asked.as_of
    )


async def _memory(reader: Reader, found: MemoryReasons) -> tuple[str, Values]:
    card = await reader.reads.expand(found.memory.id)
    return "memory", {
        "why": found,
        "memory": found.memory,
        "card": card,
        "standing": status.of_status(found.memory.status),
        "claims": [(one, status.of_belief(one)) for one in card.claims],
        "of_status": status.of_status,
    }


async def _episode(reader: Reader, episode_id: str) -> tuple[str, Values]:
    seen = reader.reads
    episode, turns, events = await gather(
        seen.episodes.get(episode_id),
        seen.episodes.turns(episode_id, limit=TURNS),
        seen.history(episode_id, limit=EVENTS),
    )
    return "episode", {"episode": episode, "turns": turns, "events": events}


async def _other(reader: Reader, item_id: str) -> tuple[str, Values]:
    """Show an item or an event whose id does not tell its kind."""
    found = await event_of(reader.reads, item_id)
    if found is not None:
        return await _event(reader, *found)
    card = await reader.reads.expand(item_id)
    if type(card.item).__name__ == "Episode":
        return await _episode(reader, card.item.id)
    return "turn", {"card": card}


async def _event(reader: Reader, event: MemoryEvent, about: list[str]) -> tuple[str, Values]:
    """Show an event with the items that it is about."""
    seen = reader.reads
    cards = await gather(*(seen.expand(one) for one in about[:CARDS]))
    events = await seen.history(about[0], limit=MOST) if about else ()
    # The history of a belief has more about its evidence.
    found = next((one for one in events if one.id == event.id), event)
    return "event", {"event": found, "items": [card.item for card in cards]}
