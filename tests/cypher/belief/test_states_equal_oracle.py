"""Beliefs listed are what the rules make of their evidence: belief, verdict, initial confidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import NotFoundError
from graphmem.model import AsOf, Belief, Cardinality, Policy
from tests.plugins.belief_oracle import wrong_belief
from tests.plugins.examples import few
from tests.plugins.histories import Archive, Item, accounts
from tests.rules.strategies_histories import long_history, policies

pytestmark = pytest.mark.timeout(3_600)

cardinalities = st.sampled_from(Cardinality)


@few
@given(items=accounts(), policy=policies, cardinality=cardinalities, data=st.data())
def test_a_page_of_beliefs(
    archive: Archive,
    items: list[Item],
    policy: Policy,
    cardinality: Cardinality,
    data: st.DataObject,
) -> None:
    by = policy.model_copy(update={"cardinality": cardinality})
    written = archive.write(items)
    for as_of in (AsOf(), data.draw(written.moments()), data.draw(written.moments())):
        page = written.handle.beliefs.list(as_of=as_of, policy=by, limit=1_000)
        assert {b.id: b.created_at for b in page.beliefs} == written.existed(as_of)
        told = [problem for b in page.beliefs for problem in wrong_belief(written, b, as_of, by)]
        assert told == []
        order = [(b.created_at, b.id) for b in page.beliefs]
        assert order == sorted(order, reverse=True)


@few
@given(items=accounts(), policy=policies, cardinality=cardinalities, data=st.data())
def test_one_belief_is_the_one_on_the_page(
    archive: Archive,
    items: list[Item],
    policy: Policy,
    cardinality: Cardinality,
    data: st.DataObject,
) -> None:
    by = policy.model_copy(update={"cardinality": cardinality})
    written = archive.write(items)
    as_of = data.draw(written.moments())
    page = written.handle.beliefs.list(as_of=as_of, policy=by, limit=1_000)
    listed = {b.id: b for b in page.beliefs}
    for belief_id in written.ids.values():
        if belief_id in listed:
            found = written.handle.beliefs.get(belief_id, as_of=as_of, policy=by)
            assert found == listed[belief_id]
        else:
            with pytest.raises(NotFoundError):
                written.handle.beliefs.get(belief_id, as_of=as_of, policy=by)


@few
@given(items=accounts(), limit=st.integers(1, 3), data=st.data())
def test_the_pages_together_are_the_whole(
    archive: Archive, items: list[Item], limit: int, data: st.DataObject
) -> None:
    written = archive.write(items)
    handle, as_of = written.handle, data.draw(written.moments())
    whole = handle.beliefs.list(limit=1_000, as_of=as_of).beliefs
    found: list[Belief] = []
    page = handle.beliefs.list(limit=limit, as_of=as_of)
    while page.next_cursor is not None:
        assert len(page.beliefs) == limit
        found += page.beliefs
        page = handle.beliefs.list(limit=limit, as_of=as_of, cursor=page.next_cursor)
    assert [*found, *page.beliefs] == list(whole)


@pytest.mark.system
def test_ten_thousand_events_of_few_beliefs(archive: Archive) -> None:
    written = archive.write_long(long_history(10_000, claims=4))
    for cardinality in Cardinality:
        by = Policy(cardinality=cardinality, tau_days=30.0, decay_per_day=0.02)
        page = written.handle.beliefs.list(policy=by)
        assert len(page.beliefs) == 4
        told = [problem for b in page.beliefs for problem in wrong_belief(written, b, AsOf(), by)]
        assert told == []
