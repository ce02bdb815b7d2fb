"""How what fits a question is scored: the oracle of cypher/fragments/recall_scores.cypher.

The blend is a weighted sum of lists that were each put on one scale, which keeps how much better
the best is, where reciprocal ranks forget it (Bruch, Gai and Ingber, TOIS 2023).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.model.recall import RecallPolicy, Score
from graphmem.rules.scoring import sent

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Listed:
    """One list of candidates of one kind."""

    points: Mapping[str, float]
    floor: float = 0.0
    """What counts as nothing."""


def names(words: Collection[str], name: str, *, wholly: bool) -> bool:
    """Return whether a question with these words names somebody or something.

    Args:
        words: as `asked` returns them.
        name: lower case.
        wholly: by all words of the name, as what a belief is about; else any is enough, as people
            are called.
    """
    return (all if wholly else any)(word in words for word in name.split(" "))


def floor(points: Mapping[str, float], pool: int) -> float:
    """Return what counts as nothing in a list by meaning.

    A full list ends with what hardly fits any more; in one that is not full there is everything.
    """
    return max(min(points.values()), 0.0) if len(points) >= pool else 0.0


def scaled(lists: Sequence[Listed]) -> list[dict[str, float]]:
    """Return the points of each list on the scale from its floor, 0, to the best of all lists, 1.

    Args:
        lists: by meaning, or by words, of all kinds.
    """
    top = max((p for one in lists for p in one.points.values()), default=0.0)
    return [
        {
            item: (p - one.floor) / (top - one.floor) if p > one.floor else 0.0
            for item, p in one.points.items()
        }
        for one in lists
    ]


def recency(last: datetime, now: datetime, days: float) -> float:
    """Return e^(-age / days), in (0, 1]."""
    return math.exp(-(now - last) / _DAY / days)


def access(counts: Mapping[str, int]) -> dict[str, float]:
    """Return ln(1 + count) as a share of the greatest; what was never opened is left out."""
    most = max(counts.values(), default=0)
    return {item: math.log1p(n) / math.log1p(most) for item, n in counts.items() if n}


def around(
    relevance: Mapping[tuple[str, int], float], share: float, reach: int
) -> dict[tuple[str, int], float]:
    """Return what each turn gets from its neighbours among the candidates.

    Args:
        relevance: of turns, by episode and position.
        share: what a turn gives to its neighbours, in [0, 1).
        reach: turns to each side.
    """
    return {
        (episode, at): math.fsum(
            relevance.get((episode, at + away), 0.0) * share ** abs(away)
            for away in range(-reach, reach + 1)
            if away
        )
        for episode, at in relevance
    }


def believed(relevance: float, belief: float, policy: RecallPolicy) -> float:
    """Return the score of a belief."""
    alpha = sent(policy)["blend"]
    if policy.score is Score.ESPER:
        return float(alpha * relevance + (1 - alpha) * belief)
    return float(relevance * (alpha + (1 - alpha) * belief))
