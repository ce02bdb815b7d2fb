"""How alive a belief is, read at any pair of times, is what the rules make of its life."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.model import AsOf, BeliefBite, EventType, RecallPolicy
from graphmem.operations import recall
from graphmem.ports import run_now
from graphmem.rules.formulas import Evidence
from tests.plugins.examples import few
from tests.plugins.graph import Look
from tests.plugins.lives import Glance, Shelf, Sign, Story, stories, wrong_life
from tests.rules.strategies_histories import BASE, make_evidence

pytestmark = pytest.mark.timeout(3_600)

LN4 = math.log(4)


@pytest.fixture
def shelf(plain: Handle, look: Look) -> Shelf:
    """A tenant of many stories, to whose clock none of them lies in the future."""
    return Shelf(plain, look)


@few
@given(story=stories(), data=st.data())
def test_a_page_of_beliefs(shelf: Shelf, story: Story, data: st.DataObject) -> None:
    lived = shelf.write(story)
    for as_of in (AsOf(), data.draw(lived.moments()), data.draw(lived.moments())):
        handle = lived.written.handle
        page = handle.beliefs.list(as_of=as_of, limit=1_000, include_archived=True).beliefs
        assert {b.id: b.status for b in page} == {b.id: lived.status(b.id, as_of) for b in page}
        found = {b.id: b.vitality for b in page}
        told = {
            name: wrong_life(found.get(belief_id), lived.expected(belief_id, as_of))
            for name, belief_id in lived.written.ids.items()
        }
        assert {name: problems for name, problems in told.items() if problems} == {}
        for one in page:
            assert handle.beliefs.get(one.id, as_of=as_of).vitality == one.vitality
        for hidden in (False, True):
            listed = [one for one in page if hidden or one.status != "archived"]
            want = recall.RecallRequest(as_of=as_of, include_hidden=hidden, vitality=True)
            asked = recall.recall(handle._state.context, "alice works on", want, RecallPolicy())
            bites = [bite.belief for bite in run_now(asked).bites if isinstance(bite, BeliefBite)]
            lives = {one.id: (one.status, one.vitality) for one in bites}
            assert lives.keys() == {one.id for one in listed}
            for one in listed:
                status, life = lives[one.id]
                assert (status, wrong_life(life, one.vitality)) == (one.status, [])


@few
@given(story=stories())
def test_the_order_of_arrival_changes_nothing(shelf: Shelf, story: Story) -> None:
    first, second = shelf.write(story), shelf.write(story, backwards=True)
    for name, belief_id in first.written.ids.items():
        one = first.written.handle.beliefs.get(belief_id)
        other = second.written.handle.beliefs.get(second.written.ids[name])
        # Bit by bit: sums are taken in the order of events, whatever that of arrival.
        assert (one.vitality, one.status) == (other.vitality, other.status)
    assert first.written.handle.admin.verify().wrong == ()


def told(*items: Evidence, inferred: str = "", **marks: tuple[float, ...]) -> Story:
    """Evidence, and flags and looks by the days on which they happened; all about one claim."""
    flags = [
        Sign(f"f{n}", "atlas", BASE + timedelta(days=day), EventType.FLAG)
        for n, day in enumerate(marks.get("flags", ()))
    ]
    looks = [
        Glance(f"a{n}", "atlas", BASE + timedelta(days=day), unseen=False)
        for n, day in enumerate(marks.get("looks", ()))
    ]
    return Story(items, frozenset(inferred.split()), tuple(looks), tuple(flags))


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        # A flag comes after a retrieval of its instant.
        (
            told(make_evidence("e1"), make_evidence("e2", day=3), flags=(3,)),
            {"stability_days": 15 * (1 + LN4)},
        ),
        # What happens at one instant counts once.
        (
            told(make_evidence("e1"), looks=(3, 9, 9, 9), flags=(10, 10)),
            {"stability_days": 15 * (1 + LN4) * (1 + math.log(7))},
        ),
        # Age counts from the first word, not from the last retrieval.
        (
            told(make_evidence("e1"), make_evidence("e2", day=995)),
            {"gate": 0.42, "retrieval": math.exp(-5 / (30 * (1 + math.log(996))))},
        ),
        (
            told(make_evidence("e1", day=996), looks=(999,)),
            {"gate": 0.1 * math.log(2) * math.log(5), "storage": 1},
        ),
        # Direct evidence flags the belief, without a FLAG event.
        (
            told(make_evidence("e1"), make_evidence("e2", day=3, polarity=-1)),
            {"prior": 0.8333333333, "contradiction": 0.8, "stability_days": 15.0},
        ),
        # What somebody else refutes was only inferred all the same.
        (
            told(make_evidence("e1"), make_evidence("e2", polarity=-1), inferred="e1"),
            {"derived": True},
        ),
        (told(make_evidence("e1"), make_evidence("e2"), inferred="e1"), {"derived": False}),
        (told(make_evidence("e1", polarity=-1)), {"derived": False, "stability_days": 15.0}),
    ],
)
def test_by_hand(shelf: Shelf, story: Story, expected: dict[str, float]) -> None:
    lived = shelf.write(story)
    belief_id = lived.written.ids["atlas"]
    found = lived.written.handle.beliefs.get(belief_id).vitality
    assert wrong_life(found, lived.expected(belief_id, AsOf())) == []
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected)


def test_a_look_from_a_scope_that_is_not_seen_does_not_count(plain: Handle) -> None:
    belief = plain.believe("The pool should have 4 threads")
    before = plain.beliefs.get(belief).vitality
    plain.expand(belief.belief_id)
    plain.scope("alice").expand(belief.belief_id)
    plain.usage.flush()
    alice, bob = (plain.scope(name).beliefs.get(belief).vitality for name in ("alice", "bob"))
    own = plain.beliefs.get(belief).vitality
    assert before is not None
    assert alice is not None
    assert bob is not None
    assert own is not None
    assert before.last_access_at is None
    assert alice.last_access_at > bob.last_access_at == own.last_access_at  # type: ignore[operator]
