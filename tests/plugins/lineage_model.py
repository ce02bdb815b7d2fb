"""A model of memories after corrections, in plain dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model import Status
from graphmem.rules import identity

Step = tuple[datetime, int, str, Status]
"""Time, correction (1) or statement (0), event id, and the resulting status."""


@dataclass
class Kept:
    """One memory in the model."""

    id: str
    scope: str
    content: str
    created_at: datetime
    tags: set[str] = field(default_factory=set)
    said: list[tuple[str, datetime]] = field(default_factory=list)
    """Scope and time of each statement, including the first."""
    steps: list[Step] = field(default_factory=list)
    replaced_by: list[tuple[datetime, str, str]] = field(default_factory=list)
    """Time, event id and newer memory of each supersession."""

    @property
    def status(self) -> Status:
        """Status after the last step."""
        return sorted(self.steps)[-1][3]

    def in_force(self) -> Iterator[tuple[str, str]]:
        """Yield event id and newer memory of each supersession that no later step undid."""
        for at, event_id, newer in self.replaced_by:
            later = [step for step in self.steps if step[:3] > (at, 1, event_id)]
            if not any(step[3] is Status.CURRENT for step in later):
                yield event_id, newer


class Model:
    """All memories of one tenant."""

    def __init__(self) -> None:
        self.kept: dict[str, Kept] = {}

    def remember(
        self, scope: str, content: str, at: datetime, event_id: str, tags: Iterable[str]
    ) -> Kept:
        """State a text in a scope, which reads itself and `global`."""
        memory = self._exact(scope, content) or self._new(scope, content, at)
        hidden = bool(memory.steps) and memory.status is not Status.CURRENT
        heads = self.heads(memory) if hidden else ()
        corrected = max((step[0] for step in memory.steps if step[1]), default=at)
        self._state(memory, scope, at, event_id, tags)
        if hidden:
            memory.steps.append((at, 1, _restore_id(event_id), Status.CURRENT))
        for head in heads if at >= corrected else ():
            replaced = "supersede_" + identity.digest(event_id, head)[:32]
            memory.steps.append((at, 1, replaced, Status.CURRENT))
            self.kept[head].steps.append((at, 1, replaced, Status.SUPERSEDED))
            self.kept[head].replaced_by.append((at, replaced, memory.id))
        return memory

    def supersede(
        self, older: Kept, content: str, at: datetime, event_id: str, tags: Iterable[str]
    ) -> Kept:
        """Supersede a memory by a text in the same scope."""
        newer = self.kept.get(identity.memory_id(older.scope, content))
        newer = newer or self._new(older.scope, content, at)
        self._state(newer, older.scope, at, "", tags)
        newer.steps.append((at, 1, event_id, Status.CURRENT))
        older.steps.append((at, 1, event_id, Status.SUPERSEDED))
        older.replaced_by.append((at, event_id, newer.id))
        return newer

    def mark(self, memory: Kept, status: Status, at: datetime, event_id: str) -> None:
        """Deprecate or restore a memory."""
        memory.steps.append((at, 1, event_id, status))

    def heads(self, memory: Kept) -> tuple[str, ...]:
        """Return the ends of a superseded memory's chain."""
        if memory.status is not Status.SUPERSEDED:
            return ()
        ends: set[str] = set()
        seen: set[str] = set()
        ahead = [newer for _, newer in memory.in_force()]
        while ahead:
            here = ahead.pop()
            if here not in seen:
                seen.add(here)
                further = [newer for _, newer in self.kept[here].in_force()]
                ahead += further
                ends |= set() if further else {here}
        return tuple(sorted(ends))

    def edges(self) -> set[tuple[str, str, str, bool]]:
        """Return newer, older, event id and whether in force, of every supersession."""
        return {
            (newer, older.id, event_id, (event_id, newer) in set(older.in_force()))
            for older in self.kept.values()
            for _, event_id, newer in older.replaced_by
        }

    def seen(self, scopes: set[str]) -> dict[str, dict[str, object]]:
        """Return the memories that a reader of these scopes sees, by id."""
        return {
            memory.id: {
                "content": memory.content,
                "scope": memory.scope,
                "status": memory.status,
                "tags": tuple(sorted(memory.tags)),
                "created_at": memory.created_at,
                "last_seen_at": max(at for scope, at in memory.said if scope in scopes),
                "reinforce_count": sum(scope in scopes for scope, _ in memory.said) - 1,
                "head_ids": self.heads(memory),
            }
            for memory in self.kept.values()
            if memory.scope in scopes
        }

    def _exact(self, scope: str, content: str) -> Kept | None:
        own = self.kept.get(identity.memory_id(scope, content))
        shared = self.kept.get(identity.memory_id("global", content))
        if own is not None:
            return own
        return shared if shared is not None and shared.status is Status.CURRENT else None

    def _new(self, scope: str, content: str, at: datetime) -> Kept:
        made = Kept(identity.memory_id(scope, content), scope, content, created_at=at)
        self.kept[made.id] = made
        return made

    def _state(
        self, memory: Kept, scope: str, at: datetime, event_id: str, tags: Iterable[str]
    ) -> None:
        memory.said.append((scope, at))
        if scope == memory.scope:
            memory.created_at = min(memory.created_at, at)
            memory.tags |= set(tags)
            memory.steps.append((at, 0, event_id, Status.CURRENT))


def _restore_id(event_id: str) -> str:
    return "restore_" + identity.digest(event_id)[:32]
