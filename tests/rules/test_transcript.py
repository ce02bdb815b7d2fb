"""Messages of a conversation that are new."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Message
from graphmem.rules import transcripts
from graphmem.rules.transcripts import MessageKey, StoredTurn

MAY = datetime(2025, 5, 5, tzinfo=UTC)

lines: st.SearchStrategy[MessageKey] = st.tuples(
    st.sampled_from(["user", "bot"]), st.sampled_from([None, "Zoë"]), st.sampled_from(["a", "b"])
)
conversations = st.lists(lines, max_size=6)


def kept(conversation: Sequence[MessageKey]) -> list[StoredTurn]:
    return [StoredTurn(f"t{n}", key) for n, key in enumerate(conversation)]


def overlap(conversation: list[MessageKey], given: list[MessageKey]) -> range:
    """Say plainly which places of the conversation the given lines begin with."""
    for n in range(len(given), 0, -1):
        if n <= len(conversation) and conversation[len(conversation) - n :] == given[:n]:
            return range(len(conversation) - n, len(conversation))
    if len(given) > 1 and conversation[: len(given)] == given:
        return range(len(given))
    return range(0)


@given(conversation=conversations, given_=conversations)
def test_what_is_there_already_is_what_a_plain_look_finds(
    conversation: list[MessageKey], given_: list[MessageKey]
) -> None:
    there = kept(conversation)
    n = len(given_)
    found = transcripts.overlapping_turns(there[:n], there[-n:] if n else [], given_)
    assert [turn.id for turn in found] == [f"t{i}" for i in overlap(conversation, given_)]


@given(conversation=conversations, seams=st.lists(st.integers(0, 6), max_size=3))
def test_a_window_that_moves_on_adds_each_line_once(
    conversation: list[MessageKey], seams: list[int]
) -> None:
    """Sent again and again from the start, as chat programs do, it is kept once."""
    there: list[MessageKey] = []
    for end in [*sorted(min(seam, len(conversation)) for seam in seams), len(conversation)]:
        sent = conversation[:end]
        stored = kept(there)
        found = transcripts.overlapping_turns(
            stored[: len(sent)], stored[-len(sent) :] if sent else [], sent
        )
        if len(there) < 2 or len(sent) > len(there):
            # A whole resending that goes on overlaps with all that is there.
            assert len(found) >= min(len(there), len(sent))
        there += sent[len(found) :]
    assert there == conversation


def test_a_name_is_part_of_a_message_key() -> None:
    one = transcripts.message_key(Message(role="user", content="a"))
    assert one != transcripts.message_key(Message(role="user", content="a", name="Zoë"))
    assert one != transcripts.message_key(Message(role="bot", content="a"))
    assert one == transcripts.message_key(Message(role="user", content="a", id="1", at=MAY))


def test_messages_are_keyed_when_each_has_a_key() -> None:
    plain = Message(role="user", content="a")
    assert transcripts.have_keys([])
    assert not transcripts.have_keys([plain])
    assert transcripts.have_keys([plain.model_copy(update={"id": "1"})])
    assert transcripts.have_keys([plain.model_copy(update={"at": MAY})])
    assert not transcripts.have_keys([plain.model_copy(update={"at": MAY}), plain])


messages = st.builds(
    Message,
    role=st.sampled_from(["user", "bot"]),
    content=st.sampled_from(["a", "b", ""]),
    name=st.sampled_from([None, "b"]),
    id=st.sampled_from([None, "1", "2"]),
    at=st.sampled_from([MAY, MAY + timedelta(microseconds=1)]),
)


@given(st.lists(messages, max_size=8))
def test_keys_name_the_sender_s_id_or_the_words_at_an_instant(given_: list[Message]) -> None:
    ids = transcripts.turn_ids_by_key("ep", given_, "person")
    named = [("id", m.id) if m.id else (m.at, m.role, m.name, m.content) for m in given_]
    for i, one in enumerate(named):
        for j, other in enumerate(named[:i]):
            same = one == other and one[0] == "id"
            assert (ids[i] == ids[j]) == same
    assert transcripts.turn_ids_by_key("ep", given_, "person") == ids
    assert not set(ids) & set(transcripts.turn_ids_by_key("other", given_, "person"))
    assert not set(ids) & set(transcripts.turn_ids_by_key("ep", given_, "model"))


@given(st.lists(messages, min_size=1, max_size=8), st.integers(0, 5))
def test_places_name_each_message_once(given_: list[Message], start: int) -> None:
    ids = transcripts.turn_ids_by_position("ep", given_, start)
    assert len(set(ids)) == len(given_)
    assert transcripts.turn_ids_by_position("ep", given_[1:], start + 1) == ids[1:]
    assert not set(ids) & set(transcripts.turn_ids_by_key("ep", given_, "person"))
