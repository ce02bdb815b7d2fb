"""Pruning: exact boundaries, and what is never pruned."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Tier
from graphmem.rules import rating
from graphmem.upkeep import PruneAction, PruneCandidate, PrunePolicy
from graphmem.upkeep.rules import PruneCase, PruneVerdict, prune_place, prune_verdict
from tests.oracles.rating import Result, Standing, faded, played
from tests.plugins.examples import examples

KEEP, COMPRESS, ARCHIVE = PruneAction.KEEP, PruneAction.COMPRESS, PruneAction.ARCHIVE
BEFORE_14, BEFORE_30 = (math.nextafter(days, 0) for days in (14, 30))

days = st.floats(-10, 10_000)
cases = st.builds(
    PruneCase,
    tier=st.sampled_from([None, *Tier]),
    idle_days=days,
    compressed=st.booleans(),
    compressible=st.booleans(),
    pinned=st.booleans(),
    kind=st.sampled_from(["Episode", "Episode", "Memory", "Belief"]),
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
        (Tier.LOW, BEFORE_30, COMPRESS),
        (Tier.LOW, 30, ARCHIVE),
        (Tier.LOW, 9_999, ARCHIVE),
        (Tier.MEDIUM, 9_999, KEEP),
        (Tier.HIGH, 9_999, KEEP),
        (None, 9_999, KEEP),
    ],
)
def test_the_days_themselves_are_enough(tier: Tier | None, idle: float, fate: PruneAction) -> None:
    assert prune_verdict(PruneCase(tier, idle)).action is fate


@pytest.mark.parametrize(
    ("case", "fate"),
    [
        (PruneCase(Tier.LOW, BEFORE_30, compressed=True), KEEP),
        (PruneCase(Tier.LOW, 30, compressed=True), ARCHIVE),
        (PruneCase(Tier.LOW, BEFORE_30, compressible=False), KEEP),
        (PruneCase(Tier.LOW, 30, compressible=False), ARCHIVE),
        (PruneCase(Tier.VERY_LOW, 30, compressed=True), ARCHIVE),
    ],
)
def test_what_is_low_goes_thirty_days_after_its_last_touch(
    case: PruneCase, fate: PruneAction
) -> None:
    """Whether it was opened after its compression or not: so the memory is bounded."""
    assert prune_verdict(case).action is fate


@pytest.mark.parametrize(
    ("case", "fate", "reason"),
    [
        (PruneCase(Tier.VERY_LOW, 31.9), ARCHIVE, "VERY_LOW and untouched for 31 days: 30 or more"),
        (PruneCase(Tier.LOW, 13.9), KEEP, "LOW and untouched for 13 days: less than 14"),
        (PruneCase(Tier.LOW, -0.5), KEEP, "LOW and untouched for 0 days: less than 14"),
        (PruneCase(Tier.LOW, 60), ARCHIVE, "LOW and untouched for 60 days: 30 or more"),
        (PruneCase(Tier.LOW, 60, pinned=True), KEEP, "pinned"),
        (PruneCase(Tier.LOW, 60, kind="Memory"), KEEP, "a memory is never pruned"),
        (PruneCase(Tier.VERY_LOW, 60, kind="Belief"), KEEP, "a belief is never pruned"),
        (PruneCase(Tier.HIGH, 60), KEEP, "HIGH is never pruned"),
        (PruneCase(Tier.MEDIUM, 60), KEEP, "MEDIUM is never pruned"),
        (PruneCase(None, 60), KEEP, "never rated: its use is unknown"),
    ],
)
def test_the_reason_in_words(case: PruneCase, fate: PruneAction, reason: str) -> None:
    assert prune_verdict(case) == PruneVerdict(fate, reason)


def test_other_terms() -> None:
    terms = PrunePolicy(archive_days=3, compress_days=1.5, low_archive_days=2)
    assert prune_verdict(PruneCase(Tier.VERY_LOW, 3), terms).action is ARCHIVE
    assert prune_verdict(PruneCase(Tier.LOW, 1.5), terms) == PruneVerdict(
        COMPRESS, "LOW and untouched for 1 days: 1.5 or more"
    )
    assert prune_verdict(PruneCase(Tier.LOW, 2), terms).action is ARCHIVE


@given(cases)
def test_only_short_term_memory_that_is_low_is_ever_touched(case: PruneCase) -> None:
    found = prune_verdict(case)
    if (
        case.tier not in (Tier.LOW, Tier.VERY_LOW)
        or case.idle_days < 14
        or case.pinned
        or case.kind != "Episode"
    ):
        assert found.action is KEEP
    if found.action is COMPRESS:
        assert case.compressible
        assert not case.compressed
    assert found.reason


@given(cases, st.floats(0, 1_000))
def test_waiting_longer_never_brings_anything_back(case: PruneCase, more: float) -> None:
    aged = replace(case, idle_days=case.idle_days + more)
    order = [KEEP, COMPRESS, ARCHIVE]
    assert order.index(prune_verdict(aged).action) >= order.index(prune_verdict(case).action)


HISTORIES = examples(1_000, 10_000, 10_000)


def test_in_no_history_is_anything_stated_planned() -> None:
    """Searches are rated, time passes, and all that was written is judged every few days."""
    draw = random.Random(20_261_124)
    fates: Counter[tuple[str, PruneAction]] = Counter()
    for _ in range(HISTORIES):
        kinds = draw.choices(["Memory", "Belief", "Episode"], k=8)
        names = [f"{kind}{n}" for n, kind in enumerate(kinds)]
        pinned = {name for name in names if draw.random() < 0.1}
        standings: dict[str, Standing] = {}
        touched = dict.fromkeys(names, 0.0)
        compressed: set[str] = set()
        day = 0.0
        for _ in range(draw.randint(1, 6)):
            day += draw.expovariate(1 / 20)
            for _ in range(draw.randint(0, 4)):
                shown = draw.sample(names, k=draw.randint(2, 8))
                results = [Result(name, draw.random() < 0.3, draw.random()) for name in shown]
                standings.update(played(results, standings))
                touched |= {one.item: day for one in results if one.opened}
            for name, kind in zip(names, kinds, strict=True):
                rated, idle = standings.get(name), day - touched[name]
                case = PruneCase(
                    tier=None if rated is None else rating.tier(faded(rated.elo, idle)),
                    idle_days=idle,
                    compressed=name in compressed,
                    pinned=name in pinned,
                    kind=kind,
                )
                fate = prune_verdict(case).action
                fates[kind, fate] += 1
                if fate is not KEEP:
                    assert kind == "Episode"
                    assert name not in pinned
                    assert rated is not None
                if fate is COMPRESS:
                    compressed.add(name)
    # All of them are common, so the histories can show what they should.
    assert {key for key, n in fates.items() if n > HISTORIES / 10} == {
        ("Memory", KEEP),
        ("Belief", KEEP),
        ("Episode", KEEP),
        ("Episode", COMPRESS),
        ("Episode", ARCHIVE),
    }


CANDIDATE = PruneCandidate(
    kind="Episode",
    id="ep_1",
    text="",
    elo=500,
    tier=Tier.VERY_LOW,
    idle_days=40,
    returned_days=None,
    action=ARCHIVE,
    reason="",
    sha256="",
)


@given(
    st.lists(st.tuples(st.floats(0, 1_000), st.one_of(st.none(), st.floats(-1, 400))), max_size=9)
)
def test_what_was_not_returned_for_90_days_precedes_what_was(
    items: list[tuple[float, float | None]],
) -> None:
    known = [
        CANDIDATE.model_copy(update={"id": f"ep_{n}", "elo": elo, "returned_days": returned})
        for n, (elo, returned) in enumerate(items)
    ]
    ordered = sorted(known, key=prune_place)
    is_seen = [one.returned_days is not None and one.returned_days < 90 for one in ordered]
    assert is_seen == sorted(is_seen)
    for seen in (False, True):
        elos = [one.elo for one, mine in zip(ordered, is_seen, strict=True) if mine is seen]
        assert elos == sorted(elos)
