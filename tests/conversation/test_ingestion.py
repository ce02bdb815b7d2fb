"""Messages of conversations: batches and ids."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from graphmem.conversation import ingestion, supplied
from graphmem.model import (
    Memory,
    MemoryBite,
    Message,
    Recollection,
    ScoreBreakdown,
    Status,
    Turn,
    TurnBite,
)
from graphmem.rules import identity

MAY = datetime(2025, 5, 5, tzinfo=UTC)

messages = st.builds(
    Message,
    role=st.sampled_from(["user", "Assistant", "system", "Zoë", "Human"]),
    content=st.sampled_from(["Alice deploys", "Bob pays"]),
    session=st.sampled_from([None, "s", "t"]),
)


@given(st.lists(messages, max_size=12), st.integers(1, 3))
def test_every_message_is_in_one_batch_in_its_order(given_: list[Message], times: int) -> None:
    identified = ingestion.assign_ids(given_ * (times * 20))
    batches = {name: list(parts) for name, parts in ingestion.batches(identified)}
    names = [m.session or ingestion.DEFAULT_SESSION for m in identified]
    assert list(batches) == list(dict.fromkeys(names))
    for name, parts in batches.items():
        assert all(0 < len(part) <= ingestion.BATCH for part in parts)
        own = [m for m, session in zip(identified, names, strict=True) if session == name]
        assert [id(m) for part in parts for m in part] == list(map(id, own))


@given(st.lists(messages, max_size=10), st.integers(0, 10))
def test_messages_without_an_id_get_one_that_stays_when_the_conversation_grows(
    given_: list[Message], length: int
) -> None:
    identified = ingestion.assign_ids(given_)
    assert [m.model_copy(update={"id": None}) for m in identified] == given_
    assert len({m.id for m in identified}) == len(given_)
    assert ingestion.assign_ids(given_[:length]) == identified[:length]
    assert ingestion.assign_ids(identified) == identified


def test_an_id_of_its_own_is_kept() -> None:
    own = Message(role="user", content="a", id="1")
    assert ingestion.assign_ids([own]) == [own]


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
    assert supplied.bite_hashes(found) == {
        identity.content_hash("Alice deploys"),
        identity.content_hash("Bob pays"),
    }
