"""The sequential test is what the rules make of the evidence: verdict, trail, pooling, what if."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import NotFoundError
from graphmem.model import AsOf, EvidenceKind, HypotheticalEvidence
from graphmem.rules.read_options import position_cursor
from tests.plugins.belief_oracle import verdict_of, wrong_trail
from tests.plugins.examples import few
from tests.plugins.histories import Archive, Item, accounts
from tests.rules.strategies_histories import (
    BASE,
    CLAIMS,
    END,
    EPISODES,
    instants,
    long_history,
    strengths,
)

pytestmark = pytest.mark.timeout(3_600)

supposed = st.lists(
    st.builds(
        HypotheticalEvidence,
        kind=st.sampled_from(EvidenceKind),
        strength=strengths,
        at=st.none() | instants,
        episode_id=st.sampled_from(EPISODES),
    ),
    max_size=4,
)
accounts_of_one = accounts(CLAIMS[:1])


@few
@given(items=accounts_of_one, pooled=st.booleans(), data=st.data())
def test_the_whole_trail(
    archive: Archive, items: list[Item], data: st.DataObject, *, pooled: bool
) -> None:
    written = archive.write(items)
    for belief_id in written.ids.values():
        for as_of in (AsOf(), data.draw(written.moments()), data.draw(written.moments())):
            if belief_id not in written.existed(as_of):
                with pytest.raises(NotFoundError):
                    written.handle.evidence_for(belief_id, pooled=pooled, as_of=as_of)
                continue
            trail = written.handle.evidence_for(belief_id, pooled=pooled, as_of=as_of)
            expected = verdict_of(written, belief_id, as_of, pooled=pooled)
            assert wrong_trail(trail, expected) == []


@few
@given(items=accounts(), pooled=st.booleans(), extra=supposed, data=st.data())
def test_what_would_be(
    archive: Archive,
    items: list[Item],
    extra: list[HypotheticalEvidence],
    data: st.DataObject,
    *,
    pooled: bool,
) -> None:
    written = archive.write(items)
    there = [e.id for e in written.evidence]
    without = data.draw(st.lists(st.sampled_from([*there, "never"]), max_size=4))
    as_of = data.draw(written.moments())
    for belief_id in written.existed(as_of):
        own = {e.id for e in written.evidence if e.claim == belief_id}
        mine = [one for one in without if one in own]
        if mine != without:
            with pytest.raises(NotFoundError, match="without: "):
                written.handle.beliefs.what_if(belief_id, extra, without=without, as_of=as_of)
        trail = written.handle.beliefs.what_if(
            belief_id, extra, without=mine, pooled=pooled, as_of=as_of
        )
        expected = verdict_of(written, belief_id, as_of, extra, mine, pooled=pooled)
        assert wrong_trail(trail, expected) == []
        assert [line.event_id for line in trail.lines if line.supposed] == [
            step.id for step in expected.steps if step.id.startswith("supposed")
        ]


@few
@given(items=accounts_of_one, start=st.integers(0, 6), limit=st.integers(1, 6))
def test_a_page_of_the_trail(archive: Archive, items: list[Item], start: int, limit: int) -> None:
    written = archive.write(items)
    for belief_id in written.ids.values():
        whole = written.handle.evidence_for(belief_id)
        page = written.handle.evidence_for(belief_id, cursor=position_cursor(start), limit=limit)
        assert page.lines == whole.lines[start : start + limit]
        assert (page.verdict, page.needed) == (whole.verdict, whole.needed)


@pytest.mark.parametrize("draw", range(3))
def test_a_busy_trail(archive: Archive, draw: int) -> None:
    """Few episodes, in which many pieces say the same at different times."""
    written = archive.write_long(long_history(90, claims=1, draw=draw), episodes=3)
    [belief_id] = written.ids.values()
    for pooled in (False, True):
        for hours in (5, 40, 90):
            as_of = AsOf(valid=BASE + timedelta(hours=hours))
            trail = written.handle.evidence_for(belief_id, pooled=pooled, as_of=as_of)
            assert wrong_trail(trail, verdict_of(written, belief_id, as_of, pooled=pooled)) == []


@pytest.mark.system
@pytest.mark.parametrize("pooled", [False, True])
def test_ten_thousand_pieces(archive: Archive, *, pooled: bool) -> None:
    written = archive.write_long(long_history(10_000, claims=1), episodes=300)
    [belief_id] = written.ids.values()
    for valid in (END, END - timedelta(days=800)):
        as_of = AsOf(valid=valid)
        trail = written.handle.evidence_for(
            belief_id, pooled=pooled, cursor=position_cursor(50), limit=1_000, as_of=as_of
        )
        expected = verdict_of(written, belief_id, as_of, pooled=pooled)
        assert wrong_trail(trail, expected, start=50, limit=1_000) == []
