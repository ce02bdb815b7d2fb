"""What is measured of ratings: Vector ELO's aims, and whether they tell what is opened next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bench.attention_fold import Ratings, Variant
from bench.attention_world import Bools, Floats, Ints, Log, within
from graphmem.rules.usage import Rating

AHEAD = 100
"""Sessions to come that ratings are held against; they do not change them."""
TOP = 5
SUMMARY = 0.2
"""What is left of a text that is summarised."""
POINTER = 12.0
"""Tokens."""
MEDIAN_TOKENS, SPREAD = 200.0, 1.0
"""Texts are log-normal: 200 tokens in the middle, 330 on average, a tenth below 56 or above 720."""


class Found(NamedTuple):
    """What ratings are worth after some sessions; shares in [0, 1]."""

    moved: float
    """Variance of how far ratings moved in the last tenth of the sessions, over their variance."""
    widened: float
    """How far the variance of the ratings changed in that tenth, over what it was."""
    behind: float
    """Openings so far whose item is HIGH now."""
    ahead: float
    """Openings of the next 100 sessions whose item is HIGH."""
    known: float
    """Openings of the next 100 sessions whose item was opened before: no rating does better."""
    top: float
    """Top five results of the next 100 sessions that are HIGH."""
    top_known: float
    """Top five results of the next 100 sessions that were opened before: no rating does better."""
    saved: float
    """Tokens that a pack of everything saves."""
    saved_rated: float
    """Tokens that a pack of what is rated saves."""
    auc: float
    """How often, of two rated results to come, one opened and one not, the opened one is rated
    higher; half of the ties."""
    rated: float
    high: float
    medium: float
    low: float
    very_low: float
    """How many there are."""
    least: float
    most: float
    """Ratings, not faded."""


class Tiers(NamedTuple):
    """Which items are in a tier."""

    high: Bools
    medium: Bools
    low: Bools
    very_low: Bools


def measured(log: Log, found: Mapping[int, Ratings], sessions: int, by: Variant) -> Found:
    """Return what ratings are worth.

    Args:
        log: goes on for AHEAD sessions at least.
        found: the ratings after so many sessions, and a tenth of them earlier.
        sessions: how many they are.
        by: how it was rated.
    """
    before, now = found[window(sessions)], found[sessions]
    ahead = within(log, sessions, sessions + AHEAD)
    read = now.read(sessions, by)
    tiers = tiers_of(read, by)
    opened = now.opened >= 0
    past, opens = openings(within(log, 0, sessions)), openings(ahead)
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
    """Return where the last tenth of the sessions begins."""
    return sessions - sessions // 10


def tiers_of(read: Floats, by: Variant) -> Tiers:
    """Return the tiers of ratings; NaN is in none."""
    rule = _boundaries(read, by)
    high = read >= rule.high
    return Tiers(
        high,
        (read >= rule.medium) & ~high,
        (read >= rule.low) & (read < min(rule.medium, rule.high)),
        read < rule.low,
    )


def moved(before: Ratings, now: Ratings) -> float:
    """Return Var(now - before) / Var(now) over what was rated before."""
    both = ~np.isnan(before.elo)
    return float(np.var(now.elo[both] - before.elo[both]) / np.var(now.elo[both]))


def saved(tokens: Floats, tiers: Tiers) -> float:
    """Return the share of the tokens that a pack without a budget saves.

    HIGH is whole, MEDIUM and what was never rated summarised, LOW a pointer, VERY_LOW left out.
    """
    parts = np.where(tiers.high, tokens, SUMMARY * tokens)
    parts = np.where(tiers.low, np.minimum(POINTER, tokens), parts)
    return float(1 - parts[~tiers.very_low].sum() / tokens.sum())


def openings(log: Log) -> Ints:
    """Return what was opened, in order."""
    return np.concatenate([asked.items[asked.opened] for asked in log])


def auc(scores: Floats, chosen: Bools) -> float:
    """Return how often a chosen one has the higher score than one that is not; ties half."""
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


def _share(of: Bools) -> float:
    return float(of.mean()) if len(of) else 0.0
