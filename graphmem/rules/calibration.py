"""Cosines made comparable between models: 0 for unrelated texts, 1 for the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.errors import InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ROUNDING = 1e-6
"""More than cosines reckoned in 32-bit floats can be off."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A model's mean cosines over unrelated texts, one per pair of roles."""

    mu_document: float
    """Between two documents."""
    mu_query: float
    """Between a query and a document."""


def calibrated(cosine: float, mu: float) -> float:
    """Return (cosine - mu) / (1 - mu): 0 at the mean of unrelated texts, 1 at equality.

    Args:
        cosine: in [-1, 1].
        mu: mean cosine of unrelated texts, < 1.

    Twin: every query that compares with a calibrated threshold converts by `raw` first.
    """
    return (cosine - mu) / (1.0 - mu)


def raw(calibrated: float, mu: float) -> float:
    """Return the cosine whose calibrated value this is; the inverse of `calibrated`."""
    return mu + calibrated * (1.0 - mu)


def from_neo4j(score: float) -> float:
    """Return the cosine in [-1, 1] behind Neo4j's cosine score, which is (1 + cosine) / 2."""
    return 2.0 * score - 1.0


def to_neo4j(cosine: float) -> float:
    """Return Neo4j's score of a cosine; the inverse of `from_neo4j`."""
    return (1.0 + cosine) / 2.0


def mean_cosine(
    rows: npt.NDArray[np.float32], others: npt.NDArray[np.float32] | None = None
) -> float:
    """Return the mean cosine over pairs of unrelated texts.

    Args:
        rows: float32[n, d], unit rows.
        others: float32[m, d], unit rows to pair with; None pairs `rows` among themselves, each
            with all but itself.

    Raises:
        InvalidInputError: there is no pair.
    """
    pairs = len(rows) * (len(rows) - 1) if others is None else len(rows) * len(others)
    if not pairs:
        raise InvalidInputError("A mean cosine needs at least one pair of texts.")
    # The sum of all dot products is the dot product of the sums.
    left = rows.astype("float64")
    right = left if others is None else others.astype("float64")
    total = float(left.sum(axis=0) @ right.sum(axis=0))
    if others is None:
        total -= float((left * left).sum())
    return total / pairs
