"""Which messages of a conversation are new: by their own key, else by where they overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphmem.model import Message
from graphmem.rules import identity

Said = tuple[str, str | None, str]
"""Role, name, text."""


class StoredTurn(NamedTuple):
    """A turn that is in the conversation."""

    id: str
    said: Said


def said(message: Message) -> Said:
    """Return what makes two messages the same when nothing names or dates them."""
    return message.role, message.name, message.content


def keyed(messages: Sequence[Message]) -> bool:
    """Return whether every message carries an id or an instant, so that each has a key."""
    return all(m.id is not None or m.at is not None for m in messages)


def key_ids(episode_id: str, messages: Sequence[Message]) -> list[str]:
    """Return the turn ids of keyed messages: from the sender's id, else from instant and words.

    Equal words at one instant are told apart by their order; an id stands for itself.
    """
    keys = [
        ("id", m.id)
        if m.id is not None
        else ("at", m.at.isoformat() if m.at else "", m.role, m.name or "", m.content)
        for m in messages
    ]
    return [
        identity.turn_id(episode_id, *key, *(() if key[0] == "id" else (str(n),)))
        for key, n in zip(keys, identity.ordinals(keys), strict=True)
    ]


def place_ids(episode_id: str, messages: Sequence[Message], start: int) -> list[str]:
    """Return the turn ids of messages known by their place, the first at position `start`."""
    return [
        identity.turn_id(episode_id, "place", str(place), m.role, m.name or "", m.content)
        for place, m in enumerate(messages, start)
    ]


def resumed(first: Sequence[StoredTurn], last: Sequence[StoredTurn], given: Sequence[Said]) -> Sequence[StoredTurn]:
    """Return the turns that the given messages, from their start, are already.

    Either the end of the conversation is their beginning (they go on from it; the longest such end
    counts), or the conversation begins with all of them, at least two (they are sent once more).

    Args:
        first: the conversation's first turns, as many as given or all there are.
        last: its last ones, likewise, in order.
        given: what was sent now.
    """
    for n in range(min(len(last), len(given)), 0, -1):
        if [turn.said for turn in last[-n:]] == list(given[:n]):
            return last[-n:]
    if len(given) > 1 and [turn.said for turn in first] == list(given):
        return first
    return ()
