"""Import plans for data from mem0 and Graphiti."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any

from graphmem.errors import InvalidInputError
from graphmem.rules import identity


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

    def __init__(self, kind: str, record: object, *, derived: Sequence[str] = ()) -> None:
        if not isinstance(record, Mapping):
            raise InvalidInputError("the record must be a mapping of fields.")
        self._kind = kind
        self._record = {str(key): value for key, value in record.items()}
        self._asked = set(derived)

    def text(self, name: str) -> str:
        """Return a required text."""
        value = self.optional_text(name)
        if value is None:
            raise InvalidInputError(f"{name} is missing.")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text; None if it is missing or blank."""
        self._asked.add(name)
        value = self._record.get(name)
        if value is not None and not isinstance(value, str):
            raise InvalidInputError(f"{name} must be a string.")
        return value if value and value.strip() else None

    def timestamp(self, name: str) -> datetime | None:
        """Return an ISO 8601 timestamp; UTC is assumed if it has no time zone."""
        value = self.optional_text(name)
        if value is None:
            return None
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInputError(f"{name} must be an ISO 8601 timestamp.") from None
        return at if at.tzinfo else at.replace(tzinfo=UTC)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty if it is missing."""
        self._asked.add(name)
        values = self._record.get(name) or []
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
    """Return the list under the first of these names in a document; empty if none is present.

    Raises:
        InvalidInputError: the value under that name is not a list.
    """
    for name in names:
        if name in document:
            if not isinstance(document[name], list):
                raise InvalidInputError(f"data: {name} must be a list.")
            values: list[Any] = document[name]
            return values
    return []


def _required(at: datetime | None) -> datetime:
    if at is None:
        raise InvalidInputError("the time is missing.")
    return at


MEM0 = "mem0"
_OWNERS = (("user_id", "user"), ("agent_id", "agent"), ("run_id", "run"))


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


def plan_mem0(data: object) -> ImportPlan:
    """Return the plan to import a dump of mem0.

    Args:
        data: a list of memories, or {"results": [...], "history": [...]}; `memories` is accepted
            for `results`.

    Raises:
        InvalidInputError: `data` is neither.
    """
    document = {"results": data} if isinstance(data, list) else data
    if not isinstance(document, Mapping) or not {"results", "memories"} & document.keys():
        raise InvalidInputError(
            "data must be a dump of mem0.",
            hint='Pass the list that get_all returns, or {"results": [...], "history": [...]}.',
        )
    plan = ImportPlan()
    plan.count_rest(document, "results", "memories", "history")
    histories = _histories(plan, list_field(document, "history"))
    first: list[ImportStep] = []
    later: list[ImportStep] = []
    for n, record in enumerate(list_field(document, "results", "memories")):
        with plan.recording_errors(f"memory {n}"):
            steps = _memory(plan, ForeignRecord("memory", record), histories)
            first += steps[:1]
            later += steps[1:]
    for memory_id, rows in histories.items():
        steps = _steps(rows, memory_id, _Owned(None, _shared_fields(memory_id, None, ())))
        first += steps[:1]
        later += steps[1:]
    # First steps come together, so that they are written in batches; each memory keeps its order.
    plan.steps = sorted(first, key=lambda s: s.at) + sorted(later, key=lambda s: s.at)
    return plan


def _histories(plan: ImportPlan, rows: list[Any]) -> dict[str, list[_Row]]:
    histories: dict[str, list[_Row]] = defaultdict(list)
    for n, record in enumerate(rows):
        with plan.recording_errors(f"history {n}"):
            read = ForeignRecord("history", record, derived=("old_memory", "is_deleted"))
            created, updated = read.timestamp("created_at"), read.timestamp("updated_at")
            at = _required(updated or created)
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
    created, updated = read.timestamp("created_at"), read.timestamp("updated_at")
    at = _required(updated or created)
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


GRAPHITI = "graphiti"


def plan_graphiti(data: object) -> ImportPlan:
    """Return the plan to import a dump of Graphiti.

    Args:
        data: {"nodes": [...], "episodes": [...], "edges": [...]}, with EntityNode, EpisodicNode
            and EntityEdge as returned by `model_dump(mode="json")`.

    Raises:
        InvalidInputError: `data` has a different structure.
    """
    if not isinstance(data, Mapping) or not {"edges", "episodes"} & data.keys():
        raise InvalidInputError(
            "data must be a dump of Graphiti.",
            hint='Pass {"nodes": [...], "episodes": [...], "edges": [...]}.',
        )
    plan = ImportPlan()
    plan.count_rest(data, "nodes", "episodes", "edges")
    names: dict[str, str] = {}
    for n, record in enumerate(list_field(data, "nodes")):
        with plan.recording_errors(f"node {n}"):
            read = ForeignRecord("node", record, derived=("name_embedding", "group_id"))
            names[read.text("uuid")] = read.text("name")
            plan.unmapped.update(read.unread_fields())
    episodes: dict[str, datetime] = {}
    for n, record in enumerate(list_field(data, "episodes")):
        with plan.recording_errors(f"episode {n}"):
            step = _episode(plan, ForeignRecord("episode", record, derived=("entity_edges",)))
            episodes[step.origin.removeprefix(f"{GRAPHITI}:")] = step.at
            plan.steps.append(step)
    facts: list[ImportStep] = []
    for n, record in enumerate(list_field(data, "edges")):
        with plan.recording_errors(f"edge {n}"):
            read = ForeignRecord("edge", record, derived=("fact_embedding",))
            facts += _fact(plan, read, names, episodes)
    order = {ImportAction.OBSERVE: 0, ImportAction.RETRACT: 1}
    plan.steps += sorted(facts, key=lambda step: (order[step.action], step.at))
    return plan


def _scope(read: ForeignRecord) -> str | None:
    group = read.optional_text("group_id")
    return f"group:{group}" if group else None


def _episode(plan: ImportPlan, read: ForeignRecord) -> ImportStep:
    uuid = read.text("uuid")
    at = _required(read.timestamp("valid_at") or read.timestamp("created_at"))
    step = ImportStep(
        ImportAction.EPISODE,
        _scope(read),
        f"{GRAPHITI}:{uuid}",
        f"{GRAPHITI}_{uuid}",
        at,
        {"content": read.text("content"), "summary": read.optional_text("name")},
    )
    plan.unmapped.update(read.unread_fields())
    return step


@dataclass(frozen=True, slots=True)
class _Times:
    """Times at which a fact begins, ends and is retracted."""

    begins: datetime
    ends: datetime | None
    retracted: datetime | None


def _times(read: ForeignRecord) -> _Times:
    stated = read.timestamp("valid_at") or read.timestamp("reference_time")
    begins = _required(stated or read.timestamp("created_at"))
    ends = read.timestamp("invalid_at")
    # Graphiti also expires a fact that ended, a moment later; its end is enough.
    retracted = None if ends else read.timestamp("expired_at")
    return _Times(begins, ends, retracted)


def _fact(
    plan: ImportPlan,
    read: ForeignRecord,
    names: Mapping[str, str],
    episodes: Mapping[str, datetime],
) -> list[ImportStep]:
    uuid = read.text("uuid")
    ends = {role: read.text(f"{role}_node_uuid") for role in ("source", "target")}
    for role, node in ends.items():
        if node not in names:
            raise InvalidInputError(f"{role} {node!r} is not among the nodes.")
    times, scope, origin = _times(read), _scope(read), f"{GRAPHITI}:{uuid}"
    fields: dict[str, Any] = {
        "subject": names[ends["source"]],
        "predicate": read.text("name").lower(),
        "object": names[ends["target"]],
        "note": read.optional_text("fact"),
        "source": GRAPHITI,
        "source_type": "EXTRACTOR",
        "artifact_ref": origin,
    }
    mentions = read.texts("episodes")
    known = [episode for episode in mentions if episode in episodes]
    plan.unmapped.update(["edge.episodes"] * (len(mentions) - len(known)))
    plan.unmapped.update(read.unread_fields())
    # The event of its first episode, or of none, has the fact's own id.
    events = [(f"{GRAPHITI}_{uuid}", known[0] if known else None)]
    events += [(f"{GRAPHITI}_{uuid}_{episode}", episode) for episode in known[1:]]
    observe = partial(ImportStep, ImportAction.OBSERVE, scope, origin)
    steps = [
        observe(
            name,
            times.begins,
            fields | {"episode_id": f"{GRAPHITI}_{episode}" if episode else None},
        )
        for name, episode in events
    ]
    if times.ends:
        # Certain evidence against it, so that the fact does not outlive its end. One event for each
        # supporting one, because the reading of values that coexist counts them by episode.
        refuting = fields | {"kind": "refuting", "confidence": 1.0, "source_type": "TOOL"}
        steps += [observe(f"{name}_invalid", times.ends, refuting) for name, _ in events]
    if times.retracted:
        retract = partial(ImportStep, ImportAction.RETRACT, scope, origin)
        steps += [
            retract(f"{name}_expired", times.retracted, {"target": name}) for name, _ in events
        ]
    return steps


def detect_source(data: object) -> str | None:
    """Return the system that data comes from by its structure; None if it is unknown."""
    if isinstance(data, list):
        return MEM0 if any(isinstance(one, Mapping) and "memory" in one for one in data) else None
    if not isinstance(data, Mapping):
        return None
    if {"results", "memories"} & data.keys():
        return MEM0
    return GRAPHITI if {"edges", "episodes"} & data.keys() else None
