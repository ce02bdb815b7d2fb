"""Conversations to store whole: ids of messages without one, sessions, and batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphmem.model import Message
from graphmem.rules import drafts, identity

BATCH = 100
"""Messages acknowledged together; after an interruption, up to this many are embedded again."""
DEFAULT_SESSION = "conversation"


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
    if all(message.id for message in messages):
        return list(messages)
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
