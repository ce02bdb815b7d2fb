"""How alive a belief is: the constants of cypher/fragments/vitality.cypher, and the gate.

Dual strength (Bjork): storage strength only grows, retrieval strength fades with disuse and is
made to last by retrievals that are spaced. Beside it a mean weighted by precision, and the gate
that decides whether a contradiction unsettles the belief (Nader; Engram's findings).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from graphmem.rules import sequential
from graphmem.rules.projection import Evidence


@dataclass(frozen=True)
class VitalityConstants:
    """The constants, as a query is given them: design §7 and §13 where nothing else is said."""

    first_days: float = 1.0
    """S at the first retrieval, and the least there is, days."""
    most_days: float = 365.0
    """S at most, days."""
    flagged: float = 0.5
    """What a FLAG leaves of S."""
    neutral: float = 0.5
    """The importance that changes nothing; that of an episode unless it is given."""
    stretch: float = 4.0
    """R fades with S * stretch^(importance - neutral): 1 doubles S, 0 halves it. Ours."""
    prior_precision: float = 1.0
    """Of the initial confidence: it counts as one certain piece of evidence. Ours."""
    gate_base: float = 0.3
    gate_least: float = 0.1
    gate_most: float = 0.9
    consolidation: str = "consolidation"
    """The `source` of events that consolidation writes."""


STANDARD_VITALITY = VitalityConstants()
VITALITY_WINDOW = timedelta(hours=6)
"""After a look at a belief a contradiction needs no great error: how long a retrieved memory stays
open to change in Nader's experiments."""
LEAST_RETRIEVAL = 0.05
"""What was only inferred and comes to mind less easily stays out of a context: three time constants
without a look or support. What somebody told is never kept out: that would be forgetting it."""


def vitality_record(e: Evidence) -> float:
    """Return what a piece of evidence says the belief is, in [0, 1]."""
    strength = sequential.evidence_strength(e)
    return strength if e.polarity > 0 else 1 - strength


def prediction_error(e: Evidence, mean: float) -> float:
    """Return how far a piece of evidence lies from what was expected, in [0, 1]."""
    return abs(vitality_record(e) - mean)


def destabilises(
    error: float, threshold: float, at: datetime, last_access: datetime | None
) -> bool:
    """Return whether a contradiction unsettles a belief, so that it is flagged for revision.

    Args:
        error: the prediction error of the contradiction.
        threshold: the gate before it.
        at: when it happened.
        last_access: the last look at the belief then or before.
    """
    is_open = last_access is not None and timedelta(0) <= at - last_access <= VITALITY_WINDOW
    return is_open or error > threshold


def vitality_params(by: VitalityConstants = STANDARD_VITALITY) -> dict[str, Any]:
    """Return the constants as a query is given them."""
    return asdict(by)
