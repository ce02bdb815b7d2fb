"""What becomes of an item of short-term memory: kept, compressed, archived; nothing is deleted.

Vector ELO, memory pruning. Fading stops at 800, where LOW begins, so an item that was never rated
lower would be LOW for ever; design §11: never opened since it was compressed, it is archived too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from graphmem.model import Fate, PrunePolicy, Tier

STANDARD = PrunePolicy()
TIERS = (Tier.LOW, Tier.VERY_LOW)
"""Whose items may be pruned."""


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
    """Whether it was opened after it was compressed; of what cannot be, ever."""
    compressible: bool = True
    """It has a text that is longer than its summary: an episode may, one sentence has none."""


class Judged(NamedTuple):
    """What becomes of an item, and why in words."""

    fate: Fate
    reason: str


def judged(case: Case, by: PrunePolicy = STANDARD) -> Judged:
    """Return what becomes of an item; so many days exactly are enough.

    HIGH, MEDIUM and what was never rated are kept, however long nobody touched them.
    """
    if case.tier is None:
        return Judged(Fate.KEEP, "never rated: nothing is known of its use")
    if case.tier is Tier.VERY_LOW:
        return _aged("VERY_LOW and untouched", case.idle_days, by.archive_days, Fate.ARCHIVE)
    if case.tier is not Tier.LOW:
        return Judged(Fate.KEEP, f"{case.tier} is never pruned")
    if case.compressed_days is not None:
        if case.opened_since:
            return Judged(Fate.KEEP, "LOW and compressed, but opened since")
        days = min(case.idle_days, case.compressed_days)
        return _aged("LOW, compressed and untouched", days, by.compressed_days, Fate.ARCHIVE)
    if case.compressible:
        return _aged("LOW and untouched", case.idle_days, by.compress_days, Fate.COMPRESS)
    if case.opened_since:
        return Judged(Fate.KEEP, "LOW, but opened once")
    # As long as it would take with a text.
    days = by.compress_days + by.compressed_days
    return _aged("LOW, never opened and untouched", case.idle_days, days, Fate.ARCHIVE)


def _aged(what: str, days: float, least: float, fate: Fate) -> Judged:
    so_long = f"{what} for {max(days, 0) // 1:.0f} days"
    if days >= least:
        return Judged(fate, f"{so_long}: {least:g} or more")
    return Judged(Fate.KEEP, f"{so_long}: less than {least:g}")
