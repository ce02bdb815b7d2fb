"""Plans to import data of mem0 and Graphiti."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from graphmem.errors import InvalidInputError
from graphmem.rules import identity


class ImportAction(StrEnum):
    """What a step does."""

    EPISODE = "episode"
    REMEMBER = "remember"
    SUPERSEDE = "supersede"
    DEPRECATE = "deprecate"
    OBSERVE = "observe"
    RETRACT = "retract"


@dataclass(frozen=True, slots=True)
class ImportStep:
    """One write, under an id that derives from the foreign one."""

    verb: ImportAction
    scope: str | None
    """None: the handle's own."""
    origin: str
    """Names the foreign record, for example `mem0:5f3c`."""
    id: str
    at: datetime
    given: Mapping[str, Any]
    """What else the verb takes."""


@dataclass(slots=True)
class ImportPlan:
    """What is to be done with foreign data, and what cannot."""

    steps: list[ImportStep] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Records that cannot be read, each with why."""
    unplaced: Counter[str] = field(default_factory=Counter)
    """Fields that have no place here, and how often they were filled in."""

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Note what is wrong with a record, and go on with the next."""
        try:
            yield
        except InvalidInputError as error:
            self.refused.append(f"{name}: {error.message}")


class ForeignRecord:
    """A foreign record, field by field; what is never asked for has no place."""

    def __init__(self, kind: str, record: object, *, derived: Sequence[str] = ()) -> None:
        if not isinstance(record, Mapping):
            raise InvalidInputError("it is no map of fields.")
        self._kind = kind
        self._record = {str(key): value for key, value in record.items()}
        self._asked = set(derived)

    def text(self, name: str) -> str:
        """Return a text that must be there."""
        found = self.maybe(name)
        if found is None:
            raise InvalidInputError(f"it has no {name}.")
        return found

    def maybe(self, name: str) -> str | None:
        """Return a text; None when it is not there, or blank."""
        self._asked.add(name)
        found = self._record.get(name)
        if found is not None and not isinstance(found, str):
            raise InvalidInputError(f"its {name} is no text.")
        return found if found and found.strip() else None

    def instant(self, name: str) -> datetime | None:
        """Return an ISO 8601 instant; without a time zone it is taken for UTC."""
        found = self.maybe(name)
        if found is None:
            return None
        try:
            at = datetime.fromisoformat(found)
        except ValueError:
            raise InvalidInputError(f"its {name} is no instant in ISO 8601.") from None
        return at if at.tzinfo else at.replace(tzinfo=UTC)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; none when it is not there."""
        self._asked.add(name)
        found = self._record.get(name) or []
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise InvalidInputError(f"its {name} is no list of texts.")
        return tuple(found)

    def left(self) -> list[str]:
        """Return the names of what is filled in and was not asked for."""
        return [
            f"{self._kind}.{name}"
            for name, value in self._record.items()
            if name not in self._asked and value not in (None, "", [], {})
        ]


def listed(document: Mapping[str, Any], *names: str) -> list[Any]:
    """Return the first list of these names that a document has; none when it has no such.

    Raises:
        InvalidInputError: what is there is no list.
    """
    for name in names:
        if name in document:
            if not isinstance(document[name], list):
                raise InvalidInputError(f"data: its {name} is no list.")
            found: list[Any] = document[name]
            return found
    return []


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


def _memory(
    found: ImportPlan, read: ForeignRecord, histories: dict[str, list[_Row]]
) -> list[ImportStep]:
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


GRAPHITI = "graphiti"


def plan_graphiti(data: object) -> ImportPlan:
    """Return the steps that a dump of Graphiti comes to.

    Args:
        data: {"nodes": [...], "episodes": [...], "edges": [...]}, of EntityNode, EpisodicNode and
            EntityEdge as `model_dump(mode="json")` gives them.

    Raises:
        InvalidInputError: it is something else.
    """
    if not isinstance(data, Mapping) or not {"edges", "episodes"} & data.keys():
        raise InvalidInputError(
            "data: it is no dump of Graphiti.",
            hint='Give {"nodes": [...], "episodes": [...], "edges": [...]}.',
        )
    found = ImportPlan()
    names: dict[str, str] = {}
    for n, record in enumerate(listed(data, "nodes")):
        with found.reading(f"node {n}"):
            read = ForeignRecord("node", record, derived=("name_embedding", "group_id"))
            names[read.text("uuid")] = read.text("name")
            found.unplaced.update(read.left())
    episodes: dict[str, datetime] = {}
    for n, record in enumerate(listed(data, "episodes")):
        with found.reading(f"episode {n}"):
            step = _episode(found, ForeignRecord("episode", record, derived=("entity_edges",)))
            episodes[step.origin.removeprefix(f"{GRAPHITI}:")] = step.at
            found.steps.append(step)
    facts: list[ImportStep] = []
    for n, record in enumerate(listed(data, "edges")):
        with found.reading(f"edge {n}"):
            read = ForeignRecord("edge", record, derived=("fact_embedding",))
            facts += _fact(found, read, names, episodes)
    order = {ImportAction.OBSERVE: 0, ImportAction.RETRACT: 1}
    found.steps += sorted(facts, key=lambda step: (order[step.verb], step.at))
    return found


def _scope(read: ForeignRecord) -> str | None:
    group = read.maybe("group_id")
    return f"group:{group}" if group else None


def _episode(found: ImportPlan, read: ForeignRecord) -> ImportStep:
    uuid = read.text("uuid")
    at = read.instant("valid_at") or read.instant("created_at")
    if at is None:
        raise InvalidInputError("it has no time.")
    step = ImportStep(
        ImportAction.EPISODE,
        _scope(read),
        f"{GRAPHITI}:{uuid}",
        f"{GRAPHITI}_{uuid}",
        at,
        {"content": read.text("content"), "summary": read.maybe("name")},
    )
    found.unplaced.update(read.left())
    return step


@dataclass(frozen=True, slots=True)
class _Times:
    """When a fact begins and ends, and when it was withdrawn."""

    begins: datetime
    ends: datetime | None
    withdrawn: datetime | None


def _times(read: ForeignRecord) -> _Times:
    begins = read.instant("valid_at") or read.instant("reference_time")
    if begins is None and (begins := read.instant("created_at")) is None:
        raise InvalidInputError("it has no time.")
    ends = read.instant("invalid_at")
    # What stopped being true is withdrawn as well, a moment later: that it is told by its end.
    withdrawn = None if ends else read.instant("expired_at")
    return _Times(begins, ends, withdrawn)


def _fact(
    found: ImportPlan,
    read: ForeignRecord,
    names: Mapping[str, str],
    episodes: Mapping[str, datetime],
) -> list[ImportStep]:
    uuid = read.text("uuid")
    ends = {role: read.text(f"{role}_node_uuid") for role in ("source", "target")}
    for role, node in ends.items():
        if node not in names:
            raise InvalidInputError(f"its {role} {node!r} is not among the nodes.")
    times, scope, origin = _times(read), _scope(read), f"{GRAPHITI}:{uuid}"
    given: dict[str, Any] = {
        "subject": names[ends["source"]],
        "predicate": read.text("name").lower(),
        "object": names[ends["target"]],
        "note": read.maybe("fact"),
        "source": GRAPHITI,
        "source_type": "EXTRACTOR",
        "artifact_ref": origin,
    }
    mentions = read.texts("episodes")
    told = [one for one in mentions if one in episodes]
    found.unplaced.update(["edge.episodes"] * (len(mentions) - len(told)))
    found.unplaced.update(read.left())
    # Its first episode, or none, says it under the fact's own id.
    says = [(f"{GRAPHITI}_{uuid}", told[0] if told else None)]
    says += [(f"{GRAPHITI}_{uuid}_{one}", one) for one in told[1:]]
    steps = [
        ImportStep(
            ImportAction.OBSERVE,
            scope,
            origin,
            name,
            times.begins,
            given | {"episode": f"{GRAPHITI}_{one}" if one else None},
        )
        for name, one in says
    ]
    if times.ends:
        # As often as it was said, or what was said twice would outlive its end.
        against = given | {"kind": "refuting"}
        steps += [
            ImportStep(ImportAction.OBSERVE, scope, origin, f"{name}_invalid", times.ends, against)
            for name, _ in says
        ]
    if times.withdrawn:
        steps += [
            ImportStep(
                ImportAction.RETRACT,
                scope,
                origin,
                f"{name}_expired",
                times.withdrawn,
                {"target": name},
            )
            for name, _ in says
        ]
    return steps
