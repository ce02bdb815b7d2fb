"""What becomes of an item of short-term memory: kept, compressed, archived; nothing is deleted.

Vector ELO, memory pruning. Fading stops at 800, where LOW begins, so an item that was never rated
lower would be LOW for ever; design §11: never opened since it was compressed, it is archived too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from graphmem.model import PruneAction, PrunePolicy, Tier

STANDARD = PrunePolicy()
TIERS = (Tier.LOW, Tier.VERY_LOW)
"""Whose items may be pruned."""


@dataclass(frozen=True, slots=True)
class PruneCase:
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


class PruneVerdict(NamedTuple):
    """What becomes of an item, and why in words."""

    fate: PruneAction
    reason: str


def judged(case: PruneCase, by: PrunePolicy = STANDARD) -> PruneVerdict:
    """Return what becomes of an item; so many days exactly are enough.

    HIGH, MEDIUM and what was never rated are kept, however long nobody touched them.
    """
    if case.tier is None:
        return PruneVerdict(PruneAction.KEEP, "never rated: nothing is known of its use")
    if case.tier is Tier.VERY_LOW:
        return _aged("VERY_LOW and untouched", case.idle_days, by.archive_days, PruneAction.ARCHIVE)
    if case.tier is not Tier.LOW:
        return PruneVerdict(PruneAction.KEEP, f"{case.tier} is never pruned")
    if case.compressed_days is not None:
        if case.opened_since:
            return PruneVerdict(PruneAction.KEEP, "LOW and compressed, but opened since")
        days = min(case.idle_days, case.compressed_days)
        return _aged("LOW, compressed and untouched", days, by.compressed_days, PruneAction.ARCHIVE)
    if case.compressible:
        return _aged("LOW and untouched", case.idle_days, by.compress_days, PruneAction.COMPRESS)
    if case.opened_since:
        return PruneVerdict(PruneAction.KEEP, "LOW, but opened once")
    # As long as it would take with a text.
    days = by.compress_days + by.compressed_days
    return _aged("LOW, never opened and untouched", case.idle_days, days, PruneAction.ARCHIVE)


def _aged(what: str, days: float, least: float, fate: PruneAction) -> PruneVerdict:
    so_long = f"{what} for {max(days, 0) // 1:.0f} days"
    if days >= least:
        return PruneVerdict(fate, f"{so_long}: {least:g} or more")
    return PruneVerdict(PruneAction.KEEP, f"{so_long}: less than {least:g}")
