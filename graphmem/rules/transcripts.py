"""Messages of conversations, and hashes of texts shown to an agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from graphmem.model import (
    Belief,
    Card,
    CommitOutcome,
    IngestReport,
    Memory,
    MemoryBite,
    Message,
    NewMemory,
    Outcome,
    Recollection,
    Trust,
    Turn,
    TurnsReceipt,
)
from graphmem.rules import drafts, identity

MessageKey = tuple[str, str | None, str]
"""Role, name and text of a message."""


class StoredTurn(NamedTuple):
    """A turn that is stored in the conversation."""

    id: str
    key: MessageKey


def message_key(message: Message) -> MessageKey:
    """Return the key that identifies a message without an id or a timestamp."""
    return message.role, message.name, message.content


def have_keys(messages: Sequence[Message]) -> bool:
    """Return whether every message has an id or a timestamp, so that each has a key."""
    return all(m.id is not None or m.at is not None for m in messages)


def turn_ids_by_key(episode_id: str, messages: Sequence[Message], writer: Trust) -> list[str]:
    """Return the turn ids of keyed messages: from the sender's id, else from time and text.

    Equal texts with the same timestamp are numbered in order; messages with an id are not. Each
    trust class of writers has ids of its own, so that an agent does not take those of a person.
    """
    by = () if writer == "person" else (writer,)
    keys = [
        ("id", m.id)
        if m.id is not None
        else ("at", m.at.isoformat() if m.at else "", m.role, m.name or "", m.content)
        for m in messages
    ]
    return [
        identity.turn_id(episode_id, *key, *(() if key[0] == "id" else (str(n),)), *by)
        for key, n in zip(keys, identity.ordinals(keys), strict=True)
    ]


def turn_ids_by_position(episode_id: str, messages: Sequence[Message], start: int) -> list[str]:
    """Return the turn ids of messages identified by position, the first at position `start`."""
    return [
        identity.turn_id(episode_id, "place", str(place), m.role, m.name or "", m.content)
        for place, m in enumerate(messages, start)
    ]


def overlapping_turns(
    first: Sequence[StoredTurn], last: Sequence[StoredTurn], keys: Sequence[MessageKey]
) -> Sequence[StoredTurn]:
    """Return the stored turns that match the given messages, from the first message on.

    The messages may continue the conversation: its end equals their start, and the longest such
    overlap counts. Or they may repeat its start: it begins with all of them, at least two.

    Args:
        first: first turns of the conversation, as many as there are messages or fewer.
        last: its last turns, as many, in order.
        keys: keys of the messages.
    """
    for n in range(min(len(last), len(keys)), 0, -1):
        if [turn.key for turn in last[-n:]] == list(keys[:n]):
            return last[-n:]
    if len(keys) > 1 and [turn.key for turn in first] == list(keys):
        return first
    return ()


BATCH = 100
"""Messages acknowledged together; after an interruption, up to this many are embedded again."""
HUMAN_ROLES = frozenset({"user", "human"})
"""Roles of people. Messages of other roles only become turns: they are not evidence."""
DEFAULT_SESSION = "conversation"


def is_human(role: str) -> bool:
    """Return whether a role is that of a person."""
    return role.lower() in HUMAN_ROLES


class MessageBatch(NamedTuple):
    """Messages of one session, in order."""

    session_id: str
    messages: Sequence[Message]


class IngestedMessage(NamedTuple):
    """A message and the outcome of its text; None if it only became a turn."""

    message: Message
    outcome: CommitOutcome | None


def fingerprint(message: Message) -> str:
    """Return 16 hex digits of a digest of session, role, name, time and text."""
    at = message.at.isoformat() if message.at else ""
    fields = (message.session or "", message.role, message.name or "", at, message.content)
    return identity.digest(*fields)[:16]


def assign_ids(messages: Sequence[Message]) -> list[Message]:
    """Return messages that all have an id: their own, or one derived from their content.

    A derived id depends on the message and on the number of equal ones before it. It is therefore
    the same when the conversation is sent again or has grown.
    """
    prints = [fingerprint(message) for message in messages]
    return [
        message if message.id else message.model_copy(update={"id": f"{key}-{n}"})
        for message, key, n in zip(messages, prints, identity.ordinals(prints), strict=True)
    ]


def sessions(messages: Sequence[Message]) -> list[str]:
    """Return the sessions of messages, in order of first appearance."""
    return list(dict.fromkeys(message.session or DEFAULT_SESSION for message in messages))


def batches(messages: Sequence[Message]) -> Iterator[MessageBatch]:
    """Yield messages in batches by session, in order of first appearance."""
    sessions: dict[str, list[Message]] = {}
    for message in assign_ids(messages):
        sessions.setdefault(message.session or DEFAULT_SESSION, []).append(message)
    for session_id, group in sessions.items():
        for part in drafts.batches(group, BATCH):
            yield MessageBatch(session_id, part)


def conversation_memories(
    messages: Sequence[Message], turns: TurnsReceipt
) -> Mapping[int, NewMemory]:
    """Return the memories to commit for messages of people, by index in the batch.

    The event's id derives from the turn, so the same message is committed once.
    """
    return {
        i: NewMemory(
            content=message.content,
            event_id="said_" + turn_id,
            at=message.at,
            source="conversation",
            actor=message.name or message.role,
            episode_id=turns.episode_id,
            turn_id=turn_id,
        )
        for i, (message, turn_id) in enumerate(zip(messages, turns.turn_ids, strict=True))
        if is_human(message.role)
    }


def pair_outcomes(
    messages: Sequence[Message], places: Sequence[int], outcomes: Sequence[CommitOutcome]
) -> list[IngestedMessage]:
    """Return each message with its outcome; None if it has none."""
    by_place = dict(zip(places, outcomes, strict=True))
    return [IngestedMessage(message, by_place.get(i)) for i, message in enumerate(messages)]


def add_batch(
    so_far: IngestReport, turns: TurnsReceipt, outcomes: Sequence[CommitOutcome]
) -> IngestReport:
    """Return the totals including one more batch; repeated commits are counted separately."""
    became: Counter[Outcome] = Counter(so_far.outcomes)
    became.update(o.outcome for o in outcomes if not o.repeated)
    return so_far.model_copy(
        update={
            "messages": so_far.messages + len(turns.turn_ids),
            "turns_added": so_far.turns_added + turns.added,
            "outcomes": dict(became),
            "repeated": so_far.repeated + sum(o.repeated for o in outcomes),
        }
    )


def bite_hashes(recollection: Recollection) -> set[str]:
    """Return the content hashes of recalled texts."""
    return {
        bite.memory.content_hash
        if isinstance(bite, MemoryBite)
        else identity.content_hash(bite.text)
        for bite in recollection.bites
    }


def card_hashes(card: Card) -> set[str]:
    """Return the content hashes of the texts on a card, for echo detection."""
    item, texts = card.item, [turn.text for turn in card.turns]
    texts += [other.text for other in (*card.supersedes, *card.superseded_by)]
    texts += [belief.statement for belief in card.claims]
    if isinstance(item, Memory):
        texts.append(item.content)
    elif isinstance(item, Belief):
        texts.append(item.statement)
    elif isinstance(item, Turn):
        texts.append(item.text)
    else:
        texts += [text for text in (item.summary, item.content) if text]
    return {identity.content_hash(text) for text in texts}
