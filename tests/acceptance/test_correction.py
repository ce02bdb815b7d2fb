"""Correction: what was corrected stays corrected, after a rebuild and when the source returns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem import AsOf, Handle, Message
from tests.acceptance.surfaces import Surface

MAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def texts(memory: Handle, question: str, word: str) -> list[str]:
    """Return the results with a word, in order of the alphabet."""
    return sorted(one.text for one in memory.recall(question).bites if word in one.text)


def answers(memory: Handle) -> dict[str, Any]:
    """Return what each of the corrected facts reads as."""
    past = AsOf(valid=MAY + 5 * DAY)
    return {
        "replaced": texts(memory, "when is the planning meeting?", "meeting"),
        "flipped": memory.current("Alice", "eats_meat").candidates[0].belief < 0.5,
        "retracted": [
            one.object for one in memory.current("Alice", "owns").candidates if one.belief > 0.5
        ],
        "in part": texts(memory, "where does Alice train?", "trains"),
        "now": memory.current("Alice", "lives_in").candidates[0].object,
        "then": memory.current("Alice", "lives_in", as_of=past).candidates[0].object,
    }


def test_corrections_survive_a_rebuild(plain: Handle) -> None:
    first = plain.remember("The planning meeting is on Tuesday.")
    plain.supersede(str(first.memory_id), "The planning meeting is on Friday.")
    plain.observe("Alice", "eats_meat", "yes", at=MAY, cardinality="MANY")
    for n in range(3):
        plain.observe("Alice", "eats_meat", "yes", kind="refuting", at=MAY + (n + 1) * 3 * DAY)
    wrong = plain.observe("Alice", "owns", "a boat", at=MAY, cardinality="MANY")
    plain.observe("Alice", "owns", "a bicycle", at=MAY)
    plain.beliefs.retract(wrong.event_id)
    both = plain.believe("Alice trains in the pool and in the forest.", at=MAY)
    plain.beliefs.split(both, ["Alice trains in the pool.", "Alice trains in the hall."])
    plain.observe("Alice", "lives_in", "Faro", at=MAY, cardinality="ONE")
    plain.observe("Alice", "lives_in", "Porto", at=MAY + 10 * DAY)
    before = answers(plain)
    assert before == {
        "replaced": ["The planning meeting is on Friday."],
        "flipped": True,
        "retracted": ["a bicycle"],
        "in part": ["Alice trains in the hall.", "Alice trains in the pool."],
        "now": "Porto",
        "then": "Faro",
    }
    plain.admin.rebuild()
    assert plain.admin.verify().wrong == ()
    assert answers(plain) == before


def test_a_retraction_survives_the_source_that_comes_again(plain: Handle) -> None:
    messages = [Message(role="user", content="I own a boat called Merle.", id="1", at=MAY)]
    plain.session("talk").add_messages(messages)
    seen = plain.observe("Alice", "owns", "a boat", event_id="o1", at=MAY, cardinality="MANY")
    told = plain.remember("Alice owns a boat called Merle.", event_id="m1", at=MAY)
    assert plain.current("Alice", "owns").candidates[0].belief > 0.5
    plain.beliefs.retract(seen.event_id)
    plain.memories.deprecate(str(told.memory_id))

    plain.session("talk").add_messages(messages)
    plain.observe("Alice", "owns", "a boat", event_id="o1", at=MAY, cardinality="MANY")
    plain.remember("Alice owns a boat called Merle.", event_id="m1", at=MAY)
    plain.admin.rebuild()
    assert [one.belief > 0.5 for one in plain.current("Alice", "owns").candidates] in ([], [False])
    assert plain.recall("what does Alice own?", kinds=("memory",)).bites == ()
    # A new statement is new evidence.
    plain.observe("Alice", "owns", "a boat", at=MAY + DAY)
    assert plain.current("Alice", "owns").candidates[0].belief > 0.5


def test_a_retraction_holds_in_each_interface(surface: Surface) -> None:
    event = surface.observe("Alice", "owns", "a boat")
    assert surface.current("Alice", "owns") == ["a boat"]
    surface.retract(event)
    assert "a boat" not in surface.current("Alice", "owns")
