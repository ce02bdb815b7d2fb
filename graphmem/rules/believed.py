"""What a query says of a belief, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphmem.model import Belief, Verdict

PROJECTED = ("positive", "negative", "supporting_episodes", "refuting_episodes", "contested")


def belief(row: Mapping[str, Any]) -> Belief:
    """Return the belief of a row of belief/states: card, initial, projected, score and verdict."""
    projected, initial = row["projected"] or {}, row["initial"]
    alone = projected.get("belief", initial)
    return Belief(
        **row["card"],
        **{name: projected[name] for name in PROJECTED if name in projected},
        initial_confidence=initial,
        belief=alone if row["score"] is None else row["score"],
        verdict=Verdict(**row["verdict"]),
    )
