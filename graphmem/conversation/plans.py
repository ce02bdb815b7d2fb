"""Find which messages of a list are new in a conversation, and the ids of their turns."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from graphmem.conversation import alignment
from graphmem.model import Message, Trust
from graphmem.model.roles import is_human, is_system
from graphmem.rules import identity

MessageKey = tuple[str, str | None, str]
"""Role, name and text of a message."""


class SentMessage(NamedTuple):
    """Key and ids that a message is recognised by."""

    key: MessageKey
    ids: tuple[str, ...]
    """Turn ids that the id or time of its sender gives it; empty without either."""


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


def sent_messages(
    episode_id: str, messages: Sequence[Message], keyed: Iterable[bool], writer: Trust
) -> list[SentMessage]:
    """Return what messages are recognised by.

    A message with an id has a second turn id, for other words than those stored under its id. Equal
    texts with the same timestamp are numbered in order. Each trust class of writers has ids of its
    own, so that an agent does not take those of a person.

    Args:
        keyed: whether the id or time of each message identifies it.
    """
    by = () if writer == "person" else (writer,)
    keys = [message_key(message) for message in messages]
    timed = identity.ordinals((m.at, key) for m, key in zip(messages, keys, strict=True))
    found: list[SentMessage] = []
    for message, key, is_keyed, n in zip(messages, keys, keyed, timed, strict=True):
        words = message.role, message.name or "", message.content
        own: list[tuple[str, ...]] = []
        if is_keyed and message.id is not None:
            own = [("id", message.id), ("id", message.id, *words)]
        elif is_keyed and message.at is not None:
            own = [("at", message.at.isoformat(), *words, str(n))]
        ids = (identity.turn_id(episode_id, *parts, *by) for parts in own)
        found.append(SentMessage(key, tuple(ids)))
    return found


def plan_turns(
    episode_id: str, sent: Sequence[SentMessage], stored: StoredConversation, *, repeats: bool
) -> TurnPlan:
    """Return which messages of a list are new, and the ids of their turns.

    An id or a time that is stored decides. Other messages are aligned with the conversation, those
    of the system apart from it. A turn that was stored without an id or a time may get one later.

    Args:
        repeats: whether one or two messages that repeat the last ones are new; see `align`.
    """
    known = _known(sent, stored)
    placed = dict[str, bool]()
    if any(one.ids for one in sent):
        placed = {turn.id: _is_placed(episode_id, turn) for turn in stored.turns}
    tokens = _tokens(sent, known, stored, placed)
    ids = [known.get(i) for i in range(len(sent))]
    for i, turn in _aligned(sent, tokens, stored, repeats=repeats and not known).items():
        if ids[i] is None and (not sent[i].ids or placed[turn.id]):
            ids[i] = turn.id
    return _numbered(episode_id, sent, ids, stored)


def plan_reply(
    episode_id: str, sent: Sequence[SentMessage], after: str, stored: StoredConversation
) -> TurnPlan:
    """Return which messages of a reply are new: none if they follow the question already.

    Args:
        after: id of the last turn of the question.
    """
    by_position = {turn.position: turn for turn in stored.turns}
    asked = next((turn.position for turn in stored.turns if turn.id == after), stored.next)
    there = [by_position.get(asked + n) for n in range(1, len(sent) + 1)]
    is_stored = all(
        turn is not None and turn.key == message.key
        for turn, message in zip(there, sent, strict=True)
    )
    ids = [turn.id if turn and is_stored else None for turn in there]
    return _numbered(episode_id, sent, ids, stored)


def erased_digest(turn_id: str) -> str:
    """Return the digest that an episode keeps of an erased turn."""
    return identity.digest("erased turn", turn_id)[:32]


def with_erased(
    episode_id: str,
    sent: Sequence[SentMessage],
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
        StoredTurn(turn_id, position, message.key)
        for position, digest in places.items()
        for message in sent
        for turn_id in (*message.ids, _placed_id(episode_id, position, message.key))
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


def _is_placed(episode_id: str, turn: StoredTurn) -> bool:
    """Return whether a turn was stored without an id or a time of its sender."""
    return turn.id == _placed_id(episode_id, turn.position, turn.key)


def _placed_id(episode_id: str, position: int, key: MessageKey) -> str:
    role, name, content = key
    return identity.turn_id(episode_id, "place", str(position), role, name or "", content)


def _known(sent: Sequence[SentMessage], stored: StoredConversation) -> dict[int, str]:
    """Return the turns that are stored under the ids or times of messages, by index."""
    keys = {turn.id: turn.key for turn in stored.turns}
    return {
        i: turn_id
        for i, message in enumerate(sent)
        for turn_id in message.ids
        if keys.get(turn_id) == message.key
    }


def _tokens(
    sent: Sequence[SentMessage],
    known: Mapping[int, str],
    stored: StoredConversation,
    placed: Mapping[str, bool],
) -> tuple[list[Hashable], dict[str, Hashable]]:
    """Return tokens of the messages, and of the turns that can be one of them.

    A message with an id that is not stored may be a turn without one, but no other turn.
    """
    taken = set(known.values())
    plain = {message.key for message in sent if not message.ids}
    late = {turn.key for turn in stored.turns if placed.get(turn.id) and turn.id not in taken}
    given: list[Hashable] = [
        known.get(i) or (message.key if not message.ids or message.key in late else i)
        for i, message in enumerate(sent)
    ]
    return given, {
        turn.id: turn.id if turn.id in taken else turn.key
        for turn in stored.turns
        if turn.id in taken or turn.key in plain or placed.get(turn.id)
    }


def _aligned(
    sent: Sequence[SentMessage],
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
    spoken = [i for i, message in enumerate(sent) if not is_system(message.key[0])]
    places = alignment.align(
        [given[i] for i in spoken],
        {place: of_turn[turn.id] for place, turn in talk.items()},
        stored.next - len(stored.systems),
        stored.asked - bisect_left(stored.systems, stored.asked),
        repeats=repeats,
    )
    found = {spoken[i]: talk[place] for i, place in places.items()}
    for i, message in enumerate(sent):
        if is_system(message.key[0]) and (turns := systems.get(given[i])):
            found[i] = turns.popleft()
    return found


def _numbered(
    episode_id: str,
    sent: Sequence[SentMessage],
    found: Sequence[str | None],
    stored: StoredConversation,
) -> TurnPlan:
    """Return the plan with ids for the new messages: their own, else one of their position."""
    keys = {turn.id: turn.key for turn in stored.turns}
    ids, new = list[str](), dict[str, int]()
    for i, (message, turn_id) in enumerate(zip(sent, found, strict=True)):
        key = message.key
        if turn_id is None:
            made = message.ids or (_placed_id(episode_id, stored.next + len(new), key),)
            turn_id = next(one for one in made if keys.setdefault(one, key) == key)
            new.setdefault(turn_id, i)
        ids.append(turn_id)
    return TurnPlan(ids, list(new.values()), stored.next)
