"""Reconstruction of memories at any pair of times, from their events alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem.model import Status
from tests.oracles import lineage
from tests.oracles.lineage import Effect
from tests.plugins.graph import Look

STATEMENTS = ("ADD", "IMPORT", "REINFORCE_EXACT")
STATUS = {"DEPRECATE": Status.DEPRECATED, "SUPERSEDE": Status.SUPERSEDED}


@dataclass(frozen=True)
class Moment:
    """A pair of times."""

    valid: datetime
    known: datetime

    def sees(self, event: dict[str, Any]) -> bool:
        """Return whether an event is visible at that moment."""
        return bool(event["at"] <= self.valid and event["recorded_at"] <= self.known)


@dataclass
class Told:
    """One memory and its events."""

    id: str
    scope: str
    events: list[dict[str, Any]] = field(default_factory=list)

    def effects(self) -> list[Effect]:
        """Return the effects of the events on the memory."""
        return [self._effect(e) for e in self.events if self._matters(e)]

    def _matters(self, event: dict[str, Any]) -> bool:
        if event["edge"] == "CONCERNS":
            return True
        return event["type"] in STATEMENTS and event["scope"] == self.scope

    def _effect(self, event: dict[str, Any]) -> Effect:
        status = STATUS.get(event["type"], Status.CURRENT)
        if status is Status.SUPERSEDED and event["payload"]["older_id"] != self.id:
            status = Status.CURRENT
        return Effect(
            occurred_at=event["at"],
            event_id=event["id"],
            status=status,
            is_statement=event["edge"] == "REINFORCES",
            recorded_at=event["recorded_at"],
        )

    def said(self, moment: Moment, scopes: set[str]) -> list[datetime]:
        """Return the visible times at which it was stated; empty if it did not exist."""
        statements = [e for e in self.events if e["edge"] == "REINFORCES" and moment.sees(e)]
        if not any(e["scope"] == self.scope for e in statements):
            return []
        return sorted(e["at"] for e in statements if e["scope"] in scopes)

    def created_at(self, moment: Moment) -> datetime:
        """Return the first visible time at which its own scope stated it."""
        return self.said(moment, {self.scope})[0]

    def seen(self, moment: Moment) -> list[Effect]:
        """Return the visible effects."""
        return lineage.seen(self.effects(), moment.valid, moment.known)

    def replacements(self, moment: Moment) -> dict[str, tuple[str, bool]]:
        """Return event id, newer memory and whether in force, of the visible supersessions."""
        newer = {e["id"]: e["payload"].get("newer_id") for e in self.events}
        effects = self.seen(moment)
        return {
            e.event_id: (newer[e.event_id], lineage.in_force(e, effects))
            for e in effects
            if e.status is Status.SUPERSEDED
        }


def told(look: Look, tenant: str) -> dict[str, Told]:
    """Return every memory of a tenant by its id, with its events."""
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL "
        "MATCH (e)-[r:REINFORCES|CONCERNS]->(m:Memory) "
        "RETURN m.id AS memory, m.scope AS own, type(r) AS edge, e.id AS id, e.type AS type, "
        "  e.scope AS scope, e.occurred_at AS at, e.recorded_at AS recorded_at, "
        "  e.payload AS payload",
        tenant=tenant,
    )
    memories: dict[str, Told] = {}
    for row in rows:
        event = row | {
            "at": row["at"].to_native(),
            "recorded_at": row["recorded_at"].to_native(),
            "payload": json.loads(row["payload"]),
        }
        memories.setdefault(row["memory"], Told(row["memory"], row["own"])).events.append(event)
    return memories


def heads(memories: dict[str, Told], memory_id: str, moment: Moment) -> tuple[str, ...]:
    """Return the ends of a superseded memory's chain; empty if it is not superseded."""
    if lineage.status_of(memories[memory_id].seen(moment)) is not Status.SUPERSEDED:
        return ()
    ends: set[str] = set()
    seen: set[str] = set()
    ahead = [memory_id]
    while ahead:
        here = ahead.pop()
        if here not in seen:
            seen.add(here)
            links = memories[here].replacements(moment).values()
            further = [newer for newer, in_force in links if in_force]
            ahead += further
            ends |= set() if further else {here}
    return tuple(sorted(ends))


def cards(
    memories: dict[str, Told], scopes: set[str], moment: Moment
) -> dict[str, dict[str, object]]:
    """Return the memories that a reader of these scopes sees at a moment, by id."""
    return {
        memory.id: {
            "status": lineage.status_of(memory.seen(moment)),
            "created_at": memory.created_at(moment),
            "last_seen_at": memory.said(moment, scopes)[-1],
            "reinforce_count": len(memory.said(moment, scopes)) - 1,
            "head_ids": heads(memories, memory.id, moment),
        }
        for memory in memories.values()
        if memory.scope in scopes and memory.said(moment, scopes)
    }


def chain_ids(
    memories: dict[str, Told], memory_id: str, scopes: set[str], moment: Moment
) -> set[str]:
    """Return the existing memories linked to one in either direction, by visible events."""
    pairs = [
        (memory.id, newer)
        for memory in memories.values()
        for newer, _ in memory.replacements(moment).values()
    ]
    linked: set[str] = set()
    ahead = {memory_id}
    while ahead:
        linked |= ahead
        ahead = {b for a, b in pairs if a in ahead} | {a for a, b in pairs if b in ahead}
        ahead -= linked
    return {m for m in linked if m in cards(memories, scopes, moment)}
