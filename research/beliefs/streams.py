"""Streams of evidence about slots, clean and with named kinds of noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from graphmem.rules.formulas import Evidence
from research.beliefs.datasets import Period, Slot

if TYPE_CHECKING:
    import numpy as np

SOURCE_WEIGHTS = (1.0, 1.0, 0.8, 0.6, 0.5)
"""Default weights of the five source types."""
NEVER_TRUE = "a value that was never true"
ASKED = 0.75
"""Fraction of a period after which its value is asked for."""


@dataclass(frozen=True, slots=True)
class Style:
    """How the evidence states a slot's history."""

    repeats: float = 0.0
    """Mean number of mentions of a value beyond the first, at any time while it holds."""
    confidence: tuple[float, float] = (0.6, 0.95)
    """Smallest and greatest confidence; uniformly distributed."""
    weights: tuple[float, ...] = SOURCE_WEIGHTS
    """Source weights, equally likely."""
    ends: bool = False
    """Whether the end of a value is stated too, as evidence against it."""


MIXED = Style()
EQUAL = Style(confidence=(0.8, 0.8), weights=(1.0,))
STRONG = Style(confidence=(0.85, 0.95), weights=(1.0,))
WEAK = Style(confidence=(0.5, 0.8), weights=(0.6, 0.5))


def asked_at(period: Period) -> datetime:
    """Return the time at which the value of this period is asked for."""
    return period.since + ASKED * (period.until - period.since)


def observations(slot: Slot, rng: np.random.Generator, style: Style) -> list[Evidence]:
    """Return the evidence about a slot in order of time, all of it true.

    Each value is stated when it begins to hold and, depending on `style`, again while it holds.
    """
    evidence: list[Evidence] = []
    for period in slot.periods:
        span = period.until - period.since
        again = sorted(rng.random(rng.poisson(style.repeats)))
        evidence += [
            _piece(period.value, 1, period.since + part * span, style, rng)
            for part in (0.0, *again)
        ]
        if style.ends:
            evidence.append(_piece(period.value, -1, period.until, style, rng))
    evidence.sort(key=lambda e: e.at)
    return [replace(e, id=f"{n:05d}") for n, e in enumerate(evidence)]


def with_last(slot: Slot, rng: np.random.Generator, before: Style, last: Style) -> list[Evidence]:
    """Return the evidence, with the last value stated in a style of its own."""
    current = slot.periods[-1]
    earlier = observations(slot, rng, before)
    late = observations(replace(slot, periods=[current]), rng, last)
    kept = [e for e in earlier if e.at < current.since or e.polarity < 0]
    mixed = sorted([*kept, *late], key=lambda e: e.at)
    return [replace(e, id=f"{n:05d}") for n, e in enumerate(mixed)]


def with_rumour(
    slot: Slot, rng: np.random.Generator, before: Style, rumour: Style
) -> list[Evidence]:
    """Return the evidence and one false event, the newest when the last value is asked for."""
    evidence = observations(slot, rng, before)
    current = slot.periods[-1]
    at = current.since + (asked_at(current) - current.since) * 0.999
    false = _piece(_other(slot, current.value, rng), 1, at, rumour, rng)
    return [e for e in evidence if e.at < at] + [replace(false, id=f"{len(evidence):05d}")]


def falsified(
    pieces: Sequence[Evidence],
    slot: Slot,
    share: float,
    rng: np.random.Generator,
    confidence: tuple[float, float] | None = None,
) -> list[Evidence]:
    """Return the evidence, each item with probability `share` stating a false value.

    A false value is one that the slot has at another time, or one that it never has.

    Args:
        pieces: True evidence.
        slot: The slot that the evidence is about.
        share: Probability in [0, 1].
        rng: Random generator.
        confidence: Smallest and greatest confidence of false evidence; None keeps the original one.
    """
    evidence = []
    for e, false in zip(pieces, rng.random(len(pieces)) < share, strict=True):
        if false:
            own = rng.uniform(*confidence) if confidence else e.confidence
            e = replace(e, claim=_other(slot, e.claim, rng), polarity=1, confidence=own)
        evidence.append(e)
    return evidence


def split_late(
    pieces: Sequence[Evidence], share: float, rng: np.random.Generator
) -> tuple[list[Evidence], list[Evidence]]:
    """Return the evidence that arrives at once, and a random share that arrives late."""
    late = rng.random(len(pieces)) < share
    return (
        [e for e, is_late in zip(pieces, late, strict=True) if not is_late],
        [e for e, is_late in zip(pieces, late, strict=True) if is_late],
    )


def shuffled(pieces: Sequence[Evidence], rng: np.random.Generator) -> list[Evidence]:
    """Return the evidence in a random order of arrival."""
    return [pieces[n] for n in rng.permutation(len(pieces))]


def _piece(
    claim: str, polarity: int, at: datetime, style: Style, rng: np.random.Generator
) -> Evidence:
    return Evidence(
        id="",
        claim=claim,
        polarity=polarity,
        confidence=float(rng.uniform(*style.confidence)),
        weight=style.weights[rng.integers(len(style.weights))],
        episode=None,
        at=at,
    )


def _other(slot: Slot, value: str, rng: np.random.Generator) -> str:
    others = sorted({s.value for s in slot.periods} - {value})
    return [*others, NEVER_TRUE][rng.integers(len(others) + 1)]
