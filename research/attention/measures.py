"""Measures of ratings: the aims of Vector ELO, and the prediction of later openings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from graphmem.rules.rating import Rating
from research.attention.ratings import Ratings, Variant
from research.attention.world import Bools, Floats, Ints, Log, sessions_in

AHEAD = 100
"""Number of following sessions that ratings are compared with; they do not change the ratings."""
TOP = 5
SUMMARY = 0.2
"""Share of a text's tokens that its summary has."""
POINTER = 12.0
"""Size of a pointer in tokens."""
MEDIAN_TOKENS, SPREAD = 200.0, 1.0
"""Text sizes are log-normal: median 200 tokens, mean 330; a tenth is below 56 or above 720."""


class Found(NamedTuple):
    """Measures of the ratings after some sessions; shares in [0, 1]."""

    moved: float
    """Variance of the rating changes in the last tenth of the sessions, over the ratings' variance.
    """
    widened: float
    """Relative change of the ratings' variance in that tenth."""
    behind: float
    """Share of the openings so far whose item is HIGH now."""
    ahead: float
    """Share of the openings in the next 100 sessions whose item is HIGH."""
    known: float
    """Share of those openings whose item was opened before: the upper bound for any rating."""
    top: float
    """Share of the top five results of the next 100 sessions that are HIGH."""
    top_known: float
    """Share of those results that were opened before: the upper bound for any rating."""
    saved: float
    """Share of tokens saved by a pack of everything."""
    saved_rated: float
    """Share of tokens saved by a pack of the rated items."""
    auc: float
    """Probability that, of two rated later results, the opened one has a higher rating than the one
    that is not opened; ties count half."""
    rated: float
    high: float
    medium: float
    low: float
    very_low: float
    """Numbers of items."""
    least: float
    most: float
    """Ratings without decay."""


class Tiers(NamedTuple):
    """Masks of the items in each tier."""

    high: Bools
    medium: Bools
    low: Bools
    very_low: Bools


def measured(log: Log, found: Mapping[int, Ratings], sessions: int, by: Variant) -> Found:
    """Return the measures of ratings.

    Args:
        log: Log that continues for at least AHEAD more sessions.
        found: Ratings after `sessions` sessions, and a tenth of them earlier.
        sessions: Number of sessions.
        by: The way to rate.
    """
    before, now = found[window(sessions)], found[sessions]
    ahead = sessions_in(log, sessions, sessions + AHEAD)
    read = now.read(sessions, by)
    tiers = tiers_of(read, by)
    opened = now.opened >= 0
    past, opens = openings(sessions_in(log, 0, sessions)), openings(ahead)
    tops = np.concatenate([asked.items[:TOP] for asked in ahead])
    results = np.concatenate([asked.items for asked in ahead])
    choices = np.concatenate([asked.opened for asked in ahead])
    rated = ~np.isnan(read)
    seen = rated[results]
    tokens = _tokens(len(read))
    return Found(
        moved=moved(before, now),
        widened=abs(float(np.nanvar(now.elo) / np.nanvar(before.elo)) - 1),
        behind=_share(tiers.high[past]),
        ahead=_share(tiers.high[opens]),
        known=_share(opened[opens]),
        top=_share(tiers.high[tops]),
        top_known=_share(opened[tops]),
        saved=saved(tokens, tiers),
        saved_rated=saved(tokens[rated], Tiers(*(tier[rated] for tier in tiers))),
        auc=auc(read[results[seen]], choices[seen]),
        rated=float(rated.sum()),
        high=float(tiers.high.sum()),
        medium=float(tiers.medium.sum()),
        low=float(tiers.low.sum()),
        very_low=float(tiers.very_low.sum()),
        least=float(np.nanmin(now.elo)),
        most=float(np.nanmax(now.elo)),
    )


def window(sessions: int) -> int:
    """Return the session with which the last tenth of the sessions begins."""
    return sessions - sessions // 10


def tiers_of(read: Floats, by: Variant) -> Tiers:
    """Return the tiers of ratings; NaN belongs to no tier."""
    rule = _boundaries(read, by)
    high = read >= rule.high
    return Tiers(
        high,
        (read >= rule.medium) & ~high,
        (read >= rule.low) & (read < min(rule.medium, rule.high)),
        read < rule.low,
    )


def moved(before: Ratings, now: Ratings) -> float:
    """Return Var(now - before) / Var(now) over the items that were rated before."""
    both = ~np.isnan(before.elo)
    return float(np.var(now.elo[both] - before.elo[both]) / np.var(now.elo[both]))


def saved(tokens: Floats, tiers: Tiers) -> float:
    """Return the share of the tokens that a pack without a budget saves.

    HIGH items are whole, MEDIUM and unrated ones summarised, LOW ones pointers; VERY_LOW is
    omitted.
    """
    parts = np.where(tiers.high, tokens, SUMMARY * tokens)
    parts = np.where(tiers.low, np.minimum(POINTER, tokens), parts)
    return float(1 - parts[~tiers.very_low].sum() / tokens.sum())


def openings(log: Log) -> Ints:
    """Return the opened items, in order."""
    return np.concatenate([asked.items[asked.opened] for asked in log])


def auc(scores: Floats, chosen: Bools) -> float:
    """Return the probability that a chosen item outscores one that is not; ties count half."""
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]
    won, lost = int(chosen.sum()), int((~chosen).sum())
    return float((ranks[chosen].sum() - won * (won + 1) / 2) / (won * lost))


def _boundaries(read: Floats, by: Variant) -> Rating:
    if not by.top:
        return by.by
    return replace(by.by, high=float(np.nanquantile(read, 1 - by.top)))


def _tokens(memories: int) -> Floats:
    rng = np.random.default_rng(0)
    return rng.lognormal(np.log(MEDIAN_TOKENS), SPREAD, memories)


def _share(mask: Bools) -> float:
    return float(mask.mean()) if len(mask) else 0.0
