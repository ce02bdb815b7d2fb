"""Import plans for data of other systems, and those of mem0."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from graphmem.errors import InvalidInputError
from graphmem.rules import identity, times

MEM0, GRAPHITI = "mem0", "graphiti"
_OWNERS = (("user_id", "user"), ("agent_id", "agent"), ("run_id", "run"))


class ImportAction(StrEnum):
    """Write operation of a step."""

    EPISODE = "episode"
    REMEMBER = "remember"
    SUPERSEDE = "supersede"
    DEPRECATE = "deprecate"
    OBSERVE = "observe"
    RETRACT = "retract"


@dataclass(frozen=True, slots=True)
class ImportStep:
    """One write; its id derives from the foreign id."""

    action: ImportAction
    scope: str | None
    """Scope to write to; None for the handle's own."""
    origin: str
    """Foreign record, for example `mem0:5f3c`."""
    id: str
    at: datetime
    given: Mapping[str, Any]
    """Further arguments of the write."""


@dataclass(slots=True)
class ImportPlan:
    """Steps that import foreign data, and the parts that cannot be imported."""

    steps: list[ImportStep] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    """Records that cannot be read, each with the reason."""
    unmapped: Counter[str] = field(default_factory=Counter)
    """Number of filled-in values by field without an equivalent in graphmem."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Name by foreign id of each entity that shares its own name with an older one."""
    coexisting: set[tuple[str | None, str]] = field(default_factory=set)
    """Scope and predicate of values of one subject that hold at the same time by the data."""

    def count_rest(self, document: Mapping[str, Any], *known: str) -> None:
        """Count the entries of a document under other names than the known ones."""
        for name, value in document.items():
            if name not in known and value not in (None, "", [], {}):
                self.unmapped[str(name)] += len(value) if isinstance(value, list) else 1

    @contextmanager
    def recording_errors(self, name: str) -> Iterator[None]:
        """Record an error in a record, and continue with the next one."""
        try:
            yield
        except InvalidInputError as error:
            self.rejected.append(f"{name}: {error.message}")


class ForeignRecord:
    """A foreign record, read field by field; `unread_fields` reports the remaining ones."""

    def __init__(
        self, kind: str, record: object, zone: str | None, *, derived: Sequence[str] = ()
    ) -> None:
        if not isinstance(record, Mapping):
            raise InvalidInputError("the record must be a mapping of fields.")
        self._kind = kind
        self._zone = zone
        self._record = {str(key): value for key, value in record.items()}
        self._names = {times.key(name): name for name in reversed(self._record)}
        """Name of each field as written: `createdAt` for `created_at`."""
        self._asked = {self._name(name) for name in derived}

    def _name(self, name: str) -> str:
        return name if name in self._record else self._names.get(times.key(name), name)

    def _value(self, name: str) -> Any:
        written = self._name(name)
        self._asked.add(written)
        return self._record.get(written)

    def text(self, name: str) -> str:
        """Return a required text."""
        value = self.optional_text(name)
        if value is None:
            raise InvalidInputError(f"{name} is missing.")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text; None if it is missing or blank."""
        value = self._value(name)
        if value is not None and not isinstance(value, str):
            raise InvalidInputError(f"{name} must be a string.")
        return value if value and value.strip() else None

    def timestamp(self, name: str) -> datetime | None:
        """Return a time in any form that `times.parse` reads; None if it is missing."""
        value = self._value(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        try:
            return times.parse(value, self._zone)
        except ValueError as error:
            raise InvalidInputError(f"{name}: {error}.") from None

    def time(self, *names: str) -> datetime:
        """Return the first of these times that is given, else one under another common name."""
        found = [self.timestamp(name) for name in names]
        at = next((one for one in found if one is not None), None)
        other = next(times.of_record(self._record), None)
        if at is None and other is not None:
            at = self.timestamp(other)
        if at is None:
            raise InvalidInputError("the time is missing.")
        return at

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty if it is missing."""
        values = self._value(name) or []
        if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
            raise InvalidInputError(f"{name} must be a list of strings.")
        return tuple(values)

    def unread_fields(self) -> list[str]:
        """Return the names of the fields that have a value and were not read."""
        return [
            f"{self._kind}.{name}"
            for name, value in self._record.items()
            if name not in self._asked and value not in (None, "", [], {})
        ]


def list_field(document: Mapping[str, Any], *names: str) -> list[Any]:
    """Return the list under the first of these names in a document; empty if none is present."""
    for name in names:
        if name in document:
            if not isinstance(document[name], list):
                raise InvalidInputError(f"data: {name} must be a list.")
            values: list[Any] = document[name]
            return values
    return []


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a mem0 history."""

    id: str
    memory_id: str
    event: str
    text: str | None
    at: datetime
    actor: str | None


@dataclass(frozen=True, slots=True)
class _Owned:
    """Scope of a memory, and the arguments shared by all its steps."""

    scope: str | None
    given: Mapping[str, Any]


def plan_mem0(data: object, zone: str | None) -> ImportPlan:
    """Return the plan to import a dump of mem0.

    Args:
        data: a list of memories, or {"results": [...], "history": [...]}; `memories` is accepted
            for `results`.
        zone: zone of times without one; None: the machine's.
    """
    document = {"results": data} if isinstance(data, list) else data
    if not isinstance(document, Mapping) or not {"results", "memories"} & document.keys():
        raise InvalidInputError(
            "data must be a dump of mem0.",
            hint='Pass the list that get_all returns, or {"results": [...], "history": [...]}.',
        )
    plan = ImportPlan()
    plan.count_rest(document, "results", "memories", "history")
    histories = _histories(plan, list_field(document, "history"), zone)
    first: list[ImportStep] = []
    later: list[ImportStep] = []
    for n, record in enumerate(list_field(document, "results", "memories")):
        with plan.recording_errors(f"memory {n}"):
            steps = _memory(plan, ForeignRecord("memory", record, zone), histories)
            first += steps[:1]
            later += steps[1:]
    for memory_id, rows in histories.items():
        steps = _steps(rows, memory_id, _Owned(None, _shared_fields(memory_id, None, ())))
        first += steps[:1]
        later += steps[1:]
    # First steps come together, so that they are written in batches; each memory keeps its order.
    plan.steps = sorted(first, key=lambda s: s.at) + sorted(later, key=lambda s: s.at)
    return plan


def _histories(plan: ImportPlan, rows: list[Any], zone: str | None) -> dict[str, list[_Row]]:
    histories: dict[str, list[_Row]] = defaultdict(list)
    for n, record in enumerate(rows):
        with plan.recording_errors(f"history {n}"):
            read = ForeignRecord("history", record, zone, derived=("old_memory", "is_deleted"))
            at = read.time("updated_at", "created_at")
            row = _Row(
                id=read.text("id"),
                memory_id=read.text("memory_id"),
                event=read.text("event"),
                text=read.optional_text("new_memory"),
                at=at,
                actor=read.optional_text("actor_id") or read.optional_text("role"),
            )
            if row.event not in ("ADD", "UPDATE", "DELETE"):
                raise InvalidInputError(f"event {row.event!r} must be ADD, UPDATE or DELETE.")
            read.optional_text("role")
            plan.unmapped.update(read.unread_fields())
            histories[row.memory_id].append(row)
    for memory_id in histories:
        histories[memory_id].sort(key=lambda row: row.at)
    return histories


def _memory(
    plan: ImportPlan, read: ForeignRecord, histories: dict[str, list[_Row]]
) -> list[ImportStep]:
    """Return the steps of one memory, and remove its history from `histories`."""
    memory_id, text = read.text("id"), read.text("memory")
    created, at = read.timestamp("created_at"), read.time("updated_at", "created_at")
    expires = read.timestamp("expiration_date")
    owners = [(name, read.optional_text(name)) for name, _ in _OWNERS]
    kinds = dict(_OWNERS)
    owned_by = [(name, owner) for name, owner in owners if owner]
    scope = f"{kinds[owned_by[0][0]]}:{owned_by[0][1]}" if owned_by else None
    actor = read.optional_text("actor_id") or dict(owners)["agent_id"] or read.optional_text("role")
    owner_fields = _Owned(scope, _shared_fields(memory_id, actor, read.texts("categories")))
    rows = histories.pop(memory_id, [])
    read.optional_text("role")
    plan.unmapped.update(read.unread_fields())
    plan.unmapped.update(f"memory.{name}" for name, _ in owned_by[1:] if name != "agent_id")
    if not rows:
        # The memory is dated from its last update.
        plan.unmapped.update(["memory.created_at"] if created and created != at else [])
        rows = [_Row(memory_id, memory_id, "ADD", text, at, None)]
    elif not _same_text(rows[-1].text, text):
        rows = [*rows, _Row(f"{memory_id}_now", memory_id, "UPDATE", text, at, None)]
    if expires is not None:
        end = max(expires, rows[-1].at)
        rows = [*rows, _Row(f"{memory_id}_expired", memory_id, "DELETE", None, end, None)]
    return _steps(rows, memory_id, owner_fields)


def _steps(rows: list[_Row], memory_id: str, owned: _Owned) -> list[ImportStep]:
    """Return the steps of a history, oldest first."""
    steps: list[ImportStep] = []
    before: str | None = None
    for row in rows:
        if row.event == "DELETE":
            if before is None:
                continue
            action = ImportAction.DEPRECATE
        elif row.text is None or _same_text(before, row.text):
            continue
        else:
            action = ImportAction.SUPERSEDE if before else ImportAction.REMEMBER
            before = row.text
        actor = {"actor": row.actor} if row.actor else {}
        fields = {**owned.given, "content": row.text, **actor}
        origin = f"{MEM0}:{memory_id}"
        steps.append(ImportStep(action, owned.scope, origin, f"{MEM0}_{row.id}", row.at, fields))
    return steps


def _shared_fields(memory_id: str, actor: str | None, tags: tuple[str, ...]) -> dict[str, Any]:
    return {
        "source": MEM0,
        "artifact_ref": f"{MEM0}:{memory_id}",
        "tags": tags,
        **({"actor": actor} if actor else {}),
    }


def _same_text(left: str | None, right: str | None) -> bool:
    return (
        left is not None
        and right is not None
        and identity.normalise(left) == identity.normalise(right)
    )


def detect_source(data: object) -> str | None:
    """Return the system that data comes from by its structure; None if it is unknown."""
    if isinstance(data, list):
        return MEM0 if any(isinstance(one, Mapping) and "memory" in one for one in data) else None
    if not isinstance(data, Mapping):
        return None
    if {"results", "memories"} & data.keys():
        return MEM0
    return GRAPHITI if {"edges", "episodes"} & data.keys() else None
