"""What memories that came without events should have had, as synthetic events."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from graphmem.model import EventType, Status
from graphmem.rules import identity
from graphmem.rules.read_options import BEGINNING

SOURCE = "backfill"
"""Of every synthetic event."""
MOST = 1_000
"""Events that the count of one memory is worth at most."""
TICK = timedelta(microseconds=1)

Problem = tuple[str, str]
"""What is wrong, and what to do."""

_NO_INSTANT = "{0} is no datetime with a time zone, or lies in the future"
_INSTANT_HINT = "SET m.{0} = datetime(m.{0}), or REMOVE m.{0} when it is not known."
PROBLEMS: dict[str, Problem] = {
    "id": ("no id that is a text", "SET m.id = randomUUID(), or an id of your own."),
    "scope": (
        "no scope that is a name of at most 200 characters",
        "SET m.scope = 'global', or the project's or user's name.",
    ),
    "content": ("no content that is a text", "SET m.content to what it says, or delete it."),
    "blank": ("the content is blank", "SET m.content to what it says, or delete it."),
    "long": (
        "the content is longer than this store takes",
        "Shorten it, or set GRAPHMEM_MAX_CONTENT_CHARS.",
    ),
    "tags": ("tags are no list of texts", "SET m.tags to a list of texts, or REMOVE m.tags."),
    "status": (
        "status is none of current, superseded and deprecated",
        "SET m.status to one of them, or REMOVE m.status.",
    ),
    "unreplaced": (
        "status is superseded, and no SUPERSEDES edge says by what",
        "Draw the edge from what replaced it, or SET m.status = 'deprecated'.",
    ),
    "reinforce_count": (
        "reinforce_count is no whole number of 0 or more",
        "SET m.reinforce_count = toInteger(m.reinforce_count), or REMOVE m.reinforce_count.",
    ),
    "order": ("last_seen_at lies before created_at", "SET or REMOVE the one that is wrong."),
    **{
        name: (_NO_INSTANT.format(name), _INSTANT_HINT.format(name))
        for name in ("created_at", "recorded_at", "last_seen_at")
    },
}
"""Why a memory is left as it is."""
EDGE_PROBLEMS: dict[str, Problem] = {
    "apart": (
        "it joins two scopes, and a memory is superseded within its own",
        "Delete the edge, or give both memories one scope.",
    ),
    "undated": (
        _NO_INSTANT.format("occurred_at"),
        "SET s.occurred_at = datetime(s.occurred_at), or REMOVE s.occurred_at.",
    ),
    "ends": ("one of its memories was left as it is", "See what that memory lacks."),
    "ring": ("it lies on a ring, or leads to one", "Delete the edge of the ring that is wrong."),
}
"""Why a SUPERSEDES edge is left as it is."""


@dataclass(frozen=True, slots=True)
class UnbackedMemory:
    """A memory that wants an event, or something that every memory has; see cache/backfill_look."""

    id: str
    wrong: Sequence[str] = ()
    """Keys of PROBLEMS that the graph knows of; then nothing else is told."""
    scope: str = ""
    content: str = ""
    tags: Sequence[str] | None = None
    status: str | None = None
    created_at: datetime | None = None
    recorded_at: datetime | None = None
    last_seen_at: datetime | None = None
    reinforce_count: int | None = None
    stated: bool = False
    """It has an event of its own scope."""
    embedded: bool = False
    """It has an embedding of the graph's dimension."""
    replaced: bool = False
    """A SUPERSEDES edge leads to it."""
    marked: bool = False
    """Events of deprecation or restoration are about it."""

    def problems(self, most_chars: int) -> list[str]:
        """Return the keys of PROBLEMS that keep it from being made whole."""
        if self.wrong:
            return list(self.wrong)
        last, first = self.last_seen_at, self.created_at
        asked = {
            "blank": not identity.normalised(self.content),
            "long": len(self.content) > most_chars,
            "unreplaced": self.status == Status.SUPERSEDED and not (self.replaced or self.stated),
            "order": last is not None and first is not None and last < first,
        }
        return [key for key, is_so in asked.items() if is_so]

    @property
    def is_capped(self) -> bool:
        """Whether it is said to have been reinforced more often than events are made for."""
        return (self.reinforce_count or 0) > MOST


@dataclass(frozen=True, slots=True)
class UnbackedEdge:
    """A SUPERSEDES edge that lacks its event; see cache/backfill_edges."""

    newer_id: str | None
    older_id: str
    scope: str | None
    dated: bool
    """It says when it came about, or nothing about that."""
    at: datetime | None
    """When it came about as far as is known: what it says itself, else when the newer began."""
    back_at: datetime | None
    """The newest that a backfill said of the older one: a statement, or that it superseded."""
    apart: bool
    """It joins two scopes."""
    whole: bool
    """Both its memories have an event of their own scope."""

    @property
    def problem(self) -> str | None:
        """The key of EDGE_PROBLEMS that keeps it from being given an event."""
        if not self.whole:
            return "ends"
        if self.apart:
            return "apart"
        return None if self.dated else "undated"


@dataclass(slots=True)
class _Reached:
    """How far the edges that leave one memory have been dated."""

    back_at: datetime = BEGINNING
    undated: int = 0
    onto: list[UnbackedEdge] = field(default_factory=list)


def event_id(*key: str) -> str:
    """Return the id of the synthetic event with this key; the same whenever it is asked for."""
    return f"{SOURCE}_{identity.digest(SOURCE, *key)[:32]}"


def spread(first: datetime, last: datetime, count: int) -> list[datetime]:
    """Return `count` instants from after `first` up to `last`, which is the last of them.

    Evenly, since only the ends are known. Where both are the same instant, for want of a
    last_seen_at, all lie there: that counts as often said, adds at most a ninth to the trace as
    any burst does, and makes nothing look more recent than it is known to be.
    """
    width = (last - first) // TICK
    return [first + TICK * (width * n // count) for n in range(1, count + 1)]


def memory_row(found: UnbackedMemory, tenant: str, now: datetime) -> dict[str, Any]:
    """Return what makes a memory whole, for cache/backfill_write; its embedding not included.

    What follows from tenant, scope and content is made from them, whatever stands there. The rest
    is kept, and filled in only where it lacks.

    Args:
        found: a memory without problems.
        tenant: whose.
        now: by the caller's clock.
    """
    known = [at for at in (found.last_seen_at, found.recorded_at) if at is not None]
    first = found.created_at or min(known, default=now)
    return {
        "id": found.id,
        "scope_key": identity.scope_key(tenant, found.scope),
        "content_hash": identity.content_hash(found.content),
        "tags": list(found.tags or ()),
        "status": found.status or Status.CURRENT,
        # That of one that has events is the earliest of them.
        "created_at": found.created_at if found.stated else first,
        "recorded_at": found.recorded_at,
        "events": [] if found.stated else _events(found, tenant, first, now),
    }


def _events(
    found: UnbackedMemory, tenant: str, first: datetime, now: datetime
) -> list[dict[str, Any]]:
    count = found.reinforce_count or 0
    again = spread(first, found.last_seen_at or first, min(count, MOST))
    told = {"reinforce_count": count} if count else {}
    sayings = [(first, EventType.ADD, told), *((at, EventType.REINFORCE_EXACT, {}) for at in again)]
    if found.status == Status.DEPRECATED and not found.marked:
        # Since when is not known. As of now it is true, and it outranks what was said before.
        sayings.append((max(now, sayings[-1][0] + TICK), EventType.DEPRECATE, {}))
    return [
        _event(event_id(tenant, found.id, kind, str(n)), kind, found.scope, at, payload)
        | {"content_hash": identity.content_hash(found.content)}
        for n, (at, kind, payload) in enumerate(sayings)
    ]


def _event(
    name: str, kind: EventType, scope: str, at: datetime, payload: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": name,
        "type": kind,
        "scope": scope,
        "occurred_at": at,
        "source": SOURCE,
        "payload": json.dumps({"synthetic": True, **payload}, ensure_ascii=False),
    }


def edge_row(edge: UnbackedEdge, tenant: str) -> dict[str, Any]:
    """Return what gives a dated edge its event, for cache/backfill_supersede."""
    ends = {"newer_id": str(edge.newer_id), "older_id": edge.older_id}
    name = event_id(tenant, EventType.SUPERSEDE, *ends.values())
    event = _event(
        name, EventType.SUPERSEDE, str(edge.scope), edge.at or BEGINNING, {**ends, "event_id": name}
    )
    return {**ends, "event": event}


def dated(edges: Sequence[UnbackedEdge]) -> tuple[list[UnbackedEdge], list[UnbackedEdge]]:
    """Return edges with the instants at which they are in force, and those of which none can be.

    What an edge without an event says is so now: so it comes after everything that a backfill
    says of its older memory, by a microsecond where nothing else is known. Superseding brings
    the newer memory back, so that the edges of a chain are dated from its oldest end, and come in
    that order; those on a ring, or above one, never have their turn.
    """
    places: dict[str, _Reached] = defaultdict(_Reached)
    for edge in edges:
        older = places[edge.older_id]
        older.onto.append(edge)
        older.back_at = max(older.back_at, edge.back_at or BEGINNING)
        places[str(edge.newer_id)].undated += 1
    ready = deque(place for place in places.values() if not place.undated)
    done: list[UnbackedEdge] = []
    while ready:
        older = ready.popleft()
        for edge in older.onto:
            at = max(edge.at or BEGINNING, older.back_at + TICK)
            done.append(replace(edge, at=at))
            newer = places[str(edge.newer_id)]
            newer.back_at = max(newer.back_at, at)
            newer.undated -= 1
            if not newer.undated:
                ready.append(newer)
    told = {(edge.newer_id, edge.older_id) for edge in done}
    return done, [edge for edge in edges if (edge.newer_id, edge.older_id) not in told]
