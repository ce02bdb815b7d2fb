"""Ratings of what searches return: the oracle of the Cypher that folds the search log.

Elo, "The Rating of Chessplayers" (1978), as Vector ELO uses it: what an agent opened has won
against what it left. Ratings annotate results and never rank them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from graphmem.rules.usage import STANDARD, Rating


class Result(NamedTuple):
    """An item that a search returned."""

    item: str
    opened: bool
    """Before its session ended."""
    similarity: float | None = None
    """Calibrated; None: one of the two has no vector."""


class Search(NamedTuple):
    """A search of the log."""

    id: str
    results: Sequence[Result]
    """Each item once, in any order."""


class Standing(NamedTuple):
    """What the future of a rating depends on."""

    elo: float
    games: int = 0
    """Played so far, >= 0."""


class Update(NamedTuple):
    """What a search changed of an item."""

    search: str
    item: str
    old: float
    new: float


class Rated(NamedTuple):
    """What a log leads to."""

    standings: Mapping[str, Standing]
    """By item; an item without a game has none, unless it had one at the start."""
    updates: Sequence[Update]
    """In the order of the log, and of the results of a search."""


def expected(own: float, opponent: float, by: Rating = STANDARD) -> float:
    """Return the share of games, in (0, 1), that a rating is expected to win against another."""
    return 1.0 / (1.0 + math.pow(10.0, (opponent - own) / by.scale))


def faded(elo: float, days: float, by: Rating = STANDARD) -> float:
    """Return what is left of a rating at reading: it fades towards the floor, never up to it.

    Args:
        elo: as the games left it; games themselves are played with this one.
        days: since the item was last opened; one in the future counts as one now.
        by: the constants.
    """
    left = by.floor + (elo - by.floor) * math.exp(-max(days, 0.0) / by.fading_days)
    return min(elo, left)


def gain(
    winner: Standing, loser: Standing, similarity: float | None, by: Rating = STANDARD
) -> float:
    """Return what a result that was opened takes from one that was not, >= 0.

    K is the mean of both sides' K: what one gains the other loses, and together they move as far
    as if each had kept its own. The gate looks at the winner, because opening is what it doubts.

    Args:
        winner: was opened.
        loser: was not.
        similarity: of the winner to the question. Without one there is nothing to doubt it by, and
            an item that waits for its vector would pay for it.
        by: the constants.
    """
    k = (_k(winner.games, by) + _k(loser.games, by)) / 2
    gated = similarity is not None and similarity <= by.gate_similarity
    part = by.gate_factor if gated else 1.0
    return part * k * (1.0 - expected(winner.elo, loser.elo, by))


def played(
    results: Sequence[Result], standings: Mapping[str, Standing], by: Rating = STANDARD
) -> dict[str, Standing]:
    """Return where the items of one search stand after it; empty when it is no game.

    Each opened result plays each that was not opened, all at once: every pair is reckoned from the
    standings before the search. Without a winner or a loser there is no pair, so with fewer than
    two results there is none.

    Args:
        results: each item once.
        standings: before the search; who is not in it begins.
        by: the constants.
    """
    before = {r.item: standings.get(r.item, Standing(by.initial)) for r in results}
    changes: defaultdict[str, list[float]] = defaultdict(list)
    for won in (r for r in results if r.opened):
        for lost in (r for r in results if not r.opened):
            points = gain(before[won.item], before[lost.item], won.similarity, by)
            changes[won.item].append(points)
            changes[lost.item].append(-points)
    # Summed exactly, so that the order of the results leaves no trace.
    return {
        item: Standing(math.fsum([was.elo, *changes[item]]), was.games + len(changes[item]))
        for item, was in before.items()
        if item in changes
    }


def rate(
    searches: Iterable[Search],
    start: Mapping[str, Standing] | None = None,
    by: Rating = STANDARD,
) -> Rated:
    """Return where a log leads.

    Args:
        searches: in the order of the log, each once.
        start: where the part of the log before it led; None: it is the beginning.
        by: the constants.
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
