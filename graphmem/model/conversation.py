"""Conversations: messages, turns and the episodes that hold them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from graphmem.model.memory import Outcome
from graphmem.model.terms import Instant, Name, Record, Text


class Message(Record):
    """One message of a conversation, as said.

    `id` is the sender's own id of the message; with it or with `at`, adding the message again
    is recognised wherever it stands. `session` names the stretch of conversation it belongs to
    and is read by `ingest` only.
    """

    role: Name
    content: Annotated[Text, Field(max_length=1_000_000)]
    name: Name | None = None
    at: Instant | None = None
    id: Name | None = None
    session: Name | None = None


class Turn(Record):
    """One message as it is kept: verbatim and in its place."""

    id: str
    episode_id: str
    position: int
    role: str
    name: str | None
    text: str
    occurred_at: Instant
    recorded_at: Instant


class Episode(Record):
    """One stretch of experience: a session, a conversation, a document."""

    id: str
    scope: str
    session_id: str | None
    summary: str | None
    content: str | None
    """None: it has none, or it is compressed."""
    gist: str | None = None
    """What its text came to, made when it was compressed and has no summary."""
    compressed: bool = False
    """Its full text lies in an archive; `restore_episode` puts it back."""
    entities: tuple[str, ...]
    importance: float
    occurred_at: Instant
    recorded_at: Instant
    turns: int


class TurnsReceipt(Record):
    """What `add_messages` did."""

    episode_id: str
    turn_ids: tuple[str, ...]
    """One id per message given, in its order, whether added now or found."""
    added: int
    """How many of them are new."""


class IngestReport(Record):
    """What `ingest` did."""

    messages: int = 0
    turns_added: int = 0
    outcomes: dict[Outcome, int] = Field(default_factory=dict)
    """New commits by outcome."""
    repeated: int = 0
    """Texts that an earlier run had committed."""
