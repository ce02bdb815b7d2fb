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
from tests.rules.strategies_histories import both_policies, long_history

pytestmark = pytest.mark.timeout(3_600)


@few
@given(
    items=accounts(),
    by=both_policies,
    limit=st.integers(1, 3),
    data=st.data(),
)
def test_pages_of_beliefs_and_each_of_them(
    archive: Archive,
    items: list[Item],
    by: Policy,
    limit: int,
    data: st.DataObject,
) -> None:
    written = archive.write(items)
    beliefs = written.handle.beliefs
    for as_of in (AsOf(), data.draw(written.moments()), data.draw(written.moments())):
        page = beliefs.list(as_of=as_of, policy=by, limit=1_000).beliefs
        assert {b.id: b.created_at for b in page} == written.existed(as_of)
        told = [problem for b in page for problem in wrong_belief(written, b, as_of, by)]
        assert told == []
        order = [(b.created_at, b.id) for b in page]
        assert order == sorted(order, reverse=True)
        listed = {b.id: b for b in page}
        for belief_id in written.ids.values():
            if belief_id in listed:
                assert beliefs.get(belief_id, as_of=as_of, policy=by) == listed[belief_id]
            else:
                with pytest.raises(NotFoundError):
                    beliefs.get(belief_id, as_of=as_of, policy=by)
        found: list[Belief] = []
        some = beliefs.list(limit=limit, as_of=as_of, policy=by)
        while some.next_cursor is not None:
            assert len(some.beliefs) == limit
            found += some.beliefs
            some = beliefs.list(limit=limit, as_of=as_of, policy=by, cursor=some.next_cursor)
        assert [*found, *some.beliefs] == list(page)


@pytest.mark.system
def test_ten_thousand_events_of_few_beliefs(archive: Archive) -> None:
    written = archive.write_long(long_history(10_000, claims=4))
    for cardinality in Cardinality:
        by = Policy(cardinality=cardinality, tau_days=30.0, decay_per_day=0.02)
        page = written.handle.beliefs.list(policy=by)
        assert len(page.beliefs) == 4
        told = [problem for b in page.beliefs for problem in wrong_belief(written, b, AsOf(), by)]
        assert told == []
