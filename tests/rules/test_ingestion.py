"""Messages of conversations: batches, memories and totals."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import (
    CommitOutcome,
    IngestReport,
    Memory,
    MemoryBite,
    Message,
    Outcome,
    Recollection,
    ScoreBreakdown,
    Status,
    Turn,
    TurnBite,
    TurnsReceipt,
)
from graphmem.rules import identity, transcripts

MAY = datetime(2025, 5, 5, tzinfo=UTC)

messages = st.builds(
    Message,
    role=st.sampled_from(["user", "Assistant", "system", "Zoë", "Human"]),
    content=st.sampled_from(["Alice deploys", "Bob pays"]),
    session=st.sampled_from([None, "s", "t"]),
)


@given(st.lists(messages, max_size=12), st.integers(1, 3))
def test_every_message_is_in_one_batch_in_its_order(given_: list[Message], times: int) -> None:
    identified = transcripts.assign_ids(given_ * (times * 20))
    batches = list(transcripts.batches(identified))
    assert all(0 < len(batch.messages) <= transcripts.BATCH for batch in batches)
    for session in {m.session or transcripts.DEFAULT_SESSION for m in identified}:
        together = [m for b in batches if b.session_id == session for m in b.messages]
        own = [m for m in identified if (m.session or transcripts.DEFAULT_SESSION) == session]
        assert list(map(id, together)) == list(map(id, own))
    order = list(dict.fromkeys(batch.session_id for batch in batches))
    assert order == list(
        dict.fromkeys(m.session or transcripts.DEFAULT_SESSION for m in identified)
    )
    assert [b.session_id for b in batches] == sorted(
        (b.session_id for b in batches), key=order.index
    )


@given(st.lists(messages, max_size=10), st.integers(0, 10))
def test_messages_without_an_id_get_one_that_stays_when_the_conversation_grows(
    given_: list[Message], length: int
) -> None:
    identified = transcripts.assign_ids(given_)
    assert [m.model_copy(update={"id": None}) for m in identified] == given_
    assert len({m.id for m in identified}) == len(given_)
    assert transcripts.assign_ids(given_[:length]) == identified[:length]
    assert transcripts.assign_ids(identified) == identified


def test_an_id_of_its_own_is_kept() -> None:
    own = Message(role="user", content="a", id="1")
    assert transcripts.assign_ids([own]) == [own]


@given(st.lists(messages, max_size=8))
def test_only_messages_of_people_become_memories(given_: list[Message]) -> None:
    turns = TurnsReceipt(
        episode_id="ep", turn_ids=tuple(f"t{n}" for n in range(len(given_))), added=0
    )
    memories = transcripts.conversation_memories(given_, turns)
    people = [n for n, m in enumerate(given_) if m.role in ("user", "Human")]
    assert list(memories) == people
    for n, memory in memories.items():
        assert (memory.content, memory.turn_id, memory.episode_id) == (
            given_[n].content,
            f"t{n}",
            "ep",
        )
        assert memory.event_id == f"said_t{n}"
        assert (memory.source, memory.actor) == ("conversation", given_[n].role)

    outcomes = [outcome(f"said_t{n}", Outcome.EXACT_DUPE) for n in people]
    kept = transcripts.pair_outcomes(given_, people, outcomes)
    assert [k.message for k in kept] == given_
    assert {n for n, k in enumerate(kept) if k.outcome} == set(people)
    assert all(k.outcome.event_id == f"said_t{n}" for n, k in enumerate(kept) if k.outcome)


def outcome(event_id: str, became: Outcome, *, repeated: bool = False) -> CommitOutcome:
    return CommitOutcome(
        outcome=became,
        event_id=event_id,
        memory_id="m",
        content_hash="h",
        occurred_at=MAY,
        source="s",
        repeated=repeated,
    )


def test_a_name_is_the_actor() -> None:
    message = Message(role="user", content="Alice deploys", name="Zoë", at=MAY)
    turns = TurnsReceipt(episode_id="ep", turn_ids=("t",), added=1)
    memory = transcripts.conversation_memories([message], turns)[0]
    assert (memory.actor, memory.at) == ("Zoë", MAY)


def test_totals_count_what_is_new_and_what_was_there_apart() -> None:
    turns = TurnsReceipt(episode_id="ep", turn_ids=("t1", "t2", "t3"), added=2)
    done = [
        outcome("e1", Outcome.INSERTED_NEW),
        outcome("e2", Outcome.EXACT_DUPE),
        outcome("e3", Outcome.INSERTED_NEW, repeated=True),
    ]
    once = transcripts.add_batch(IngestReport(), turns, done)
    assert once == IngestReport(
        messages=3,
        turns_added=2,
        outcomes={Outcome.INSERTED_NEW: 1, Outcome.EXACT_DUPE: 1},
        repeated=1,
    )
    twice = transcripts.add_batch(once, turns, done)
    assert (twice.messages, twice.repeated) == (6, 2)
    assert twice.outcomes[Outcome.INSERTED_NEW] == 2


def test_hashes_are_those_of_what_was_shown() -> None:
    memory = Memory(
        id="m",
        scope="s",
        content="Alice deploys",
        content_hash=identity.content_hash("Alice deploys"),
        tags=(),
        status=Status.CURRENT,
        created_at=MAY,
        recorded_at=MAY,
        last_seen_at=MAY,
        reinforce_count=0,
    )
    turn = Turn(
        id="t",
        episode_id="ep",
        position=0,
        role="user",
        name=None,
        text=" Bob  pays ",
        occurred_at=MAY,
        recorded_at=MAY,
    )
    parts = {
        "score": 1.0,
        "parts": ScoreBreakdown(),
        "similarity": None,
        "vector_rank": None,
        "bm25": None,
        "bm25_rank": None,
    }
    bite = MemoryBite(memory=memory, trace=1.0, final=None, **parts)
    found = Recollection(bites=(bite, TurnBite(turn=turn, **parts)))
    assert transcripts.bite_hashes(found) == {
        identity.content_hash("Alice deploys"),
        identity.content_hash("Bob pays"),
    }
