"""Constants of vitality: how the retrieval of a belief or an episode decays.

The formula is in cypher/fragments/vitality.cypher; its twin is oracles/vitality.py.
"""

from __future__ import annotations

from typing import Any

from graphmem.model.policies import VitalityPolicy

MIN_RETRIEVAL = 0.05
"""Retrieval below which an inferred belief comes last in a context: three time constants without
being returned, expanded or supported. Beliefs that a caller stated keep their place."""


class VitalityConstants(VitalityPolicy):
    """Constants of vitality, passed to queries. From design §7 and §13 unless noted."""

    least_days: float = 1.0
    """Minimum of S, in days; only flags lead below the first value."""
    flagged: float = 0.5
    """Factor that a FLAG applies to S."""
    neutral: float = 0.5
    """Importance without effect; the default for episodes."""
    stretch: float = 4.0
    """R decays with S * stretch^(importance - neutral): 1 doubles S, 0 halves it. Ours."""
    prior_precision: float = 1.0
    """Weight of the initial confidence: it counts as one certain piece of evidence. Ours."""
    consolidation: str = "consolidation"
    """The `source` of events that consolidation writes."""


STANDARD_VITALITY = VitalityConstants()


def vitality_params(by: VitalityConstants = STANDARD_VITALITY) -> dict[str, Any]:
    """Return the constants as query parameters."""
    return by.model_dump()
