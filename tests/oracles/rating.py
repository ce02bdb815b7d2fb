"""Ratings of search results: the oracle of the Cypher that folds the search log.

Elo, "The Rating of Chessplayers" (1978), as Vector ELO uses it: an opened result wins against those
not opened. Ratings annotate results and never rank them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from graphmem.rules.rating import STANDARD, Rating


class Result(NamedTuple):
    """An item that a search returned."""

    item: str
    opened: bool
    """Whether it was opened before its session ended."""
    similarity: float | None = None
    """Calibrated similarity; None if one of the two has no vector."""


class Search(NamedTuple):
    """A search of the log."""

    id: str
    results: Sequence[Result]
    """The results, each item once, in any order."""


class Standing(NamedTuple):
    """State of a rating: everything that its future depends on."""

    elo: float
    games: int = 0
    """Number of games so far, >= 0."""


class Update(NamedTuple):
    """Rating change of an item by a search."""

    search: str
    item: str
    old: float
    new: float


class Rated(NamedTuple):
    """Result of rating a log."""

    standings: Mapping[str, Standing]
    """Ratings by item; items without a game are missing unless they had a rating at the start."""
    updates: Sequence[Update]
    """Changes in the order of the log, and of the results of a search."""


def expected(own: float, opponent: float, by: Rating = STANDARD) -> float:
    """Return the share of games, in (0, 1), that a rating is expected to win against another."""
    return 1.0 / (1.0 + math.pow(10.0, (opponent - own) / by.scale))


def faded(elo: float, days: float, by: Rating = STANDARD) -> float:
    """Return a rating as it is read: it decays towards the floor, and never rises.

    Args:
        elo: Rating after the games; games themselves use this value.
        days: Days since the item was last opened; a future opening counts as now.
        by: The constants.
    """
    left = by.floor + (elo - by.floor) * math.exp(-max(days, 0.0) / by.fading_days)
    return min(elo, left)


def gain(
    winner: Standing, loser: Standing, similarity: float | None, by: Rating = STANDARD
) -> float:
    """Return the points, >= 0, that an opened result takes from one that was not opened.

    K is the mean of both sides' K: one side gains what the other loses, and together they move as
    far as if each had kept its own K. The gate applies to the winner, because it doubts the
    opening.

    Args:
        winner: Rating of the opened result.
        loser: Rating of the other result.
        similarity: Similarity of the winner to the question. None never gates: an item that waits
            for its vector must not be penalised.
        by: The constants.
    """
    k = (_k(winner.games, by) + _k(loser.games, by)) / 2
    gated = similarity is not None and similarity <= by.gate_similarity
    part = by.gate_factor if gated else 1.0
    return part * k * (1.0 - expected(winner.elo, loser.elo, by))


def played(
    results: Sequence[Result], standings: Mapping[str, Standing], by: Rating = STANDARD
) -> dict[str, Standing]:
    """Return the ratings of one search's items after it; empty if it is not a game.

    Each opened result plays against each one that was not opened, all at once: every pair uses the
    ratings before the search. Without a winner or a loser, and so with fewer than two results,
    no pair exists.

    Args:
        results: The results, each item once.
        standings: Ratings before the search; missing items get the initial rating.
        by: The constants.
    """
    before = {r.item: standings.get(r.item, Standing(by.initial)) for r in results}
    changes: defaultdict[str, list[float]] = defaultdict(list)
    winners = sum(r.opened for r in results)
    # By search, a search is one game, however many results it returned.
    part = 1 / max(winners, len(results) - winners, 1) if by.by_search else 1.0
    for won in (r for r in results if r.opened):
        for lost in (r for r in results if not r.opened):
            points = part * gain(before[won.item], before[lost.item], won.similarity, by)
            changes[won.item].append(points)
            changes[lost.item].append(-points)
    # Summed exactly, so that the order of the results has no effect.
    return {
        item: Standing(
            math.fsum([was.elo, *changes[item]]),
            was.games + (1 if by.by_search else len(changes[item])),
        )
        for item, was in before.items()
        if item in changes
    }


def rate(
    searches: Iterable[Search], start: Mapping[str, Standing] | None = None, by: Rating = STANDARD
) -> Rated:
    """Return the ratings after a log.

    Args:
        searches: Searches in the order of the log, each once.
        start: Ratings after the preceding part of the log; None if there is no such part.
        by: The constants.
    """
    standings = dict(start or {})
    updates: list[Update] = []
    for search in searches:
        for item, after in played(search.results, standings, by).items():
            old = standings.get(item, Standing(by.initial)).elo
            updates.append(Update(search.id, item, old, after.elo))
            standings[item] = after
    return Rated(standings, updates)


def _k(games: int, by: Rating) -> float:
    return by.k_new if games < by.established else by.k_established
