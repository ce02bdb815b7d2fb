"""Episodes, entities and facts of Graphiti as steps.

A fact (EntityEdge) is evidence for a triple: from each episode that mentions it, at the time since
when it is true; against it, as often, when it stops being true. One that was only withdrawn is
retracted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.errors import InvalidInputError
from graphmem.rules.adopting.steps import (
    ForeignRecord,
    ImportAction,
    ImportPlan,
    ImportStep,
    listed,
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
    found: ImportPlan, read: ForeignRecord, names: Mapping[str, str], episodes: Mapping[str, datetime]
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
            ImportStep(ImportAction.RETRACT, scope, origin, f"{name}_expired", times.withdrawn, {"target": name})
            for name, _ in says
        ]
    return steps
