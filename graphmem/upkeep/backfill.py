"""Synthetic events for memories and SUPERSEDES edges that were stored without events."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from graphmem.model import EventType, Status
from graphmem.rules import identity, rejections
from graphmem.rules.read_options import BEGINNING

SOURCE = "backfill"
"""Source of every synthetic event."""
MAX_EVENTS = 1_000
"""Maximum number of events created for the count of one memory."""
TICK = timedelta(microseconds=1)

Problem = tuple[str, str]
"""Description of a problem, and its remedy."""

_NO_TIME = "{0} is not a datetime with a time zone, or is in the future"
_TIME_HINT = "SET m.{0} = datetime(m.{0}), or REMOVE m.{0} if it is unknown."
PROBLEMS: dict[str, Problem] = {
    "id": ("id is missing or not a string", "SET m.id = randomUUID(), or an id of your own."),
    "scope": (
        "scope is missing or not a name of at most 200 characters",
        "SET m.scope = 'global', or the name of the project or user.",
    ),
    "content": ("content is missing or not a string", "SET m.content to its text, or delete it."),
    "blank": ("content is blank", "SET m.content to its text, or delete it."),
    "long": (
        "content is longer than this store accepts",
        "Shorten it, or set GRAPHMEM_MAX_CONTENT_CHARS.",
    ),
    "tags": ("tags is not a list of strings", "SET m.tags to a list of strings, or REMOVE m.tags."),
    "status": (
        "status is not current, superseded or deprecated",
        "SET m.status to one of them, or REMOVE m.status.",
    ),
    "unreplaced": (
        "status is superseded, but no SUPERSEDES edge leads to it",
        "Create the edge from the memory that replaced it, or SET m.status = 'deprecated'.",
    ),
    "reinforce_count": (
        "reinforce_count is not an integer of 0 or more",
        "SET m.reinforce_count = toInteger(m.reinforce_count), or REMOVE m.reinforce_count.",
    ),
    "order": ("last_seen_at is before created_at", "SET or REMOVE the one that is wrong."),
    **{
        name: (_NO_TIME.format(name), _TIME_HINT.format(name))
        for name in ("created_at", "recorded_at", "last_seen_at")
    },
}
"""Reasons why a memory is left unchanged."""
EDGE_PROBLEMS: dict[str, Problem] = {
    "apart": (
        "it joins two scopes, but a memory can only be superseded within its scope",
        "Delete the edge, or give both memories one scope.",
    ),
    "undated": (
        _NO_TIME.format("occurred_at"),
        "SET s.occurred_at = datetime(s.occurred_at), or REMOVE s.occurred_at.",
    ),
    "ends": ("one of its memories was left unchanged", "See the problem of that memory."),
    "ring": ("it is part of a cycle, or leads to one", "Delete the wrong edge of the cycle."),
}
"""Reasons why a SUPERSEDES edge is left unchanged."""


@dataclass(frozen=True, slots=True)
class UnbackedMemory:
    """Memory that lacks an event or a required property; see cache/backfill_find."""

    id: str
    wrong: Sequence[str] = ()
    """Keys of PROBLEMS found by the query; if there are any, the other fields are not set."""
    scope: str = ""
    content: str = ""
    tags: Sequence[str] | None = None
    status: str | None = None
    created_at: datetime | None = None
    recorded_at: datetime | None = None
    last_seen_at: datetime | None = None
    reinforce_count: int | None = None
    stated: bool = False
    """Whether it has an event of its own scope."""
    embedded: bool = False
    """Whether it has an embedding of the graph's dimension."""
    replaced: bool = False
    """Whether a SUPERSEDES edge leads to it."""
    marked: bool = False
    """Whether it has events of deprecation or restoration."""

    def problems(self, most_chars: int) -> list[str]:
        """Return the keys of PROBLEMS that prevent its repair."""
        if self.wrong:
            return list(self.wrong)
        last, first = self.last_seen_at, self.created_at
        checks = {
            "blank": not identity.normalise(self.content),
            "long": len(self.content) > most_chars,
            "unreplaced": self.status == Status.SUPERSEDED and not (self.replaced or self.stated),
            "order": last is not None and first is not None and last < first,
        }
        return [key for key, is_so in checks.items() if is_so]

    @property
    def is_capped(self) -> bool:
        """Whether its reinforcement count exceeds the maximum number of events."""
        return (self.reinforce_count or 0) > MAX_EVENTS


@dataclass(frozen=True, slots=True)
class UnbackedEdge:
    """A SUPERSEDES edge without an event; see cache/backfill_edges."""

    newer_id: str | None
    older_id: str
    scope: str | None
    dated: bool
    """Whether `occurred_at` is absent or valid."""
    at: datetime | None
    """The edge's `occurred_at`; else the time at which the newer memory began; None if unknown."""
    back_at: datetime | None
    """Time of the newest synthetic event of the older memory: an addition or a supersession."""
    apart: bool
    """Whether it joins two scopes."""
    whole: bool
    """Whether both its memories have an event of their own scope."""

    @property
    def problem(self) -> str | None:
        """Key of the entry in EDGE_PROBLEMS that prevents an event; None without a problem."""
        if not self.whole:
            return "ends"
        if self.apart:
            return "apart"
        return None if self.dated else "undated"


@dataclass(slots=True)
class _EdgeDating:
    """Progress of dating the edges that leave one memory."""

    back_at: datetime = BEGINNING
    undated: int = 0
    onto: list[UnbackedEdge] = field(default_factory=list)


def event_id(*key: str) -> str:
    """Return the id of the synthetic event with this key; the same key gives the same id."""
    return f"{SOURCE}_{identity.digest(SOURCE, *key)[:32]}"


def spaced_times(first: datetime, last: datetime, count: int) -> list[datetime]:
    """Return `count` timestamps after `first` up to and including `last`.

    They are evenly spaced, since only the ends are known. If both ends are the same timestamp, for
    lack of a last_seen_at, all fall on it. The count is then right, the burst adds at most a ninth
    to the trace, and the memory does not look more recent than is known.
    """
    width = (last - first) // TICK
    return [first + TICK * (width * n // count) for n in range(1, count + 1)]


def memory_row(memory: UnbackedMemory, tenant: str, now: datetime) -> dict[str, Any]:
    """Return the row, except its embedding, that repairs a memory without problems.

    Values derived from tenant, scope and content are always recomputed. Other values are kept, and
    only filled in if they are missing.
    """
    times = [at for at in (memory.last_seen_at, memory.recorded_at) if at is not None]
    first = memory.created_at or min(times, default=now)
    return {
        "id": memory.id,
        "scope_key": identity.scope_key(tenant, memory.scope),
        "content_hash": identity.content_hash(memory.content),
        "value_key": rejections.text_key(tenant, memory.content),
        "tags": list(memory.tags or ()),
        "status": memory.status or Status.CURRENT,
        # If it has events, the earliest of them decides.
        "created_at": memory.created_at if memory.stated else first,
        "recorded_at": memory.recorded_at,
        "events": [] if memory.stated else _synthetic_events(memory, tenant, first, now),
    }


def _synthetic_events(
    memory: UnbackedMemory, tenant: str, first: datetime, now: datetime
) -> list[dict[str, Any]]:
    count = memory.reinforce_count or 0
    again = spaced_times(first, memory.last_seen_at or first, min(count, MAX_EVENTS))
    counted = {"reinforce_count": count} if count else {}
    entries = [
        (first, EventType.ADD, counted),
        *((at, EventType.REINFORCE_EXACT, {}) for at in again),
    ]
    if memory.status == Status.DEPRECATED and not memory.marked:
        # The time of deprecation is unknown; `now` is true, and orders it after the other events.
        entries.append((max(now, entries[-1][0] + TICK), EventType.DEPRECATE, {}))
    return [
        _event(event_id(tenant, memory.id, kind, str(n)), kind, memory.scope, at, payload)
        | {"content_hash": identity.content_hash(memory.content)}
        for n, (at, kind, payload) in enumerate(entries)
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
    """Return the row that adds an event to a dated edge, for cache/backfill_supersede."""
    ends = {"newer_id": str(edge.newer_id), "older_id": edge.older_id}
    name = event_id(tenant, EventType.SUPERSEDE, *ends.values())
    event = _event(
        name, EventType.SUPERSEDE, str(edge.scope), edge.at or BEGINNING, {**ends, "event_id": name}
    )
    return {**ends, "event": event}


def dated_edges(edges: Sequence[UnbackedEdge]) -> tuple[list[UnbackedEdge], list[UnbackedEdge]]:
    """Return the edges with the timestamps of their events, and the edges that cannot be dated.

    An edge without an event is in force now. Its event must therefore follow every synthetic event
    of its older memory, by a microsecond if nothing else is known. Superseding restores the newer
    memory, so the edges of a chain are dated and returned from its oldest end. Edges on a cycle, or
    above one, cannot be dated.
    """
    memories: dict[str, _EdgeDating] = defaultdict(_EdgeDating)
    for edge in edges:
        older = memories[edge.older_id]
        older.onto.append(edge)
        older.back_at = max(older.back_at, edge.back_at or BEGINNING)
        memories[str(edge.newer_id)].undated += 1
    ready = deque(memory for memory in memories.values() if not memory.undated)
    done: list[UnbackedEdge] = []
    while ready:
        older = ready.popleft()
        for edge in older.onto:
            at = max(edge.at or BEGINNING, older.back_at + TICK)
            done.append(replace(edge, at=at))
            newer = memories[str(edge.newer_id)]
            newer.back_at = max(newer.back_at, at)
            newer.undated -= 1
            if not newer.undated:
                ready.append(newer)
    placed = {(edge.newer_id, edge.older_id) for edge in done}
    return done, [edge for edge in edges if (edge.newer_id, edge.older_id) not in placed]
