"""recall among what has tags, a source, a time or a scope, and as of a pair of times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import AsOf, BeliefBite, Handle, NewMemory, RecallPolicy, TurnBite
from graphmem.errors import InvalidInputError
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
SMALL = RecallPolicy(pool=5)
"""Its searches fetch 25."""
ABOUT = "the release train"


def ids(memory: Handle, **asked: Any) -> set[str]:
    return {bite.id for bite in memory.recall(ABOUT, limit=1_000, **asked).bites}


@pytest.fixture
def filled(memory: Handle) -> Handle:
    """Thirty memories of ten days with tags and sources, all about the same."""
    memory.remember_many(
        NewMemory(
            content=f"{ABOUT} {unlike(n)}",
            at=MAY + DAY * (n % 10),
            tags=(f"t{n % 2}", f"u{n % 3}"),
            source=f"s{n % 5}",
        )
        for n in range(30)
    )
    return memory


def test_recall_narrows_as_list_does(filled: Handle) -> None:
    narrowings: tuple[dict[str, Any], ...] = (
        {"tags": ["t1"]},
        {"tags": ["t1", "u2"]},
        {"tags": ["t1", "nobody has it"]},
        {"source": "s3"},
        {"source": "S3"},
        {"since": MAY + 4 * DAY},
        {"until": MAY + 4 * DAY},
        {"since": MAY + 2 * DAY, "until": MAY + 5 * DAY, "tags": ["t0"], "source": "s2"},
    )
    for narrowing in narrowings:
        for asked in (narrowing, narrowing | {"as_of": AsOf(valid=MAY + 6 * DAY)}):
            listed = filled.memories.list(limit=1_000, **asked).memories
            assert ids(filled, **asked) == {one.id for one in listed}, asked


def test_a_tag_is_found_however_many_others_fit_better(memory: Handle) -> None:
    memory.remember_many([f"{ABOUT} leaves {unlike(n, about=ABOUT)}" for n in range(40)])
    rare = memory.remember(unlike(99), tags=["rare"], source="diary")
    for narrowing in ({"tags": ["rare"]}, {"source": "diary"}):
        assert ids(memory, policy=SMALL, **narrowing) == {rare.memory_id}


def test_what_was_known_is_found_however_much_came_later(memory: Handle, look: Look) -> None:
    old = memory.remember_many([unlike(n) for n in range(4)])
    [row] = look.rows("RETURN datetime.realtime('Z') AS now")
    known = row["now"].to_native()
    memory.remember_many([f"{ABOUT} leaves {unlike(n, about=ABOUT)}" for n in range(40)])
    found = ids(memory, policy=SMALL, as_of=AsOf(known=known))
    assert found == {one.memory_id for one in old}


def test_what_was_superseded_since_was_current_then(memory: Handle) -> None:
    old = str(memory.remember(f"{ABOUT} leaves at noon", at=MAY).memory_id)
    new = memory.supersede(old, f"{ABOUT} leaves at nine", at=MAY + 2 * DAY).newer_id
    assert ids(memory) == {new}
    assert ids(memory, as_of=AsOf(valid=MAY + DAY)) == {old}
    assert ids(memory, as_of=AsOf(valid=MAY + 3 * DAY)) == {new}
    assert ids(memory, as_of=AsOf(valid=MAY - DAY)) == set()
    [superseded] = (
        bite
        for bite in memory.recall(ABOUT, include_hidden=True, as_of=AsOf(valid=MAY + 3 * DAY)).bites
        if bite.id == old
    )
    assert superseded.memory.head_ids == (new,)  # type: ignore[union-attr]


def test_what_was_deprecated_then_is_shown_as_deprecated(memory: Handle) -> None:
    old = str(memory.remember(ABOUT, at=MAY).memory_id)
    memory.memories.deprecate(old, at=MAY + 2 * DAY)
    for day, status in ((1, "current"), (3, "deprecated")):
        as_of = AsOf(valid=MAY + day * DAY)
        [bite] = memory.recall(ABOUT, include_hidden=True, as_of=as_of).bites
        assert (bite.id, bite.memory.status) == (old, status)  # type: ignore[union-attr]


def test_a_read_of_what_may_still_change_says_so(memory: Handle) -> None:
    memory.remember(ABOUT)
    now = datetime.now(UTC)
    assert memory.recall(ABOUT, as_of=AsOf(known=now)).provisional
    assert not memory.recall(ABOUT, as_of=AsOf(known=now - DAY)).provisional
    assert not memory.recall(ABOUT).provisional
    with pytest.raises(InvalidInputError, match="future"):
        memory.recall(ABOUT, as_of=AsOf(known=now + DAY))


def test_beliefs_and_turns_are_narrowed_by_their_times(memory: Handle) -> None:
    with memory.session("s1") as session:
        session.add_messages(
            [
                {"role": "user", "content": f"{ABOUT} {n}", "id": str(n), "at": MAY + DAY * n}
                for n in range(4)
            ]
        )
    for n in range(4):
        at = MAY + DAY * n
        memory.observe(ABOUT, "stops_at", f"platform {n}", at=at, source=f"s{n}")

    found = memory.recall(
        ABOUT, kinds=("belief", "turn"), since=MAY + DAY, until=MAY + 3 * DAY, limit=50
    ).bites

    said = {bite.turn.text for bite in found if isinstance(bite, TurnBite)}
    assert said == {f"{ABOUT} 1", f"{ABOUT} 2"}
    held = {bite.belief.object for bite in found if isinstance(bite, BeliefBite)}
    assert held == {"platform 1", "platform 2"}
    [only] = memory.recall(ABOUT, kinds=("belief", "turn"), source="s3").bites
    assert isinstance(only, BeliefBite)
    assert only.belief.object == "platform 3"
    then = memory.recall(
        ABOUT, kinds=("belief", "turn"), as_of=AsOf(valid=MAY + DAY), limit=50
    ).bites
    assert len(then) == 4
    assert not memory.recall(ABOUT, tags=["t"]).bites


def test_beliefs_are_read_at_the_time_asked_about(memory: Handle) -> None:
    memory.predicates.declare("works_on", cardinality="ONE", at=MAY - DAY)
    memory.observe("alice", "works_on", "Borealis", at=MAY, confidence=0.8)
    memory.observe("alice", "works_on", "Atlas", at=MAY + 2 * DAY, confidence=0.9)

    def first(as_of: AsOf | None) -> BeliefBite:
        found = memory.recall("What does Alice work on?", as_of=as_of).bites[0]
        assert isinstance(found, BeliefBite)
        return found

    assert first(None).belief.object == "Atlas"
    assert [one.object for one in first(None).others] == ["Borealis"]
    then = first(AsOf(valid=MAY + DAY))
    assert (then.belief.object, then.belief.belief, then.others) == ("Borealis", 0.8, ())


def test_some_of_the_scopes_are_looked_at(memory: Handle) -> None:
    shared = memory.remember(f"{ABOUT} is shared").memory_id
    alice = memory.scope("alice")
    hers = alice.remember(f"{ABOUT} is hers alone").memory_id
    assert ids(alice) == {shared, hers}
    assert ids(alice, scopes=["alice"]) == {hers}
    assert ids(alice, scopes=["global"], tags=[]) == {shared}
    for scopes in (["bob"], ["alice", "bob"]):
        with pytest.raises(InvalidInputError, match="'bob' must be a read scope"):
            alice.recall(ABOUT, scopes=scopes)
    odd: tuple[Any, ...] = ([], [""], "alice", 3)
    for given in odd:
        with pytest.raises(InvalidInputError, match="scopes"):
            alice.recall(ABOUT, scopes=given)
