"""What becomes of an item of short-term memory: kept, compressed, archived; nothing is deleted.

Vector ELO, memory pruning. Fading stops at 800, where LOW begins, so an item that was never rated
lower would be LOW for ever; design §11: never opened since it was compressed, it is archived too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from graphmem.model import Tier


class Fate(StrEnum):
    """What becomes of an case."""

    KEEP = "keep"
    COMPRESS = "compress"
    """Its text goes to an archive, and a summary stays in its place."""
    ARCHIVE = "archive"
    """It is hidden; it can be restored."""


@dataclass(frozen=True)
class Terms:
    """After how many days without a touch, design §11; the last one is ours."""

    archive_days: float = 30.0
    """A VERY_LOW item is archived."""
    compress_days: float = 14.0
    """A LOW item is compressed."""
    compressed_days: float = 30.0
    """A LOW item is archived, counted from its compression at the earliest."""


STANDARD = Terms()


@dataclass(frozen=True, slots=True)
class Case:
    """Where an item stands at an instant."""

    tier: Tier | None
    """Of its faded rating; None: never rated."""
    idle_days: float
    """Since it was last written or opened; to be found is no touch. Below 0 when clocks differ."""
    compressed_days: float | None = None
    """Since it was compressed; None: it is not."""
    opened_since: bool = False
    """Whether it was opened after it was compressed."""


class Judged(NamedTuple):
    """What becomes of an item, and why in words."""

    fate: Fate
    reason: str


def judged(case: Case, by: Terms = STANDARD) -> Judged:
    """Return what becomes of an item; so many days exactly are enough.

    HIGH, MEDIUM and what was never rated are kept, however long nobody touched them.
    """
    if case.tier is None:
        return Judged(Fate.KEEP, "never rated: nothing is known of its use")
    if case.tier is Tier.VERY_LOW:
        return _aged("VERY_LOW and untouched", case.idle_days, by.archive_days, Fate.ARCHIVE)
    if case.tier is not Tier.LOW:
        return Judged(Fate.KEEP, f"{case.tier} is never pruned")
    if case.compressed_days is None:
        return _aged("LOW and untouched", case.idle_days, by.compress_days, Fate.COMPRESS)
    if case.opened_since:
        return Judged(Fate.KEEP, "LOW and compressed, but opened since")
    days = min(case.idle_days, case.compressed_days)
    return _aged("LOW, compressed and untouched", days, by.compressed_days, Fate.ARCHIVE)


def _aged(what: str, days: float, least: float, fate: Fate) -> Judged:
    so_long = f"{what} for {max(days, 0) // 1:.0f} days"
    if days >= least:
        return Judged(fate, f"{so_long}: {least:g} or more")
    return Judged(Fate.KEEP, f"{so_long}: less than {least:g}")
