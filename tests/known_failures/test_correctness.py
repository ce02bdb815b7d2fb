"""Facts that change: reports of users of other memories, each as a test of graphmem.

The first words of a docstring name the reports: repository and number of an issue or pull request.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem import AsOf, Handle

JANUARY = datetime(2026, 1, 12, 9, tzinfo=UTC)
MARCH = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def texts(memory: Handle, question: str, *, include_hidden: bool = False) -> list[str]:
    """Return the texts that a question finds, best first."""
    return [one.text for one in memory.recall(question, include_hidden=include_hidden).bites]


def values(memory: Handle, subject: str, predicate: str, as_of: AsOf | None = None) -> list[str]:
    """Return the values of a slot, the leader first."""
    return [one.object for one in memory.current(subject, predicate, as_of=as_of).candidates]


def test_a_new_role_does_not_retire_a_job(plain: Handle) -> None:
    """getzep/graphiti#1728, getzep/graphiti#1729: a fact retired unrelated facts of one entity.

    A person administers an account, so the fact that the person works at the company was marked
    invalid: every similar edge of the graph was a candidate, and a small model judged.
    """
    plain.observe("Dana", "works_at", "Kestrel", at=JANUARY)
    plain.observe("Kestrel", "uses", "Mira", at=JANUARY)
    plain.observe("Dana", "responsible_for", "the account of Kestrel", at=MARCH, cardinality="MANY")
    plain.observe("Mira", "uses", "Borealis", at=MARCH)
    first = plain.remember("Dana works at Kestrel as head of audits.", at=JANUARY)
    plain.remember("Dana administers the account of Kestrel.", at=MARCH, on_update="supersede")
    assert values(plain, "Dana", "works_at") == ["Kestrel"]
    assert values(plain, "Kestrel", "uses") == ["Mira"]
    assert plain.memories.get(str(first.memory_id)).status == "current"
    # The control: another employer does retire the first.
    plain.observe("Dana", "works_at", "Osprey", at=MARCH + DAY)
    assert values(plain, "Dana", "works_at")[0] == "Osprey"
    assert plain.current("Dana", "works_at").candidates[1].belief < 0.5


def test_a_search_returns_no_invalidated_fact(plain: Handle) -> None:
    """getzep/graphiti#1664, getzep/graphiti#1804: the default search returned invalidated facts.

    One user counted 52.7 % of the candidates of real questions as facts that no longer held; an
    agent cannot tell them from current ones.
    """
    old = plain.remember("The planning meeting is on Tuesday.", at=JANUARY)
    plain.supersede(str(old.memory_id), "The planning meeting is on Friday.", at=MARCH)
    plain.observe("Dana", "lives_in", "Faro", at=JANUARY)
    plain.observe("Dana", "lives_in", "Porto", at=MARCH)
    assert texts(plain, "when is the planning meeting?")[0] == "The planning meeting is on Friday."
    asked = "where does Dana live? when is the planning meeting?"
    found, block = str(texts(plain, asked)), plain.context(asked).text
    for shown in (found, block.replace('outdated: "Faro"', "")):
        assert "Porto" in shown
        assert "Friday" in shown
        assert "Faro" not in shown
        assert "Tuesday" not in shown
    # The controls: the past is there for who asks for it, in the world's time and in the store's.
    assert "Tuesday" in str(texts(plain, asked, include_hidden=True))
    then = AsOf(valid=JANUARY + DAY)
    assert "Tuesday" in str(plain.recall(asked, as_of=then).bites)
    assert values(plain, "Dana", "lives_in", then) == ["Faro"]
    assert plain.recall(asked, as_of=AsOf(known=MARCH)).bites == ()


def test_a_changed_fact_stands_before_its_older_version(plain: Handle) -> None:
    """mem0ai/mem0#4956, mem0ai/mem0#4896: both versions came back, with similar scores.

    The store only added, so "favourite player is A" and "… is B" both came back, in any order, and
    no field marked the current one.
    """
    plain.remember("The favourite player of Dana is Ronaldo.", at=JANUARY)
    done = plain.remember("The favourite player of Dana is Messi.", at=MARCH)
    assert done.possible_update_of
    first, second = plain.recall("who is the favourite player of Dana?").bites[:2]
    assert "Messi" in first.text
    assert second.outdated_by == done.memory_id
    # The control: a fact about something else does not outdate anything.
    other = plain.remember("The favourite dish of Dana is a soup of leeks.", at=MARCH + DAY)
    assert other.possible_update_of is None
    found = {one.text: one.outdated_by for one in plain.recall("favourite of Dana").bites}
    assert found["The favourite player of Dana is Messi."] is None


def test_a_contradiction_loses_neither_side(plain: Handle) -> None:
    """mem0ai/mem0#4536: a contradicting statement deleted the old fact and stored no new one.

    After "I love Chinese food" and "I hate Chinese food" the memory was empty.
    """
    plain.remember("Dana loves Chinese food.", at=JANUARY)
    plain.remember("Dana hates Chinese food.", at=MARCH, on_update="supersede")
    everything = texts(plain, "does Dana like Chinese food?", include_hidden=True)
    assert {"Dana hates Chinese food.", "Dana loves Chinese food."} <= set(everything)
    assert "Dana hates Chinese food." in texts(plain, "does Dana like Chinese food?")
    plain.observe("Dana", "likes", "Chinese food", at=JANUARY)
    told = plain.observe("Dana", "likes", "Chinese food", kind="refuting", at=MARCH, confidence=0.9)
    found = plain.beliefs.get(told)
    assert found.belief < 0.5
    assert found.contested


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Mia is allergic to hazelnuts.", "Jo is allergic to hazelnuts."),
        ("Host mail-7 runs Alpine 3.", "Host mail-8 runs Alpine 3."),
        ("Leo takes warfarin.", "Leo takes heparin."),
        ("Sensor 8 reads 31 degrees.", "Sensor 9 reads 31 degrees."),
        ("The 7:40 ferry is full.", "The 8:40 ferry is full."),
        ("The plank is 5′ long.", "The plank is 5″ long."),
    ],
)
def test_a_fact_about_another_thing_stays(plain: Handle, first: str, second: str) -> None:
    """garamsh/gagent#334, Lamatic/AgentKit#364, mnemon#133: a similar fact retired another one.

    Automatic supersession and deduplication took another person, host or drug for a new value.
    """
    plain.remember(first, at=JANUARY)
    done = plain.remember(second, at=MARCH, on_update="supersede")
    assert (done.superseded_ids, done.possible_update_of) == ((), None)
    found = {one.text: one.outdated_by for one in plain.recall(first).bites}
    assert found == {first: None, second: None}
    # The control: a new value of one thing replaces the old one.
    plain.remember("Host mail-7 listens on port 25.", at=JANUARY)
    changed = plain.remember("Host mail-7 listens on port 465.", at=MARCH, on_update="supersede")
    assert len(changed.superseded_ids) == 1
