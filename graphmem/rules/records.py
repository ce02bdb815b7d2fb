"""What a query says of a belief or of an event, as a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graphmem.model import Belief, BeliefEvent, EvidenceKind, MemoryEvent, Verdict, Vitality

PROJECTED = ("positive", "negative", "supporting_episodes", "refuting_episodes", "contested")


def belief(row: Mapping[str, Any]) -> Belief:
    """Return the belief of a row of belief/states; a row of another query may lack its vitality."""
    projected, initial = row["projected"] or {}, row["initial"]
    alone = projected.get("belief", initial)
    return Belief(
        **row["card"],
        **{name: projected[name] for name in PROJECTED if name in projected},
        initial_confidence=initial,
        belief=alone if row["score"] is None else row["score"],
        verdict=Verdict(**row["verdict"]),
        vitality=Vitality(**row["vitality"]) if row.get("vitality") else None,
    )


def memory_event(row: Mapping[str, Any]) -> MemoryEvent:
    """Return the line of a memory's history that a row tells of; what else it tells is left out."""
    known = {name: row[name] for name in MemoryEvent.model_fields}
    return MemoryEvent(**known | {"payload": _payload(row)})


def belief_event(row: Mapping[str, Any]) -> BeliefEvent:
    """Return the line of a belief's history that a row of fragments/belief_event tells of."""
    known = {name: row[name] for name in BeliefEvent.model_fields if name != "kind"}
    return BeliefEvent(**known | {"payload": _payload(row), "kind": kind(row["polarity"])})


def kind(polarity: int | None) -> EvidenceKind | None:
    """Return which way an event points; None for one that is no evidence."""
    return None if polarity is None else EvidenceKind.of(polarity)


def _payload(row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row["payload"] or "{}")
    return found
