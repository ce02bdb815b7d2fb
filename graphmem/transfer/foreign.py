"""Import plans for data from mem0 and Graphiti."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

from graphmem.errors import InvalidInputError
from graphmem.rules import claims, identity, times


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


def plan_mem0(data: object, zone: str | None) -> ImportPlan:
    """Return the plan to import a dump of mem0.

    Args:
        data: a list of memories, or {"results": [...], "history": [...]}; `memories` is accepted
            for `results`.
        zone: zone of times without one; None: the machine's.

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


GRAPHITI = "graphiti"


def plan_graphiti(data: object, zone: str | None) -> ImportPlan:
    """Return the plan to import a dump of Graphiti.

    Args:
        data: {"nodes": [...], "episodes": [...], "edges": [...]}, with EntityNode, EpisodicNode
            and EntityEdge as returned by `model_dump(mode="json")`.
        zone: zone of times without one; None: the machine's.

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
    nodes: list[_Node] = []
    for n, record in enumerate(list_field(data, "nodes")):
        with plan.recording_errors(f"node {n}"):
            read = ForeignRecord("node", record, zone, derived=("name_embedding",))
            created = read.timestamp("created_at") or LATEST
            nodes.append(_Node(created, read.text("uuid"), read.text("name"), _scope(read)))
            plan.unmapped.update(read.unread_fields())
    names = _names_apart(plan, nodes)
    episodes: dict[str, datetime] = {}
    for n, record in enumerate(list_field(data, "episodes")):
        with plan.recording_errors(f"episode {n}"):
            read = ForeignRecord("episode", record, zone, derived=("entity_edges",))
            step = _episode(plan, read)
            episodes[step.origin.removeprefix(f"{GRAPHITI}:")] = step.at
            plan.steps.append(step)
    facts: list[_Fact] = []
    for n, record in enumerate(list_field(data, "edges")):
        with plan.recording_errors(f"edge {n}"):
            read = ForeignRecord("edge", record, zone, derived=("fact_embedding",))
            facts.append(_fact(plan, read, names, episodes))
    steps = _fact_steps(plan, facts)
    order = {ImportAction.OBSERVE: 0, ImportAction.RETRACT: 1}
    plan.steps += sorted(steps, key=lambda step: (order[step.action], step.at))
    return plan


LATEST = datetime.max.replace(tzinfo=UTC)


class _Node(NamedTuple):
    """An entity; sorted by the time at which it was made."""

    created: datetime
    uuid: str
    name: str
    scope: str | None


def _names_apart(plan: ImportPlan, nodes: list[_Node]) -> dict[str, str]:
    """Return the name of each entity by its id.

    Of several with one name in a scope the oldest keeps it, so that names stay when the data grow.
    """
    names: dict[str, str] = {}
    taken: set[tuple[str | None, str]] = set()
    for node in sorted(nodes):
        apart = (node.name, f"{node.name} ({node.uuid[:8]})", f"{node.name} ({node.uuid})")
        free = (name for name in apart if (node.scope, claims.name_key(name)) not in taken)
        name = names[node.uuid] = names.get(node.uuid) or next(free, node.name)
        taken.add((node.scope, claims.name_key(name)))
        if name != node.name:
            plan.renamed[f"{GRAPHITI}:{node.uuid}"] = name
    return names


def _scope(read: ForeignRecord) -> str | None:
    group = read.optional_text("group_id")
    return f"group:{group}" if group else None


def _episode(plan: ImportPlan, read: ForeignRecord) -> ImportStep:
    uuid = read.text("uuid")
    at = read.time("valid_at", "created_at")
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
class _Fact:
    """A fact, and the times at which it begins, ends and is retracted."""

    scope: str | None
    origin: str
    fields: Mapping[str, Any]
    events: Sequence[tuple[str, str | None]]
    """Ids of its evidence, each with the episode that it is from."""
    begins: datetime
    ends: datetime | None
    retracted: datetime | None

    @property
    def slot(self) -> tuple[str | None, str, str]:
        """Scope, subject and predicate."""
        keys = (
            claims.name_key(self.fields["subject"]),
            claims.predicate_key(self.fields["predicate"]),
        )
        return self.scope, *keys

    @property
    def value(self) -> str:
        """Key of the object."""
        return claims.name_key(self.fields["object"])

    def holds(self, at: datetime) -> bool:
        """Return whether the fact holds at a time."""
        return self.begins <= at < (self.ends or LATEST) and self.retracted is None


def _fact(
    plan: ImportPlan,
    read: ForeignRecord,
    names: Mapping[str, str],
    episodes: Mapping[str, datetime],
) -> _Fact:
    uuid = read.text("uuid")
    ends = {role: read.text(f"{role}_node_uuid") for role in ("source", "target")}
    for role, node in ends.items():
        if node not in names:
            raise InvalidInputError(f"{role} {node!r} is not among the nodes.")
    stated = read.timestamp("valid_at") or read.timestamp("reference_time")
    begins, ended = stated or read.time("created_at"), read.timestamp("invalid_at")
    fields: dict[str, Any] = {
        "subject": names[ends["source"]],
        "predicate": read.text("name").lower(),
        "object": names[ends["target"]],
        "note": read.optional_text("fact"),
        "source": GRAPHITI,
        "source_type": "EXTRACTOR",
        "artifact_ref": f"{GRAPHITI}:{uuid}",
    }
    # Graphiti also expires a fact that ended, a moment later; its end is enough.
    retracted = None if ended else read.timestamp("expired_at")
    scope, mentions = _scope(read), read.texts("episodes")
    known = [episode for episode in mentions if episode in episodes]
    plan.unmapped.update(["edge.episodes"] * (len(mentions) - len(known)))
    plan.unmapped.update(read.unread_fields())
    # The event of its first episode, or of none, has the fact's own id.
    events = [(f"{GRAPHITI}_{uuid}", known[0] if known else None)]
    events += [(f"{GRAPHITI}_{uuid}_{episode}", episode) for episode in known[1:]]
    return _Fact(scope, fields["artifact_ref"], fields, events, begins, ended, retracted)


def _fact_steps(plan: ImportPlan, facts: Sequence[_Fact]) -> Iterator[ImportStep]:
    """Yield the steps of all facts; their stated times decide which of one slot hold together."""
    slots: dict[tuple[str | None, str, str], list[_Fact]] = defaultdict(list)
    for fact in facts:
        slots[fact.slot].append(fact)
    for (scope, _, predicate), rivals in slots.items():
        ends = _ends(rivals)
        for fact in rivals:
            yield from _steps_of(fact, ends.get(fact.value))
            if (scope, predicate) not in plan.coexisting and fact.holds(fact.begins):
                others = (one for one in rivals if one.value != fact.value)
                if any(one.holds(fact.begins) for one in others):
                    plan.coexisting.add((scope, predicate))


def _ends(rivals: Sequence[_Fact]) -> dict[str, datetime]:
    """Return when each value of a slot ends for good; one that a fact states without end has none.

    No evidence outweighs the certain evidence of an end, so a value that returns has only one.
    """
    ends: dict[str, datetime] = {}
    for fact in rivals:
        if fact.retracted is None:
            ends[fact.value] = max(ends.get(fact.value, fact.begins), fact.ends or LATEST)
    return {value: at for value, at in ends.items() if at != LATEST}


def _steps_of(fact: _Fact, ends: datetime | None) -> Iterator[ImportStep]:
    observe = partial(ImportStep, ImportAction.OBSERVE, fact.scope, fact.origin)
    for name, episode in fact.events:
        of_episode = {"episode_id": f"{GRAPHITI}_{episode}" if episode else None}
        yield observe(name, fact.begins, {**fact.fields, **of_episode})
    if ends and fact.retracted is None:
        # Certain evidence against it, so that the fact does not outlive its end. One event for each
        # supporting one, because the reading of values that coexist counts them by episode.
        refuting = {"kind": "refuting", "confidence": 1.0, "source_type": "TOOL"}
        for name, _ in fact.events:
            yield observe(f"{name}_invalid", ends, {**fact.fields, **refuting})
    if fact.retracted:
        retract = partial(ImportStep, ImportAction.RETRACT, fact.scope, fact.origin)
        for name, _ in fact.events:
            yield retract(f"{name}_expired", fact.retracted, {"target": name})


def detect_source(data: object) -> str | None:
    """Return the system that data comes from by its structure; None if it is unknown."""
    if isinstance(data, list):
        return MEM0 if any(isinstance(one, Mapping) and "memory" in one for one in data) else None
    if not isinstance(data, Mapping):
        return None
    if {"results", "memories"} & data.keys():
        return MEM0
    return GRAPHITI if {"edges", "episodes"} & data.keys() else None
