"""Scores of recall candidates: the oracle of graphmem/rules/ranking.py.

The blend is a weighted sum of lists that are each scaled first. It keeps the distance between the
best results, which reciprocal ranks discard (Bruch, Gai and Ingber, TOIS 2023).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.model.recall import RecallPolicy, Score
from graphmem.rules.scoring import score_params

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Listed:
    """One list of candidates of one kind."""

    points: Mapping[str, float]
    floor: float = 0.0
    """Points that count as zero."""


def names(words: Collection[str], name: str, *, wholly: bool) -> bool:
    """Return whether the words of a question contain a name.

    Args:
        words: Words as `asked` returns them.
        name: Name in lower case.
        wholly: Whether all words of the name are required, as for the subject of a belief; if
            false, any word is enough, as for people.
    """
    return (all if wholly else any)(word in words for word in name.split(" "))


def floor(points: Mapping[str, float], pool: int) -> float:
    """Return the points that count as zero in a vector list.

    A full list ends with candidates that hardly match; a list that is not full contains everything.
    """
    return max(min(points.values()), 0.0) if len(points) >= pool else 0.0


def scaled(lists: Sequence[Listed]) -> list[dict[str, float]]:
    """Return the points of each list, scaled from its floor (0) to the best of all lists (1).

    Args:
        lists: Either the vector lists or the BM25 lists of all kinds.
    """
    top = max((p for listed in lists for p in listed.points.values()), default=0.0)
    return [
        {
            item: (p - listed.floor) / (top - listed.floor) if p > listed.floor else 0.0
            for item, p in listed.points.items()
        }
        for listed in lists
    ]


def recency(last: datetime, now: datetime, days: float) -> float:
    """Return e^(-age / days), in (0, 1]."""
    return math.exp(-(now - last) / _DAY / days)


def access(counts: Mapping[str, int]) -> dict[str, float]:
    """Return ln(1 + count) relative to the greatest; items that were never opened are left out."""
    max_count = max(counts.values(), default=0)
    return {item: math.log1p(n) / math.log1p(max_count) for item, n in counts.items() if n}


def around(
    relevance: Mapping[tuple[str, int], float], share: float, reach: int
) -> dict[tuple[str, int], float]:
    """Return the score that each turn receives from its neighbours among the candidates.

    Args:
        relevance: Relevance of turns, by episode and position.
        share: Share of its relevance that a turn passes to its neighbours, in [0, 1).
        reach: Number of turns on each side.
    """
    return {
        (episode, at): math.fsum(
            relevance.get((episode, at + away), 0.0) * share ** abs(away)
            for away in range(-reach, reach + 1)
            if away
        )
        for episode, at in relevance
    }


def session(
    relevance: Mapping[tuple[str, int], float], share: float
) -> dict[tuple[str, int], float]:
    """Return by how much each turn is raised towards the best one of its episode.

    Args:
        relevance: Relevance of turns, by episode and position.
        share: Share of the distance, in [0, 1].
    """
    best: dict[str, float] = {}
    for (episode, _), own in relevance.items():
        best[episode] = max(own, best.get(episode, own))
    return {place: share * (best[place[0]] - own) for place, own in relevance.items()}


def believed(relevance: float, belief: float, policy: RecallPolicy) -> float:
    """Return the score of a belief."""
    alpha = score_params(policy)["blend"]
    if policy.score is Score.ESPER:
        return float(alpha * relevance + (1 - alpha) * belief)
    return float(relevance * (alpha + (1 - alpha) * belief))
