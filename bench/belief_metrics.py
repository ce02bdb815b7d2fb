"""How good probabilities and answers are: Brier score, calibration error, accuracy, intervals."""

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
    """Return the mean squared distance of probabilities from what was true (0 or 1)."""
    return float(np.mean((np.asarray(probabilities) - np.asarray(truths)) ** 2))


def accuracy(probabilities: Numbers, truths: Numbers) -> float:
    """Return the share on the right side of 1/2; 1/2 itself, but for rounding, counts half."""
    p, true = np.asarray(probabilities), np.asarray(truths)
    return float(np.mean(np.where(np.isclose(p, 0.5), 0.5, (p > 0.5) == (true > 0.5))))


def reliability(
    probabilities: Numbers, truths: Numbers, bins: int = BINS
) -> list[tuple[float, float, int]]:
    """Return (mean probability, share true, number) of each bin of equal width that is not empty.

    A probability of 1 falls into the last bin; rounding errors do not move one over an edge.
    """
    p, true = np.asarray(probabilities, float), np.asarray(truths, float)
    place = np.minimum((np.round(p, 9) * bins).astype(int), bins - 1)
    return [
        (float(p[place == b].mean()), float(true[place == b].mean()), int((place == b).sum()))
        for b in np.unique(place)
    ]


def ece(probabilities: Numbers, truths: Numbers, bins: int = BINS) -> float:
    """Return the expected calibration error: |mean probability - share true|, weighted by bin."""
    found = reliability(probabilities, truths, bins)
    return sum(n * abs(p - true) for p, true, n in found) / sum(n for *_, n in found)


def interval(hits: Numbers, totals: Numbers, seed: int) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of sum(hits) / sum(totals).

    Args:
        hits: of each slot or claim, which are drawn as a whole; >= 0.
        totals: questions about each of them, >= 0.
        seed: of the draws.
    """
    h, n = np.asarray(hits, float), np.asarray(totals, float)
    drawn = np.random.default_rng(seed).multinomial(len(h), np.full(len(h), 1 / len(h)), RESAMPLES)
    low, high = np.percentile((drawn @ h) / (drawn @ n), (2.5, 97.5))
    return float(low), float(high)


def span(low: float, high: float, digits: int = 1) -> str:
    """Return an interval of shares as people read it, in percent."""
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}"


def ratio(value: float, baseline: float) -> float | None:
    """Return value / baseline to three digits, None where the baseline is 0."""
    return round(value / baseline, 3) if baseline else None


def percent(part: float, whole: float) -> float | None:
    """Return part / whole in percent to one digit, None where the whole is 0."""
    return round(100 * part / whole, 1) if whole else None
