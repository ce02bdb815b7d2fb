"""Metrics of probabilities and answers: Brier score, calibration error, accuracy, intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Numbers: TypeAlias = "NDArray[np.float64] | Sequence[float]"

BINS = 10
RESAMPLES = 400


def brier(probabilities: Numbers, truths: Numbers) -> float:
    """Return the mean squared difference of probabilities from the truth (0 or 1)."""
    return float(np.mean((np.asarray(probabilities) - np.asarray(truths)) ** 2))


def accuracy(probabilities: Numbers, truths: Numbers) -> float:
    """Return the share on the right side of 1/2; values equal to 1/2 after rounding count half."""
    p, true = np.asarray(probabilities), np.asarray(truths)
    return float(np.mean(np.where(np.isclose(p, 0.5), 0.5, (p > 0.5) == (true > 0.5))))


def reliability(
    probabilities: Numbers, truths: Numbers, bins: int = BINS
) -> list[tuple[float, float, int]]:
    """Return (mean probability, share of true ones, number) of each non-empty bin of equal width.

    A probability of 1 belongs to the last bin; rounding errors do not move a value over an edge.
    """
    p, true = np.asarray(probabilities, float), np.asarray(truths, float)
    place = np.minimum((np.round(p, 9) * bins).astype(int), bins - 1)
    return [
        (float(p[place == b].mean()), float(true[place == b].mean()), int((place == b).sum()))
        for b in np.unique(place)
    ]


def ece(probabilities: Numbers, truths: Numbers, bins: int = BINS) -> float:
    """Return the expected calibration error: |mean probability - share true|, weighted by bin."""
    curve = reliability(probabilities, truths, bins)
    return sum(n * abs(p - true) for p, true, n in curve) / sum(n for *_, n in curve)


def interval(hits: Numbers, totals: Numbers, seed: int) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of sum(hits) / sum(totals).

    Args:
        hits: Hits of each slot or claim, >= 0; slots and claims are drawn as a whole.
        totals: Number of questions about each of them, >= 0.
        seed: Seed of the random draws.
    """
    h, n = np.asarray(hits, float), np.asarray(totals, float)
    drawn = np.random.default_rng(seed).multinomial(len(h), np.full(len(h), 1 / len(h)), RESAMPLES)
    low, high = np.percentile((drawn @ h) / (drawn @ n), (2.5, 97.5))
    return float(low), float(high)


def span(low: float, high: float, digits: int = 1) -> str:
    """Return an interval of shares as text, in percent."""
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}"


def ratio(value: float, baseline: float) -> float | None:
    """Return value / baseline to three digits; None if the baseline is 0."""
    return round(value / baseline, 3) if baseline else None


def percent(part: float, whole: float) -> float | None:
    """Return part / whole in percent to one digit; None if the whole is 0."""
    return round(100 * part / whole, 1) if whole else None
