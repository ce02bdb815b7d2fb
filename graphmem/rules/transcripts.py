"""Messages of conversations, and hashes of texts shown to an agent."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from graphmem.model import (
    Belief,
    Card,
    Memory,
    MemoryBite,
    Message,
    Recollection,
    Trust,
    Turn,
)
from graphmem.model.roles import is_human, is_system
from graphmem.rules import alignment, drafts, identity

MessageKey = tuple[str, str | None, str]
"""Role, name and text of a message."""

BATCH = 100
"""Messages acknowledged together; after an interruption, up to this many are embedded again."""
DEFAULT_SESSION = "conversation"


class StoredTurn(NamedTuple):
    """A turn that is stored in the conversation."""

    id: str
    position: int
    key: MessageKey


class StoredConversation(NamedTuple):
    """The stored conversation, as far as a list of messages may be in it."""

    turns: Sequence[StoredTurn]
    """Turns with the words or an id of the given messages, by position."""
    systems: Sequence[int]
    """Positions of all messages of the system, in order."""
    asked: int
    """Position of the last message of a person; -1 without one."""
    next: int
    """Position of the next turn."""


class TurnPlan(NamedTuple):
    """Ids of the turns of a list of messages, and which of them are new."""

    ids: list[str]
    """Turn id of each message."""
    new: list[int]
    """Indexes of the messages to write."""
    next: int
    """Position of the first message to write."""


def message_key(message: Message) -> MessageKey:
    """Return the key that identifies a message without an id or a timestamp."""
    return message.role, message.name, message.content


def own_ids(
    episode_id: str, messages: Sequence[Message], keyed: Sequence[bool], writer: Trust
) -> list[tuple[str, ...]]:
    """Return the turn ids that the senders' ids or times give the messages; empty without either.

    A message with an id has a second turn id, for other words than those stored under its id. Equal
    texts with the same timestamp are numbered in order. Each trust class of writers has ids of its
    own, so that an agent does not take those of a person.
    """
    by = () if writer == "person" else (writer,)
    timed = identity.ordinals((m.at, message_key(m)) for m in messages)
    found: list[tuple[str, ...]] = []
    for message, is_keyed, n in zip(messages, keyed, timed, strict=True):
        words = message.role, message.name or "", message.content
        keys: list[tuple[str, ...]] = []
        if is_keyed and message.id is not None:
            keys = [("id", message.id), ("id", message.id, *words)]
        elif is_keyed and message.at is not None:
            keys = [("at", message.at.isoformat(), *words, str(n))]
        found.append(tuple(identity.turn_id(episode_id, *key, *by) for key in keys))
    return found


def plan_turns(
    episode_id: str,
    messages: Sequence[Message],
    own: Sequence[tuple[str, ...]],
    stored: StoredConversation,
    *,
    repeats: bool,
) -> TurnPlan:
    """Return which messages of a list are new, and the ids of their turns.

    An id or a time that is stored decides. Other messages are aligned with the conversation, those
    of the system apart from it. A turn that was stored without an id or a time may get one later.

    Args:
        repeats: whether one or two messages that repeat the last ones are new; see `align`.
    """
    known = _known(messages, own, stored)
    placed = {turn.id: is_placed(episode_id, turn) for turn in stored.turns} if any(own) else {}
    tokens = _tokens(messages, own, known, stored, placed)
    ids = [known.get(i) for i in range(len(messages))]
    for i, turn in _aligned(messages, tokens, stored, repeats=repeats and not known).items():
        if ids[i] is None and (not own[i] or placed[turn.id]):
            ids[i] = turn.id
    return _numbered(episode_id, messages, own, ids, stored)


def plan_reply(
    episode_id: str, messages: Sequence[Message], after: str, stored: StoredConversation
) -> TurnPlan:
    """Return which messages of a reply are new: none if they follow the question already.

    Args:
        after: id of the last turn of the question.
    """
    by_position = {turn.position: turn for turn in stored.turns}
    asked = next((turn.position for turn in stored.turns if turn.id == after), stored.next)
    there = [by_position.get(asked + n) for n in range(1, len(messages) + 1)]
    is_stored = all(
        turn is not None and turn.key == message_key(message)
        for turn, message in zip(there, messages, strict=True)
    )
    ids = [turn.id if turn and is_stored else None for turn in there]
    return _numbered(episode_id, messages, [()] * len(messages), ids, stored)


def erased_digest(turn_id: str) -> str:
    """Return the digest that an episode keeps of an erased turn."""
    return identity.digest("erased turn", turn_id)[:32]


def with_erased(
    episode_id: str,
    messages: Sequence[Message],
    own: Sequence[tuple[str, ...]],
    stored: StoredConversation,
    erased: Sequence[str],
) -> StoredConversation:
    """Return the conversation with the erased turns of messages in their places.

    So a history that still has an erased message is aligned as before, and the message is not new.

    Args:
        erased: position and `erased_digest` of each erased turn, with a space between them.
    """
    places = {int(position): digest for position, _, digest in (x.partition(" ") for x in erased)}
    turns = [
        StoredTurn(turn_id, position, message_key(message))
        for position, digest in places.items()
        for message, ids in zip(messages, own, strict=True)
        for turn_id in (*ids, _placed_id(episode_id, position, message_key(message)))
        if erased_digest(turn_id) == digest
    ]
    unique = {turn.id: turn for turn in turns}.values()
    systems = {turn.position for turn in unique if is_system(turn.key[0])}
    asked = [turn.position for turn in unique if is_human(turn.key[0])]
    return StoredConversation(
        sorted((*stored.turns, *unique), key=lambda turn: turn.position),
        sorted(systems.union(stored.systems)),
        max((stored.asked, *asked)),
        max((stored.next, *(position + 1 for position in places))),
    )


def is_placed(episode_id: str, turn: StoredTurn) -> bool:
    """Return whether a turn was stored without an id or a time of its sender."""
    return turn.id == _placed_id(episode_id, turn.position, turn.key)


def _placed_id(episode_id: str, position: int, key: MessageKey) -> str:
    role, name, content = key
    return identity.turn_id(episode_id, "place", str(position), role, name or "", content)


def _known(
    messages: Sequence[Message], own: Sequence[tuple[str, ...]], stored: StoredConversation
) -> dict[int, str]:
    """Return the turns that are stored under the ids or times of messages, by index."""
    keys = {turn.id: turn.key for turn in stored.turns}
    return {
        i: turn_id
        for i, message in enumerate(messages)
        for turn_id in own[i]
        if keys.get(turn_id) == message_key(message)
    }


def _tokens(
    messages: Sequence[Message],
    own: Sequence[tuple[str, ...]],
    known: Mapping[int, str],
    stored: StoredConversation,
    placed: Mapping[str, bool],
) -> tuple[list[Hashable], dict[str, Hashable]]:
    """Return tokens of the messages, and of the turns that can be one of them.

    A message with an id that is not stored may be a turn without one, but no other turn.
    """
    taken = set(known.values())
    plain = {message_key(m) for m, ids in zip(messages, own, strict=True) if not ids}
    late = {turn.key for turn in stored.turns if placed.get(turn.id) and turn.id not in taken}
    given: list[Hashable] = []
    for i, message in enumerate(messages):
        key = message_key(message)
        given.append(known.get(i) or (key if not own[i] or key in late else i))
    return given, {
        turn.id: turn.id if turn.id in taken else turn.key
        for turn in stored.turns
        if turn.id in taken or turn.key in plain or placed.get(turn.id)
    }


def _aligned(
    messages: Sequence[Message],
    tokens: tuple[list[Hashable], dict[str, Hashable]],
    stored: StoredConversation,
    *,
    repeats: bool,
) -> dict[int, StoredTurn]:
    """Return the stored turn of each message that is not new, by index.

    A text of the system is stored as often as one list has it.
    """
    given, of_turn = tokens
    systems, talk = defaultdict[Hashable, deque[StoredTurn]](deque), dict[int, StoredTurn]()
    for turn in stored.turns:
        if turn.id in of_turn and is_system(turn.key[0]):
            systems[of_turn[turn.id]].append(turn)
        elif turn.id in of_turn:
            talk[turn.position - bisect_left(stored.systems, turn.position)] = turn
    spoken = [i for i, message in enumerate(messages) if not is_system(message.role)]
    places = alignment.align(
        [given[i] for i in spoken],
        {place: of_turn[turn.id] for place, turn in talk.items()},
        stored.next - len(stored.systems),
        stored.asked - bisect_left(stored.systems, stored.asked),
        repeats=repeats,
    )
    found = {spoken[i]: talk[place] for i, place in places.items()}
    for i, message in enumerate(messages):
        if is_system(message.role) and (turns := systems.get(given[i])):
            found[i] = turns.popleft()
    return found


def _numbered(
    episode_id: str,
    messages: Sequence[Message],
    own: Sequence[tuple[str, ...]],
    found: Sequence[str | None],
    stored: StoredConversation,
) -> TurnPlan:
    """Return the plan with ids for the new messages: their own, else one of their position."""
    keys = {turn.id: turn.key for turn in stored.turns}
    ids, new = list[str](), dict[str, int]()
    for i, (message, turn_id) in enumerate(zip(messages, found, strict=True)):
        key = message_key(message)
        if turn_id is None:
            made = own[i] or (_placed_id(episode_id, stored.next + len(new), key),)
            turn_id = next(one for one in made if keys.setdefault(one, key) == key)
            new.setdefault(turn_id, i)
        ids.append(turn_id)
    return TurnPlan(ids, list(new.values()), stored.next)


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


def batches(messages: Sequence[Message]) -> Iterator[tuple[str, Iterator[Sequence[Message]]]]:
    """Yield each session with its messages in batches, in order of first appearance."""
    sessions: dict[str, list[Message]] = {}
    for message in assign_ids(messages):
        sessions.setdefault(message.session or DEFAULT_SESSION, []).append(message)
    for session_id, group in sessions.items():
        yield session_id, drafts.batches(group, BATCH)


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
