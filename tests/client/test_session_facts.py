"""The end of a session extracts by rules what its speakers state about themselves, once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from graphmem import BeliefBite, Handle
from tests.plugins.clients import Door, by
from tests.plugins.faults import Unacknowledged
from tests.plugins.graph import Look


def hold(memory: Handle, *texts: str, name: str = "s", **more: Any) -> str:
    with memory.session(name) as session:
        session.add_messages([{"role": "user", "content": text, **more} for text in texts])
        return session.episode_id


def values(memory: Handle, predicate: str, subject: str = "user") -> list[str | None]:
    return [one.object for one in memory.current(subject, predicate).candidates]


def test_the_end_of_a_session_extracts_facts(memory: Handle) -> None:
    hold(memory, "I live in Lisbon.", "What is a soffit?", "Do I live in Rome?")
    assert values(memory, "lives_in") == ["Lisbon"]
    [bite] = memory.recall("Where do I live?", kinds=["belief"]).bites
    assert isinstance(bite, BeliefBite)
    [reason] = bite.reasons
    assert (reason.trust, reason.source_type) == ("tool", "RULE")
    assert memory.episodes.turns(str(reason.episode_id)).turns[0].id == reason.turn_id


def test_a_closed_session_that_continues_writes_nothing_twice(
    memory: Handle, look: Look, tenant: str
) -> None:
    hold(memory, "I live in Lisbon.")
    before = look.events(tenant)
    hold(memory, "I live in Lisbon.", "What is a soffit?")
    assert look.events(tenant) == before
    hold(memory, "I work at Acme.")
    assert len(look.events(tenant)) == len(before) + 1


def test_a_lost_reply_writes_nothing_twice(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    session = memory.session("s")
    session.__enter__()
    session.add_messages([{"role": "user", "content": "I live in Lisbon."}])
    graph = memory._state.context.services.graph
    broken = door.on(session, graph=Unacknowledged(graph, 1))
    broken.__exit__(None, None, None)
    hold(memory, "What is a soffit?")
    assert [one["type"] for one in look.events(tenant).values()] == ["EVIDENCE"]


def test_a_later_value_changes_the_slot(memory: Handle) -> None:
    hold(memory, "I live in Lisbon.", name="a", at="2026-01-05T10:00:00+00:00")
    hold(memory, "I moved to Porto last week.", name="b", at="2026-05-05T10:00:00+00:00")
    assert values(memory, "lives_in")[0] == "Porto"


def test_it_can_be_turned_off(door: Door, look: Look, tenant: str) -> None:
    settings = door.settings.model_copy(update={"session_facts": False})
    with door.open(settings) as client:
        hold(client.tenant(tenant), "I live in Lisbon.")
    assert look.events(tenant) == {}


@pytest.mark.parametrize(
    "texts",
    [
        ["Hello."],
        ["What is a soffit?"] * 30,
        ["def live_in(i):\n    return 'I live in Rome'"] * 5,
        ["私は京都に住んでいます。", "Живу в Риге", "أعيش في القاهرة"],
    ],
)
def test_other_talk_gives_none(memory: Handle, look: Look, tenant: str, texts: list[str]) -> None:
    hold(memory, *texts)
    assert look.events(tenant) == {}


def test_two_speakers_have_slots_of_their_own(memory: Handle) -> None:
    hold(memory, "I live in Lisbon.", name="a")
    with memory.session("b") as session:
        session.add_messages(
            [
                {"role": "user", "name": "Ann", "content": "I live in Riga."},
                {"role": "user", "name": "Bo", "content": "I live in Oslo."},
            ]
        )
    assert [values(memory, "lives_in", name) for name in ("user", "Ann", "Bo")] == [
        ["Lisbon"],
        ["Riga"],
        ["Oslo"],
    ]


def test_a_long_conversation_is_read_in_parts(memory: Handle) -> None:
    texts = [f"The tram {n} was late." for n in range(230)]
    texts[3], texts[120], texts[229] = "I live in Lisbon.", "I work at Acme.", "I like tea."
    hold(memory, *texts)
    found = (values(memory, name) for name in ("lives_in", "works_at", "likes"))
    assert list(found) == [["Lisbon"], ["Acme"], ["tea"]]


def test_a_turn_whose_value_lost_its_slot_is_marked(memory: Handle) -> None:
    hold(memory, "I live in Lisbon.", name="a", at="2026-01-05T10:00:00+00:00")
    hold(memory, "I like tea.", name="c", at="2026-02-05T10:00:00+00:00")
    hold(memory, "I moved to Porto last week.", name="b", at="2026-05-05T10:00:00+00:00")
    found = {one.text: one for one in memory.recall("Where do I live?", kinds=["turn"]).bites}
    newer = found["I moved to Porto last week."]
    assert found["I live in Lisbon."].outdated_by == newer.id
    assert newer.outdated_by is None
    assert found["I like tea."].outdated_by is None
    texts = list(found)
    assert texts.index(newer.text) < texts.index("I live in Lisbon.")


def test_a_turn_that_states_more_is_not_marked(memory: Handle) -> None:
    hold(memory, "I live in Lisbon and I like tea.", name="a", at="2026-01-05T10:00:00+00:00")
    hold(memory, "I moved to Porto.", name="b", at="2026-05-05T10:00:00+00:00")
    bites = memory.recall("Where do I live?", kinds=["turn"]).bites
    assert [one.outdated_by for one in bites] == [None, None]


def test_a_models_value_marks_no_words_of_a_person(door: Door, memory: Handle) -> None:
    hold(memory, "I live in Lisbon.", name="a", at="2026-01-05T10:00:00+00:00")
    by(memory, "model").observe("user", "lives_in", "Porto")
    [bite] = memory.recall("Where do I live?", kinds=["turn"]).bites
    assert bite.outdated_by is None


@pytest.mark.parametrize(
    ("reply", "marked"), [("It was not serviced at all.", True), ("Thanks, that is all.", False)]
)
def test_an_assistants_words_that_a_person_rejects_are_marked(
    memory: Handle, reply: str, *, marked: bool
) -> None:
    said = "Your boiler was serviced in spring."
    with memory.session("s") as session:
        session.add_messages(
            [
                {"role": "user", "content": "Tell me about the boiler."},
                {"role": "assistant", "content": said},
                {"role": "user", "content": reply},
            ]
        )
    [bite] = [
        one for one in memory.recall("boiler serviced", kinds=["turn"]).bites if one.text == said
    ]
    assert (bite.outdated_by is not None) is marked
    lines = memory.context("When was the boiler serviced?").text.splitlines()
    [line] = [one for one in lines if said in one]
    assert ("outdated" in line.split('"')[0]) is marked


def test_values_of_unknown_cardinality_are_ordered_newest_first(memory: Handle) -> None:
    for month, hobby in ((1, "chess"), (2, "chess"), (5, "judo")):
        with memory.session(f"s{month}") as session:
            session.observe("Ann", "hobby", hobby, at=datetime(2026, month, 5, tzinfo=UTC))
    memory.observe("Ann", "hobby", "golf", kind="refuting", at=datetime(2026, 6, 5, tzinfo=UTC))
    assert values(memory, "hobby", "Ann") == ["judo", "chess", "golf"]
    memory.predicates.declare("hobby", cardinality="MANY")
    assert values(memory, "hobby", "Ann") == ["chess", "judo", "golf"]
