"""Reciprocal rank fusion: the oracle of graphmem/rules/ranking.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each id from 1, best score first; equal scores share a rank.

    The rank counts all better scores, as in a race: 1, 2, 2, 4.
    """
    places: dict[float, int] = {}
    for place, score in enumerate(sorted(scores.values(), reverse=True), 1):
        places.setdefault(score, place)
    return {item: places[score] for item, score in scores.items()}


def reciprocal_rank(
    lists: Sequence[tuple[float, Mapping[str, float]]], k: int
) -> list[tuple[str, float]]:
    """Return ids with the sum of weight / (k + rank) over the lists that contain them, best first.

    Equal sums are ordered by id.

    Args:
        lists: Weight and scores by id, for each list.
        k: Constant > 0; 60 in Cormack, Clarke and Büttcher (SIGIR 2009).
    """
    sums: dict[str, float] = {}
    for weight, scores in lists:
        for item, rank in ranks(scores).items():
            sums[item] = sums.get(item, 0.0) + weight / (k + rank)
    return sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))
