"""Flip sets are as small as the rules find them, and do flip the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import AsOf, FlipSet, VerdictStatus
from graphmem.model.policies import SprtParameters
from graphmem.rules.formulas import Evidence
from tests.oracles import flips
from tests.oracles import sequential as sequential_oracle
from tests.plugins.belief_oracle import verdict_of
from tests.plugins.examples import few
from tests.plugins.histories import Archive, Item, Written, accounts
from tests.rules.strategies_histories import CLAIMS, long_history, make_evidence, strengths

pytestmark = pytest.mark.timeout(3_600)

EASY = SprtParameters(alpha=0.4, beta=0.3)
SYMMETRIC = SprtParameters(alpha=0.2, beta=0.2)
"""Bounds so near that one event decides and the status changes often."""
bounds = st.sampled_from([SprtParameters(), SYMMETRIC, EASY])


def told(name: str, strength: float, day: float, polarity: int) -> Evidence:
    """Return one testimony, `day` days after the first."""
    return replace(make_evidence(name, day=day, polarity=polarity), strength=strength)


def series(*tellings: float) -> list[Item]:
    """Return testimonies a day apart; a negative strength refutes."""
    return [told(f"e{n}", abs(s), n, 1 if s > 0 else -1) for n, s in enumerate(tellings)]


@st.composite
def trials(draw: st.DrawFn) -> list[Item]:
    """Draw testimonies at a few instants, most of them to one side."""
    side = draw(st.sampled_from([1, -1]))
    drawn = draw(st.lists(st.tuples(strengths, st.integers(0, 6), st.integers(0, 2)), max_size=16))
    return [
        told(f"e{n}", strength, day, side if turn else -side)
        for n, (strength, day, turn) in enumerate(drawn)
    ]


def with_bounds(handle: Handle, chosen: SprtParameters) -> Handle:
    """Return the same handle on a deployment that has chosen other bounds of the test."""
    context = handle._state.context
    services = replace(
        context.services, settings=context.services.settings.model_copy(update={"sprt": chosen})
    )
    return type(handle)(replace(handle._state, context=replace(context, services=services)))


def wrong_flips(written: Written, belief_id: str, as_of: AsOf, chosen: SprtParameters) -> list[str]:
    """Return in what the flip set of a belief is not one, or is not smallest."""
    handle = with_bounds(written.handle, chosen)
    found = handle.beliefs.flip_set(belief_id, as_of=as_of)
    evidence = [e for e in written.of(belief_id, as_of.known) if e.at <= (as_of.valid or e.at)]
    status = sequential_oracle.test(evidence, 0.5, chosen).status
    wrong = []
    if (found.status, found.evidence) != (status, len(evidence)):
        wrong.append(f"{found.status} of {found.evidence}, not {status} of {len(evidence)}")
    expected = flips.flip_set(evidence, chosen)
    if expected is None or found.event_ids is None:
        agree = (expected, found.event_ids, found.becomes) == (None, None, None)
        return wrong if agree else [*wrong, str(found)]
    if len(found.event_ids) != len(expected):
        wrong.append(f"{found.event_ids}, not {expected}")
    return wrong + unflipped(found, evidence, chosen)


def unflipped(found: FlipSet, evidence: Sequence[Evidence], test: SprtParameters) -> list[str]:
    """Return in what a set does not do what it says, or is out of order."""
    ids = found.event_ids or ()
    left = [e for e in evidence if e.id not in ids]
    becomes = sequential_oracle.test(left, 0.5, test).status
    order = [e.id for e in sorted(evidence, key=lambda e: (e.at, e.id)) if e.id in ids]
    wrong = [] if becomes == found.becomes != found.status else [f"becomes {becomes}"]
    return wrong if list(ids) == order else [*wrong, f"{ids} for {order}"]


@few
@given(items=trials(), chosen=bounds)
@example(items=series(0.9, 0.9, -0.9, -0.9, -0.9, 0.6, 0.9, 0.9, 0.9), chosen=SprtParameters())
@example(items=series(0.9, 0.9, 0.9, -0.9, -0.9, -0.9, -0.8, 0.55, 0.9), chosen=SprtParameters())
# At one instant as much speaks for it as against it: nothing of that needs to be left out.
@example(
    items=[
        told("e0", 0.9, 0, 1),
        *(told(f"e{n}", 0.9, 1, 1 if n < 3 else -1) for n in range(1, 5)),
        told("e5", 0.7, 2, 1),
    ],
    chosen=SprtParameters(),
)
# A boundary is met exactly.
@example(items=series(0.6, 0.8, 0.9, 2 / 3, 0.6), chosen=SprtParameters())
@example(items=series(-0.6, -0.6, -0.8, -0.9, -19 / 37), chosen=SprtParameters())
@example(items=series(0.6, 2 / 3, 0.6, -0.6, 0.8), chosen=SprtParameters())
# What comes last says nothing.
@example(items=series(-2 / 3, 0.85, -2 / 3, -0.55, -0.85, 0.5), chosen=SprtParameters())
def test_no_smaller_set_flips(archive: Archive, items: list[Item], chosen: SprtParameters) -> None:
    written = archive.write(items)
    for belief_id in written.ids.values():
        assert wrong_flips(written, belief_id, AsOf(), chosen) == []


@few
@given(items=accounts(CLAIMS[:1]), chosen=bounds, data=st.data())
def test_at_any_pair_of_times(
    archive: Archive, items: list[Item], chosen: SprtParameters, data: st.DataObject
) -> None:
    written = archive.write(items)
    for belief_id in written.ids.values():
        as_of = data.draw(written.moments())
        if belief_id in written.existed(as_of):
            assert wrong_flips(written, belief_id, as_of, chosen) == []
        else:
            with pytest.raises(NotFoundError):
                written.handle.beliefs.flip_set(belief_id, as_of=as_of)


@pytest.mark.parametrize("side", [1, -1])
def test_a_long_history(archive: Archive, side: int) -> None:
    items = [replace(e, polarity=side * e.polarity) for e in long_history(500, claims=1)]
    written = archive.write_long(items)
    [belief_id] = written.ids.values()
    assert wrong_flips(written, belief_id, AsOf(), SprtParameters()) == []
    assert wrong_flips(written, belief_id, AsOf(), EASY) == []


def test_more_evidence_than_is_looked_at_is_refused(archive: Archive) -> None:
    written = archive.write_long(long_history(1_001, claims=1))
    [belief_id] = written.ids.values()
    with pytest.raises(InvalidInputError, match=r"1,001 pieces .* at most 1,000"):
        written.handle.beliefs.flip_set(belief_id)
    earlier = AsOf(valid=sorted(e.at for e in written.evidence)[-2])
    assert written.handle.beliefs.flip_set(belief_id, as_of=earlier).evidence == 1_000


def test_without_any_evidence_there_is_no_flip_set(archive: Archive) -> None:
    made = archive.scope("bare").believe("The pool should have 4 threads")
    found = archive.scope("bare").beliefs.flip_set(made)
    assert (found.status, found.evidence) == (VerdictStatus.ACCUMULATING, 0)
    assert found.event_ids is None
    assert found.becomes is None


def test_what_is_left_out_is_what_the_trail_shows(archive: Archive) -> None:
    written = archive.write(series(0.9, 0.6, -0.9, 0.85, 0.9))
    [belief_id] = written.ids.values()
    found = written.handle.beliefs.flip_set(belief_id)
    assert verdict_of(written, belief_id, AsOf(), pooled=False).status is found.status
    without = written.handle.beliefs.what_if(belief_id, without=found.event_ids or ())
    assert without.verdict.status is found.becomes
