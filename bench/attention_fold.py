"""Ratings over a made-up log, by the shipped rule and by others it is compared with."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from bench.attention_world import Asked, Floats, Ints, Log
from graphmem.rules.usage import STANDARD, Rating


class Counted(Enum):
    """What counts as a game."""

    PAIRS = "pairs"
    """As in tests/oracles/rating.py."""
    SEARCHES = "searches"


class Shared(Enum):
    """What K a pair has whose sides have different ones; the same for both, so zero-sum."""

    LEAST = "the smaller"
    MEAN = "the mean"
    """As in tests/oracles/rating.py."""
    MOST = "the greater"


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to rate; the first is the shipped one."""

    by: Rating = STANDARD
    counted: Counted = Counted.PAIRS
    shared: Shared = Shared.MEAN
    averaged: bool = False
    """A search is one game against the mean of the other side, not one against each."""
    sessions_a_day: float = 5.0
    fades: bool = True
    """Tiers are read from faded ratings."""
    top: float = 0.0
    """This share of the rated is HIGH instead of those from the boundary on; 0: the boundary."""

    def times(self, factor: float) -> Variant:
        """Return the same with another K."""
        by = self.by
        k_new, k_established = factor * by.k_new, factor * by.k_established
        return replace(self, by=replace(by, k_new=k_new, k_established=k_established))


SHIPPED = Variant()


@dataclass(slots=True)
class Ratings:
    """Where all memories stand; NaN and -1 where there is nothing."""

    elo: Floats
    games: Ints
    opened: Ints
    """The session in which it was last opened."""
    played: Ints
    """The session of its first game."""

    @staticmethod
    def unrated(memories: int) -> Ratings:
        """Return the beginning."""
        nothing = np.full(memories, -1)
        none = np.zeros(memories, dtype=np.int64)
        return Ratings(np.full(memories, np.nan), none, nothing.copy(), nothing.copy())

    def copy(self) -> Ratings:
        """Return the same, to be kept."""
        return Ratings(self.elo.copy(), self.games.copy(), self.opened.copy(), self.played.copy())

    def read(self, sessions: int, by: Variant) -> Floats:
        """Return the ratings at the end of so many sessions, faded since the last opening.

        What was never opened fades since its first game; it is LOW at most either way.
        """
        if not by.fades:
            return self.elo
        since = np.where(self.opened >= 0, self.opened, self.played)
        days = np.maximum(sessions - since, 0) / by.sessions_a_day
        floor = by.by.floor
        left: Floats = floor + (self.elo - floor) * np.exp(-days / by.by.fading_days)
        return np.minimum(self.elo, left)


def fold(
    log: Log, memories: int, by: Variant = SHIPPED, ends: Collection[int] = ()
) -> dict[int, Ratings]:
    """Return the ratings at the ends of so many sessions.

    Args:
        log: in order of sessions.
        memories: how many there are.
        by: how to rate.
        ends: numbers of sessions, each followed by another in the log.
    """
    found: dict[int, Ratings] = {}
    now = Ratings.unrated(memories)
    waiting = sorted(ends, reverse=True)
    for asked in log:
        while waiting and asked.session >= waiting[-1]:
            found[waiting.pop()] = now.copy()
        if not waiting:
            break
        play(now, asked, by)
    return found


def play(now: Ratings, asked: Asked, by: Variant = SHIPPED) -> None:
    """Settle one search."""
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
    """Return float[n, m], what each winner takes from each loser."""
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
