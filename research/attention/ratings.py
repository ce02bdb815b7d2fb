"""Ratings computed from a simulated log, by the default rule and by variants of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from graphmem.rules.rating import STANDARD, Rating
from research.attention.world import Floats, Ints, Log, SearchRecord


class Counted(Enum):
    """The definition of a game."""

    PAIRS = "pairs"
    """Every pair, as in tests/oracles/rating.py."""
    SEARCHES = "searches"


class Shared(Enum):
    """K of a pair whose sides have different ones; both sides use it, so games are zero-sum."""

    LEAST = "the smaller"
    MEAN = "the mean"
    """As in tests/oracles/rating.py."""
    MOST = "the greater"


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to rate; the default values are those of graphmem."""

    by: Rating = STANDARD
    counted: Counted = Counted.PAIRS
    shared: Shared = Shared.MEAN
    averaged: bool = False
    """Whether a search is one game against the mean of the other side, not one against each item.
    """
    sessions_a_day: float = 5.0
    fades: bool = True
    """Whether tiers are read from decayed ratings."""
    top: float = 0.0
    """Share of the rated items that is HIGH; 0 uses the boundary instead."""

    def times(self, factor: float) -> Variant:
        """Return the same variant with K multiplied by `factor`."""
        by = self.by
        k_new, k_established = factor * by.k_new, factor * by.k_established
        return replace(self, by=replace(by, k_new=k_new, k_established=k_established))


DEFAULT = Variant()


@dataclass(slots=True)
class Ratings:
    """Ratings of all memories; NaN or -1 where a memory has no value."""

    elo: Floats
    games: Ints
    opened: Ints
    """Session in which each memory was last opened."""
    played: Ints
    """Session of each memory's first game."""

    @staticmethod
    def unrated(memories: int) -> Ratings:
        """Return ratings without any games."""
        nothing = np.full(memories, -1)
        none = np.zeros(memories, dtype=np.int64)
        return Ratings(np.full(memories, np.nan), none, nothing.copy(), nothing.copy())

    def copy(self) -> Ratings:
        """Return an independent copy."""
        return Ratings(self.elo.copy(), self.games.copy(), self.opened.copy(), self.played.copy())

    def read(self, sessions: int, by: Variant) -> Floats:
        """Return the ratings after `sessions` sessions, decayed since each memory was last opened.

        Memories that were never opened decay since their first game; they are at most LOW either
        way.
        """
        if not by.fades:
            return self.elo
        since = np.where(self.opened >= 0, self.opened, self.played)
        days = np.maximum(sessions - since, 0) / by.sessions_a_day
        floor = by.by.floor
        left: Floats = floor + (self.elo - floor) * np.exp(-days / by.by.fading_days)
        return np.minimum(self.elo, left)


def fold(
    log: Log, memories: int, by: Variant = DEFAULT, ends: Collection[int] = ()
) -> dict[int, Ratings]:
    """Return the ratings after each number of sessions in `ends`.

    Args:
        log: Searches in order of sessions.
        memories: Number of memories.
        by: The way to rate.
        ends: Numbers of sessions; the log must contain a later session for each of them.
    """
    ratings: dict[int, Ratings] = {}
    now = Ratings.unrated(memories)
    waiting = sorted(ends, reverse=True)
    for asked in log:
        while waiting and asked.session >= waiting[-1]:
            ratings[waiting.pop()] = now.copy()
        if not waiting:
            break
        play(now, asked, by)
    return ratings


def play(now: Ratings, asked: SearchRecord, by: Variant = DEFAULT) -> None:
    """Update the ratings with one search."""
    won, lost = asked.items[asked.opened], asked.items[~asked.opened]
    now.opened[won] = asked.session
    if not len(won) or not len(lost):
        return
    new = asked.items[np.isnan(now.elo[asked.items])]
    now.elo[new], now.played[new] = by.by.initial, asked.session
    points = _points(now, won, lost, asked.similarities[asked.opened], by)
    now.elo[won] += points.sum(axis=1)
    now.elo[lost] -= points.sum(axis=0)
    pairs = by.counted is Counted.PAIRS
    now.games[won] += len(lost) if pairs else 1
    now.games[lost] += len(won) if pairs else 1


def _points(now: Ratings, won: Ints, lost: Ints, similarities: Floats, by: Variant) -> Floats:
    """Return float[n, m], the points that each winner takes from each loser."""
    rule = by.by
    lead = (now.elo[won][:, None] - now.elo[lost]) / rule.scale
    mine, yours = (
        np.where(now.games[side] < rule.established, rule.k_new, rule.k_established)
        for side in (won, lost)
    )
    gate = np.where(similarities <= rule.gate_similarity, rule.gate_factor, 1.0)
    points = gate[:, None] * _shared(mine[:, None], yours, by.shared) / (1 + 10.0**lead)
    return points / max(len(won), len(lost)) if by.averaged else points


def _shared(mine: Floats, yours: Floats, by: Shared) -> Floats:
    if by is Shared.LEAST:
        return np.minimum(mine, yours)
    if by is Shared.MOST:
        return np.maximum(mine, yours)
    return (mine + yours) / 2
