"""Sessions, episodes, turns and ingestion, by either client."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem import Handle, Message, Outcome, Session, TurnBite
from graphmem.errors import EventConflictError, InvalidInputError
from graphmem.rules.read_options import position_cursor
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

in_both_clients = pytest.mark.usefixtures("both_clients")

MAY = datetime(2025, 5, 5, tzinfo=UTC)
HELLO = {"role": "user", "content": "hello there"}
REPLY = {"role": "assistant", "content": "good morning"}
SLOW = {"role": "user", "content": "deploys are slow today", "name": "Zoë"}


@in_both_clients
def test_a_conversation_is_kept_word_for_word(memory: Handle) -> None:
    with memory.session("s1") as session:
        added = session.add_messages(
            [HELLO, REPLY, {**SLOW, "at": MAY, "content": " as\tsaid \n"}, {**HELLO, "content": ""}]
        )
        turns = session.episodes.turns(session.episode_id).turns

    assert (added.added, added.episode_id) == (4, session.episode_id)
    assert [t.id for t in turns] == list(added.turn_ids)
    assert [t.position for t in turns] == [0, 1, 2, 3]
    assert [t.text for t in turns] == ["hello there", "good morning", " as\tsaid \n", ""]
    assert [(t.role, t.name) for t in turns[1:3]] == [("assistant", None), ("user", "Zoë")]
    assert turns[2].occurred_at == MAY
    assert list(
        memory.episodes.turns(session.episode_id, cursor=position_cursor(1), limit=2).turns
    ) == list(turns[1:3])
    episode = memory.episodes.get(session.episode_id)
    assert (episode.session_id, episode.turns) == ("s1", 4)


def test_turns_are_linked_in_order(memory: Handle, look: Look, tenant: str) -> None:
    session = memory.session("s1")
    for n in range(4):
        session.add_messages([{"role": "user", "content": unlike(n)}])
    [row] = look.rows(
        "MATCH p = (:Turn {tenant: $tenant, position: 0})-[:NEXT*]->(last) "
        "WHERE NOT (last)-[:NEXT]->() RETURN [t IN nodes(p) | t.text] AS texts",
        tenant=tenant,
    )
    assert row["texts"] == [unlike(n) for n in range(4)]


def test_what_goes_on_from_the_end_is_added_once(memory: Handle) -> None:
    session = memory.session("s1")
    first = session.add_messages([HELLO, REPLY])
    more = session.add_messages([REPLY, SLOW])
    assert (more.added, more.turn_ids[0]) == (1, first.turn_ids[1])
    whole = session.add_messages([HELLO, REPLY, SLOW])
    assert (whole.added, whole.turn_ids) == (0, (*first.turn_ids, more.turn_ids[1]))
    assert texts(session) == [m["content"] for m in (HELLO, REPLY, SLOW)]


def texts(session: Session) -> list[str]:
    return [turn.text for turn in session.episodes.turns(session.episode_id).turns]


def test_short_messages_that_are_repeated_are_new(memory: Handle) -> None:
    session = memory.session("s1")
    guesses = ["higher", "higher", "lower"]
    for guess in guesses:
        session.add_messages([{"role": "user", "content": guess}])
    assert texts(session) == guesses
    for _ in range(3):
        assert session.add_messages([HELLO, REPLY]).added == 2
    assert texts(session) == guesses + ["hello there", "good morning"] * 3


def test_a_list_that_is_changed_adds_what_is_new(memory: Handle) -> None:
    """System prompts, windows, trimmed middles, and other versions of messages."""
    session, log = memory.session("s1"), list[str]()

    def add(given: str, *new: str) -> None:
        roles = {"u": "user", "a": "assistant", "s": "system"}
        messages = [{"role": roles[one[0]], "content": one} for one in given.split()]
        log.extend(new)
        assert session.add_messages(messages).added == len(new)
        assert texts(session) == log

    add("s1 u1 a1 u2 a2", "s1", "u1", "a1", "u2", "a2")
    add("s2 u1 a1 u2 a2 u3", "s2", "u3")
    add("s2 a2 u3 a3", "a3")  # a window
    add("s2 u1 a3 u4 a4", "u4", "a4")  # a trimmed middle
    add("s2 u1 a1 u2 a2 u3 a3 u4 a4b", "a4b")  # an answer made again
    add("s2 u1 a1 u2 a2 u3b a3b", "u3b", "a3b")  # another question
    add("s2 u1c a1 u2 a2 u3b a3b u5", "u1c", "u5")  # an edited message
    add("s2 u1c a1 u2 a2 u3b a3b u5 a5", "a5")


def test_ids_of_some_messages_are_kept(memory: Handle) -> None:
    session = memory.session("s1")
    asked: dict[str, object] = {**HELLO, "id": "1"}
    session.add_messages([asked, REPLY])
    # The answer has an id and a time by now.
    known = [asked, {**REPLY, "id": "2", "at": MAY}]
    assert session.add_messages(known).added == 0
    assert session.add_messages([*known, {**HELLO, "id": "3"}, REPLY]).added == 2
    assert session.add_messages([{**HELLO, "id": "4"}]).added == 1
    assert session.add_messages([{**HELLO, "id": "4"}]).added == 0
    # Other words under a known id are an edited message.
    assert session.add_messages([{**HELLO, "id": "4", "content": "hi"}]).added == 1
    assert session.add_messages([{**HELLO, "id": "4", "content": "hi"}]).added == 0
    assert texts(session) == ["hello there", "good morning"] * 2 + ["hello there", "hi"]


def test_a_conversation_has_the_time_of_its_messages(memory: Handle) -> None:
    session = memory.session("s1")
    session.add_messages([{**HELLO, "at": MAY}, {**REPLY, "at": MAY + timedelta(hours=1)}])
    session.add_messages([{**SLOW, "at": MAY - timedelta(hours=1)}])
    episode = memory.episodes.get(session.episode_id)
    assert (episode.occurred_at, episode.ended_at) == (
        MAY - timedelta(hours=1),
        MAY + timedelta(hours=1),
    )
    assert memory.episodes.list().episodes == (episode,)


def test_keyed_messages_are_recognised_wherever_they_stand(memory: Handle) -> None:
    session = memory.session("s1")
    said: list[dict[str, object]] = [
        {"role": "user", "content": "yes", "id": "1"},
        {"role": "user", "content": "yes", "id": "2"},
        {"role": "user", "content": "yes", "at": MAY},
        {"role": "user", "content": "yes", "at": MAY},
        {"role": "bot", "content": "yes", "at": MAY},
    ]
    first = session.add_messages(said)
    assert first.added == 5
    assert len(set(first.turn_ids)) == 5

    again = session.add_messages([said[1], {"role": "user", "content": "no", "id": "3"}, said[0]])
    assert again.added == 1
    assert (again.turn_ids[0], again.turn_ids[2]) == (first.turn_ids[1], first.turn_ids[0])
    assert session.add_messages(said).turn_ids == first.turn_ids
    assert [t.text for t in session.episodes.turns(session.episode_id).turns] == ["yes"] * 5 + [
        "no"
    ]


@pytest.mark.parametrize(
    "broken",
    [
        {"role": "user"},
        {"content": "no role"},
        {"role": "", "content": "x"},
        {"role": "user", "content": 5},
        {"role": "user", "content": "x", "at": datetime(2025, 1, 1)},  # noqa: DTZ001
        {"role": "user", "content": "x", "mood": "glad"},
        {"role": "user", "content": "x", "at": MAY + timedelta(days=365_000)},
        "hello",
        None,
    ],
)
def test_a_broken_message_is_named_and_none_is_added(
    memory: Handle, look: Look, tenant: str, broken: object
) -> None:
    session = memory.session("s1")
    with pytest.raises(InvalidInputError) as caught:
        session.add_messages([HELLO, broken])  # type: ignore[list-item]
    assert len(str(caught.value)) < 400
    assert "Turn" not in look.count(tenant)


def test_one_bad_message_is_repaired_or_left_out_and_named(memory: Handle) -> None:
    hello: dict[str, object] = {**HELLO}
    slow: dict[str, object] = {**SLOW, "name": "Zo\ud83d"}
    given: list[dict[str, object]] = [
        hello,
        {"role": "user", "content": "half \ud83d", "name": "Zo\ud83d", "id": "\udc00"},
        {"role": "user", "content": "x" * 1_000_001},
        {"role": "user", "content": "a name", "name": "x" * 201},
        {"role": "user", "content": [{"type": "text", "text": "two \ud83d\ude00 halves"}]},
        slow,
    ]
    session = memory.session("s1")
    done = session.add_messages(given)
    assert (done.added, done.skipped) == (4, 2)
    assert done.notes == (
        "message 1: half of a surrogate pair became U+FFFD",
        "message 2: not stored, its content has more than 1,000,000 characters",
        "message 3: not stored, its name has more than 200 characters",
        "message 4: half of a surrogate pair became U+FFFD",
        "message 5: half of a surrogate pair became U+FFFD",
    )
    stored = ["hello there", "half \ufffd", "two \U0001f600 halves", "deploys are slow today"]
    assert texts(session) == stored
    assert session.add_messages(given).added == 0
    assert memory.ingest(given).notes == done.notes
    assert session.recall("\udc00 deploys").bites
    assert session.context("\udc00 deploys").ids
    assert session.context(given).tokens >= 0
    reply = session.respond([HELLO], lambda _: "well \ud83d")
    assert texts(session)[-1] == "well \ufffd"
    assert reply.receipt.notes == ("reply, message 0: half of a surrogate pair became U+FFFD",)


def test_a_message_may_hold_what_no_memory_may(memory: Handle) -> None:
    """A conversation is kept as it was, NUL and a megabyte included."""
    session = memory.session("s1")
    texts = ["a\x00b", "\x1b[31m", "?", "x" * 1_000_000, "   "]
    session.add_messages([{"role": "user", "content": text} for text in texts])
    assert [t.text for t in session.episodes.turns(session.episode_id).turns] == texts


def test_more_messages_than_one_transaction_takes(memory: Handle) -> None:
    keyed = memory.session("keyed")
    said = [Message(role="user", content=unlike(n % 7), id=str(n)) for n in range(1_030)]
    assert keyed.add_messages(said).added == 1_030
    assert keyed.add_messages(said[900:]).added == 0
    assert [
        t.position
        for t in keyed.episodes.turns(keyed.episode_id, cursor=position_cursor(998), limit=5).turns
    ] == [998, 999, 1_000, 1_001, 1_002]
    placed = memory.session("placed")
    unkeyed = [Message(role="user", content=unlike(n)) for n in range(520)]
    assert placed.add_messages(unkeyed).added == 520
    assert placed.add_messages(unkeyed).added == 0


def test_what_is_written_in_a_session_is_attached(memory: Handle) -> None:
    with memory.session("s1") as session:
        done = session.remember(unlike(1))
        newer = session.supersede(str(done.memory_id), unlike(2))
        session.remember_many([unlike(3)])
        expected = session.episode_id
    for memory_id in (done.memory_id, newer.newer_id):
        events = [e for e in memory.memories.history(str(memory_id)) if e.type == "ADD"]
        assert [e.episode_id for e in events] == [expected]
    outside = memory.remember(unlike(4))
    assert memory.memories.history(str(outside.memory_id))[0].episode_id is None


@in_both_clients
def test_a_session_is_one_episode_however_often_it_is_opened(
    memory: Handle, look: Look, tenant: str
) -> None:
    with memory.session("s1") as one, memory.session("s1") as two:
        assert one.episode_id == two.episode_id
        one.add_messages([{**HELLO, "id": "1"}])
        assert two.add_messages([{**HELLO, "id": "1"}]).added == 0
    assert memory.session("s2").episode_id != one.episode_id
    assert memory.scope("alice").session("s1").episode_id != one.episode_id
    assert look.count(tenant) == {"Episode": 1, "Turn": 1}


@in_both_clients
def test_a_session_survives_what_is_raised_inside(memory: Handle) -> None:
    session = memory.session("s1")

    def fail() -> None:
        with session:
            session.add_messages([HELLO])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert memory.episodes.get(session.episode_id).turns == 1


def test_what_memory_supplied_does_not_come_back_as_evidence(memory: Handle) -> None:
    memory.remember(unlike(1))
    with memory.session("other") as other:
        other.add_messages([{"role": "user", "content": unlike(2)}])

    with memory.session("s1") as session:
        assert session.remember(unlike(3)).outcome is Outcome.INSERTED_NEW
        assert session.recall(unlike(1)).bites
        assert session.recall(unlike(2), kinds=("belief", "turn")).bites
        for text in (unlike(1), f" {unlike(1)}", unlike(2)):
            done = session.remember(text)
            assert done.outcome is Outcome.REJECTED_HYGIENE
            assert done.hygiene_reasons == ("memory_echo",)
        [refused] = session.remember_many([unlike(1)])
        assert refused.outcome is Outcome.REJECTED_HYGIENE

    assert memory.remember(unlike(1)).outcome is Outcome.EXACT_DUPE
    with memory.session("s1") as later:
        assert later.remember(unlike(1)).outcome is Outcome.EXACT_DUPE


def test_episodes_are_kept_once(memory: Handle, look: Look, tenant: str) -> None:
    known = {
        "episode_id": "doc-1",
        "summary": "a paper",
        "content": "on memory",
        "entities": ["Neo4j", "graph"],
        "importance": 0.75,
        "at": MAY,
    }
    assert memory.episodes.add(**known) == "doc-1"  # type: ignore[arg-type]
    assert memory.episodes.add(**known) == "doc-1"  # type: ignore[arg-type]

    found = memory.episodes.get("doc-1")
    assert (found.summary, found.content, found.entities) == (
        "a paper",
        "on memory",
        ("Neo4j", "graph"),
    )
    assert (found.importance, found.occurred_at, found.turns) == (0.75, MAY, 0)
    for other in ({"summary": "b"}, {"importance": 0.5}, {"entities": ["graph"]}, {"at": None}):
        with pytest.raises(EventConflictError):
            memory.episodes.add(**{**known, **other})  # type: ignore[arg-type]
    assert memory.episodes.add() != memory.episodes.add()
    assert look.count(tenant) == {"Episode": 3}


def test_ingest_stores_each_session_in_its_order(memory: Handle) -> None:
    said = [
        Message(role="user", content=unlike(1), id="1", session="a", at=MAY),
        Message(role="assistant", content=unlike(2), id="2", session="a"),
        Message(role="user", content=unlike(3), id="1", session="b", name="Zoë"),
        Message(role="user", content="?", id="3", session="a"),
        Message(role="user", content=unlike(1), id="4", session="a"),
    ]
    seen: list[tuple[str, int]] = []
    done = memory.ingest(said, lambda *step: seen.append(step))
    assert (done.messages, done.turns_added) == (5, 5)
    assert seen == [("message", 4), ("message", 1)]
    stored = {
        name: [
            (turn.text, turn.name)
            for turn in memory.episodes.turns(memory.session(name).episode_id).turns
        ]
        for name in "ab"
    }
    assert stored == {
        "a": [(unlike(1), None), (unlike(2), None), ("?", None), (unlike(1), None)],
        "b": [(unlike(3), "Zoë")],
    }
    assert memory.ingest(said).turns_added == 0


def test_turns_are_recalled_when_asked_for(memory: Handle) -> None:
    with memory.session("s1") as session:
        session.add_messages([HELLO, REPLY, SLOW])
    memory.remember("deploys were slow last year too")

    turns = memory.recall("slow deploys", kinds=("belief", "turn"))
    both = memory.recall("slow deploys")

    assert isinstance(turns.bites[0], TurnBite)
    assert turns.bites[0].turn.text == "deploys are slow today"
    assert {bite.kind for bite in both.bites} == {"memory", "turn"}
    only = memory.recall("slow deploys", kinds=["memory"]).bites
    assert {bite.kind for bite in only} == {"memory"}
    assert memory.recall("slow deploys", kinds=("belief",)).bites == ()
    by_name = memory.recall("Zoë", kinds=("belief", "turn")).bites[0]
    assert isinstance(by_name, TurnBite)
    assert by_name.turn.name == "Zoë"
