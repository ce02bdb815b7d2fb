"""Import plans for data of Graphiti."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from graphmem.errors import InvalidInputError
from graphmem.rules import claims
from graphmem.transfer.foreign import (
    GRAPHITI,
    ForeignRecord,
    ImportAction,
    ImportPlan,
    ImportStep,
    list_field,
)

LATEST = datetime.max.replace(tzinfo=UTC)


def plan_graphiti(data: object, zone: str | None) -> ImportPlan:
    """Return the plan to import a dump of Graphiti.

    Args:
        data: {"nodes": [...], "episodes": [...], "edges": [...]}, with EntityNode, EpisodicNode
            and EntityEdge as returned by `model_dump(mode="json")`.
        zone: zone of times without one; None: the machine's.
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
