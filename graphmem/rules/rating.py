"""Ratings of what searches return: their constants, tiers and fading.

Elo, "The Rating of Chessplayers" (1978), as Vector ELO uses it: what an agent opened has won
against what it left. Ratings annotate results and never rank them.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from graphmem.model import Tier


@dataclass(frozen=True)
class Rating:
    """The constants: design §11 and §13."""

    initial: float = 1200.0
    """Before the first game."""
    floor: float = 800.0
    """Where fading ends; lost games lead below it."""
    k_new: float = 16.0
    k_established: float = 8.0
    established: int = 10
    """Games from which an item is established; each pair of results is one."""
    scale: float = 400.0
    """A lead of so many points makes winning ten times as likely as losing."""
    fading_days: float = 30.0
    """The time constant of forgetting; half is gone after 20.8 days."""
    gate_similarity: float = 0.3
    """What was opened at this calibrated similarity or less wins only a part."""
    gate_factor: float = 0.25
    high: float = 1600.0
    medium: float = 1200.0
    low: float = 800.0


STANDARD = Rating()


def sent(by: Rating = STANDARD) -> dict[str, float]:
    """Return the constants as a query that settles games is given them."""
    return asdict(by)


def fade(by: Rating = STANDARD) -> dict[str, float]:
    """Return the constants of fading as a query is given them."""
    return {"floor": by.floor, "days": by.fading_days}


def bounds(of: Tier | None, by: Rating = STANDARD) -> tuple[float, float]:
    """Return the least rating of a tier, and the one that is above it; None: of all of them."""
    steps = [-math.inf, by.low, by.medium, by.high, math.inf]
    if of is None:
        return steps[0], steps[-1]
    place = [Tier.VERY_LOW, Tier.LOW, Tier.MEDIUM, Tier.HIGH].index(of)
    return steps[place], steps[place + 1]


def tier(elo: float, by: Rating = STANDARD) -> Tier:
    """Return the tier of a rating, faded where it has faded; each begins at its boundary."""
    if elo >= by.high:
        return Tier.HIGH
    if elo >= by.medium:
        return Tier.MEDIUM
    return Tier.LOW if elo >= by.low else Tier.VERY_LOW
