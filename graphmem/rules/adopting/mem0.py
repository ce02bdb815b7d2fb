"""Memories of mem0, with their histories if there are any, as steps.

mem0 keeps one text a memory and overwrites it; its history says what was there before. A text that
took another's place supersedes it, and one that was deleted is deprecated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.errors import InvalidInputError
from graphmem.rules import identity
from graphmem.rules.adopting.steps import (
    ForeignRecord,
    ImportAction,
    ImportPlan,
    ImportStep,
    listed,
)

MEM0 = "mem0"
_DERIVED = ("hash", "score")
"""Made from the text, or of a search: nothing is lost with them."""
_OWNERS = (("user_id", "user"), ("agent_id", "agent"), ("run_id", "run"))


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a history."""

    id: str
    memory_id: str
    event: str
    text: str | None
    at: datetime
    actor: str | None


@dataclass(frozen=True, slots=True)
class _Owned:
    """Where a memory goes, and what each of its texts is given."""

    scope: str | None
    given: Mapping[str, Any]


def plan_mem0(data: object) -> ImportPlan:
    """Return the steps that a dump of mem0 comes to.

    Args:
        data: a list of memories, or {"results": [...], "history": [...]}; `memories` for `results`
            will do.

    Raises:
        InvalidInputError: it is neither.
    """
    document = {"results": data} if isinstance(data, list) else data
    if not isinstance(document, Mapping) or not {"results", "memories"} & document.keys():
        raise InvalidInputError(
            "data: it is no dump of mem0.",
            hint='Give the list that get_all returns, or {"results": [...], "history": [...]}.',
        )
    found = ImportPlan()
    histories = _histories(found, listed(document, "history"))
    first: list[ImportStep] = []
    later: list[ImportStep] = []
    for n, record in enumerate(listed(document, "results", "memories")):
        with found.reading(f"memory {n}"):
            steps = _memory(found, ForeignRecord("memory", record, derived=_DERIVED), histories)
            first += steps[:1]
            later += steps[1:]
    for memory_id, rows in histories.items():
        steps = _told(rows, memory_id, _Owned(None, _given(memory_id, None, ())))
        first += steps[:1]
        later += steps[1:]
    # Beginnings together, so that they are written in batches; of one memory the order stays.
    found.steps = sorted(first, key=lambda s: s.at) + sorted(later, key=lambda s: s.at)
    return found


def _histories(found: ImportPlan, rows: list[Any]) -> dict[str, list[_Row]]:
    histories: dict[str, list[_Row]] = defaultdict(list)
    for n, record in enumerate(rows):
        with found.reading(f"history {n}"):
            read = ForeignRecord("history", record, derived=("old_memory", "is_deleted"))
            created, updated = read.instant("created_at"), read.instant("updated_at")
            at = updated or created
            if at is None:
                raise InvalidInputError("it has no time.")
            row = _Row(
                id=read.text("id"),
                memory_id=read.text("memory_id"),
                event=read.text("event"),
                text=read.maybe("new_memory"),
                at=at,
                actor=read.maybe("actor_id") or read.maybe("role"),
            )
            if row.event not in ("ADD", "UPDATE", "DELETE"):
                raise InvalidInputError(f"it is of an event {row.event!r}.")
            read.maybe("role")
            found.unplaced.update(read.left())
            histories[row.memory_id].append(row)
    for memory_id in histories:
        histories[memory_id].sort(key=lambda row: row.at)
    return histories


def _memory(found: ImportPlan, read: ForeignRecord, histories: dict[str, list[_Row]]) -> list[ImportStep]:
    """Return the steps of one memory; its history is used up."""
    memory_id, text = read.text("id"), read.text("memory")
    created, updated = read.instant("created_at"), read.instant("updated_at")
    at = updated or created
    if at is None:
        raise InvalidInputError("it has no time.")
    owners = [(name, read.maybe(name)) for name, _ in _OWNERS]
    kinds = dict(_OWNERS)
    named = [(name, owner) for name, owner in owners if owner]
    scope = f"{kinds[named[0][0]]}:{named[0][1]}" if named else None
    actor = read.maybe("actor_id") or dict(owners)["agent_id"] or read.maybe("role")
    owned = _Owned(scope, _given(memory_id, actor, read.texts("categories")))
    rows = histories.pop(memory_id, [])
    read.maybe("role")
    found.unplaced.update(read.left())
    found.unplaced.update(f"memory.{name}" for name, _ in named[1:] if name != "agent_id")
    if not rows:
        # Since when the text is the one it is.
        found.unplaced.update(["memory.created_at"] if created and created != at else [])
        rows = [_Row(memory_id, memory_id, "ADD", text, at, None)]
    elif not _same(rows[-1].text, text):
        rows = [*rows, _Row(f"{memory_id}_now", memory_id, "UPDATE", text, at, None)]
    return _told(rows, memory_id, owned)


def _told(rows: list[_Row], memory_id: str, owned: _Owned) -> list[ImportStep]:
    """Return what a history comes to, its beginning first."""
    steps: list[ImportStep] = []
    before: str | None = None
    for row in rows:
        if row.event == "DELETE":
            verb = ImportAction.DEPRECATE
        elif before is None:
            verb = ImportAction.REMEMBER
        else:
            verb = ImportAction.SUPERSEDE
        if verb is ImportAction.DEPRECATE and before is None:
            continue
        if verb is not ImportAction.DEPRECATE:
            if row.text is None or _same(before, row.text):
                continue
            before = row.text
        given = {**owned.given, "content": row.text}
        if row.actor:
            given["actor"] = row.actor
        steps.append(
            ImportStep(verb, owned.scope, f"{MEM0}:{memory_id}", f"{MEM0}_{row.id}", row.at, given)
        )
    return steps


def _given(memory_id: str, actor: str | None, tags: tuple[str, ...]) -> dict[str, Any]:
    return {
        "source": MEM0,
        "artifact_ref": f"{MEM0}:{memory_id}",
        "tags": tags,
        **({"actor": actor} if actor else {}),
    }


def _same(one: str | None, other: str | None) -> bool:
    return (
        one is not None
        and other is not None
        and identity.normalised(one) == identity.normalised(other)
    )
