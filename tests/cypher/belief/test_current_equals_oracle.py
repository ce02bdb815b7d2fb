"""What a slot holds is what the rules make of its evidence: ONE and MANY, at any pair of times."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import AsOf, Cardinality, Combine, Policy, Slot
from tests.plugins.belief_oracle import wrong_slot
from tests.plugins.examples import few, sample
from tests.plugins.histories import PREDICATE, SUBJECT, Archive, Item, Undo, Written, accounts
from tests.rules.strategies_histories import BASE, END, long_history, make_evidence, policies

pytestmark = pytest.mark.timeout(3_600)


@few
@given(items=accounts(), policy=policies, limit=st.integers(1, 4), data=st.data())
def test_values_that_compete_or_coexist(
    archive: Archive, items: list[Item], policy: Policy, limit: int, data: st.DataObject
) -> None:
    written = archive.write(items)
    moments = data.draw(st.lists(written.moments(), min_size=3, max_size=3))
    for as_of, cardinality in product((AsOf(), *moments), Cardinality):
        slot = read(written, as_of, policy, cardinality)
        assert wrong_slot(written, slot, as_of) == []
    for cardinality in Cardinality:
        whole = read(written, AsOf(), policy, cardinality)
        best = read(written, AsOf(), policy, cardinality, limit=limit)
        assert best.candidates == whole.candidates[:limit]
        assert best.total == whole.total == len(whole.candidates)


@pytest.mark.parametrize("draw", sample(range(4), 4))
def test_a_busy_slot(archive: Archive, draw: int) -> None:
    """Every value is affirmed and refuted many times, sometimes at one instant."""
    written = archive.write_long(long_history(200, draw=draw), episodes=5)
    for tau_days, decay, combine in product((None, 0.5, 30.0), (0.0, 5.0), Combine):
        policy = Policy(tau_days=tau_days, decay_per_day=decay, combine=combine, kappa=0.5)
        for hours in (10, 200):
            as_of = AsOf(valid=BASE + timedelta(hours=hours))
            for cardinality in Cardinality:
                slot = read(written, as_of, policy, cardinality)
                assert wrong_slot(written, slot, as_of) == []


def test_a_retraction_speaks_of_nothing_while_the_one_between_is_unknown(archive: Archive) -> None:
    """The newest word leads to the evidence by way of a retraction that is not written yet."""
    told = make_evidence("e1", day=0)
    plain, later, between = (
        Undo("r1", "e1", BASE),
        Undo("r3", "r2", BASE + timedelta(days=9)),
        Undo("r2", "e1", BASE + timedelta(days=1)),
    )
    written = archive.write([told, plain, later, between])
    counts = []
    for undo in (plain, later, between):
        as_of = AsOf(known=written.recorded[written.prefix + undo.id])
        slot = read(written, as_of, Policy(), Cardinality.ONE)
        assert wrong_slot(written, slot, as_of) == []
        counts.append(slot.total)
    assert counts == [0, 0, 1]


@pytest.mark.system
@pytest.mark.parametrize("claims", [4, 500])
def test_ten_thousand_events(archive: Archive, claims: int) -> None:
    written = archive.write_long(long_history(10_000, claims=claims))
    for tau_days, decay, combine in product((None, 30.0), (0.0, 0.02), Combine):
        policy = Policy(tau_days=tau_days, decay_per_day=decay, combine=combine)
        for as_of in (AsOf(), AsOf(valid=END - timedelta(days=800))):
            for cardinality in Cardinality:
                slot = read(written, as_of, policy, cardinality)
                assert wrong_slot(written, slot, as_of) == []


def read(
    written: Written, as_of: AsOf, policy: Policy, cardinality: Cardinality, limit: int = 1_000
) -> Slot:
    by = policy.model_copy(update={"cardinality": cardinality})
    return written.handle.current(SUBJECT, PREDICATE, as_of=as_of, policy=by, limit=limit)
