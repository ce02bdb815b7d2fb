"""Clusters of near passages: stars, each around the passage that most episodes gather about.

Connected components alone grow by chains into clusters whose ends have nothing in common. A
star's members all lie near its centre, so a statement made of the centre is near all of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cluster:
    """A centre and what lies near it; indexes of passages."""

    centre: int
    members: tuple[int, ...]
    """The centre first, then the others, nearest first."""


def stars(near: Sequence[Mapping[int, float]], episodes: Sequence[int], least: int) -> list[Cluster]:
    """Return disjoint stars of at least `least` episodes, the largest first.

    Greedy: the centre with most episodes around it that are still free, then the one most of
    whose neighbours are, then by the sum of their similarities, then the smaller index; its free
    neighbours are taken with it. What is taken away by one star and left by another does not
    depend on what became of the stars before, so a run that was interrupted after some of them
    goes on with the same others. Nearly linear in the number of edges.

    Args:
        near: of each passage, its neighbours and how similar they are; either side may name the
            other.
        episodes: of each passage, which episode it is of.
        least: episodes of a star, its centre's included.
    """
    around = _both_ways(near)
    taken = [False] * len(around)

    def worth(i: int) -> tuple[int, int, float, int]:
        free = [j for j in around[i] if not taken[j]]
        counted = len({episodes[i], *(episodes[j] for j in free)})
        return -counted, -len(free), -sum(sorted(around[i][j] for j in free)), i

    heap = [worth(i) for i in range(len(around)) if around[i] or least == 1]
    heapq.heapify(heap)
    found: list[Cluster] = []
    while heap:
        best = heapq.heappop(heap)
        i = best[3]
        if taken[i]:
            continue
        now = worth(i)
        if now != best:
            # Neighbours were taken meanwhile: it goes back to its new place.
            heapq.heappush(heap, now)
            continue
        if -now[0] < least:
            break
        free = [j for j in around[i] if not taken[j]]
        members = (i, *sorted(free, key=lambda j: (-around[i][j], j)))
        for j in members:
            taken[j] = True
        found.append(Cluster(i, members))
    return found


def _both_ways(near: Sequence[Mapping[int, float]]) -> list[dict[int, float]]:
    around: list[dict[int, float]] = [{} for _ in near]
    for i, neighbours in enumerate(near):
        for j, similarity in neighbours.items():
            if i != j:
                around[i][j] = max(similarity, around[i].get(j, similarity))
                around[j][i] = around[i][j] = max(around[i][j], around[j].get(i, similarity))
    return around
