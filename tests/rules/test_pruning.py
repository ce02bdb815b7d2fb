"""Pruning: exact boundaries, and what is never pruned."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Tier
from graphmem.upkeep import PruneAction, PrunePolicy
from graphmem.upkeep.rules import PruneCase, PruneVerdict, prune_verdict

KEEP, COMPRESS, ARCHIVE = PruneAction.KEEP, PruneAction.COMPRESS, PruneAction.ARCHIVE
BEFORE_14, BEFORE_30, BEFORE_44 = (math.nextafter(days, 0) for days in (14, 30, 44))

days = st.floats(-10, 10_000)
cases = st.builds(
    PruneCase,
    tier=st.sampled_from([None, *Tier]),
    idle_days=days,
    compressed_days=st.none() | days,
    opened_since=st.booleans(),
    compressible=st.booleans(),
)


@pytest.mark.parametrize(
    ("tier", "idle", "fate"),
    [
        (Tier.VERY_LOW, 30, ARCHIVE),
        (Tier.VERY_LOW, BEFORE_30, KEEP),
        (Tier.VERY_LOW, 0, KEEP),
        (Tier.VERY_LOW, -1, KEEP),
        (Tier.LOW, 14, COMPRESS),
        (Tier.LOW, BEFORE_14, KEEP),
        (Tier.LOW, 9_999, COMPRESS),
        (Tier.MEDIUM, 9_999, KEEP),
        (Tier.HIGH, 9_999, KEEP),
        (None, 9_999, KEEP),
    ],
)
def test_the_days_themselves_are_enough(tier: Tier | None, idle: float, fate: PruneAction) -> None:
    assert prune_verdict(PruneCase(tier, idle)).action is fate


@pytest.mark.parametrize(
    ("idle", "compressed", "opened", "fate"),
    [
        (44, 30, False, ARCHIVE),
        (44, BEFORE_30, False, KEEP),
        (9_999, 1, False, KEEP),
        (30, 90, False, ARCHIVE),
        (BEFORE_30, 90, False, KEEP),
        (9_999, 9_999, True, KEEP),
    ],
)
def test_a_low_item_that_nobody_opened_since_it_was_compressed_goes_in_the_end(
    idle: float, compressed: float, fate: PruneAction, *, opened: bool
) -> None:
    """Compressed late, it has its thirty days all the same."""
    found = prune_verdict(PruneCase(Tier.LOW, idle, compressed, opened))
    assert found.action is fate


@pytest.mark.parametrize(
    ("idle", "opened", "fate", "reason"),
    [
        (44, False, ARCHIVE, "LOW, never opened and untouched for 44 days: 44 or more"),
        (BEFORE_44, False, KEEP, "LOW, never opened and untouched for 43 days: less than 44"),
        (9_999, True, KEEP, "LOW, but opened once"),
    ],
)
def test_a_sentence_waits_as_long_as_a_text_and_is_never_compressed(
    idle: float, fate: PruneAction, reason: str, *, opened: bool
) -> None:
    found = prune_verdict(PruneCase(Tier.LOW, idle, None, opened, compressible=False))
    assert found == PruneVerdict(fate, reason)


def test_what_is_very_low_is_archived_compressed_or_not() -> None:
    assert prune_verdict(PruneCase(Tier.VERY_LOW, 30, 1, opened_since=True)).action is ARCHIVE


@pytest.mark.parametrize(
    ("case", "fate", "reason"),
    [
        (PruneCase(Tier.VERY_LOW, 31.9), ARCHIVE, "VERY_LOW and untouched for 31 days: 30 or more"),
        (PruneCase(Tier.LOW, 13.9), KEEP, "LOW and untouched for 13 days: less than 14"),
        (PruneCase(Tier.LOW, -0.5), KEEP, "LOW and untouched for 0 days: less than 14"),
        (
            PruneCase(Tier.LOW, 60, 44),
            ARCHIVE,
            "LOW, compressed and untouched for 44 days: 30 or more",
        ),
        (
            PruneCase(Tier.LOW, 60, 44, opened_since=True),
            KEEP,
            "LOW and compressed, but opened since",
        ),
        (PruneCase(Tier.HIGH, 60), KEEP, "HIGH is never pruned"),
        (PruneCase(Tier.MEDIUM, 60), KEEP, "MEDIUM is never pruned"),
        (PruneCase(None, 60), KEEP, "never rated: its use is unknown"),
    ],
)
def test_the_reason_in_words(case: PruneCase, fate: PruneAction, reason: str) -> None:
    assert prune_verdict(case) == PruneVerdict(fate, reason)


def test_other_terms() -> None:
    terms = PrunePolicy(archive_days=3, compress_days=1.5, compressed_days=2)
    assert prune_verdict(PruneCase(Tier.VERY_LOW, 3), terms).action is ARCHIVE
    assert prune_verdict(PruneCase(Tier.LOW, 1.5), terms) == PruneVerdict(
        COMPRESS, "LOW and untouched for 1 days: 1.5 or more"
    )
    assert prune_verdict(PruneCase(Tier.LOW, 5, 2), terms).action is ARCHIVE


@given(cases)
def test_only_what_is_low_or_lower_is_ever_touched(case: PruneCase) -> None:
    found = prune_verdict(case)
    if case.tier not in (Tier.LOW, Tier.VERY_LOW) or case.idle_days < 14:
        assert found.action is KEEP
    if found.action is COMPRESS:
        assert case.compressed_days is None
        assert case.compressible
    assert found.reason


@given(cases, st.floats(0, 1_000))
def test_waiting_longer_never_brings_anything_back(case: PruneCase, more: float) -> None:
    aged = PruneCase(
        case.tier,
        case.idle_days + more,
        None if case.compressed_days is None else case.compressed_days + more,
        case.opened_since,
        case.compressible,
    )
    order = [KEEP, COMPRESS, ARCHIVE]
    assert order.index(prune_verdict(aged).action) >= order.index(prune_verdict(case).action)
