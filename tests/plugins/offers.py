"""Turns of people in a session, and the facts that a model proposes from them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem import Handle
from graphmem.testing import ScriptedLlm
from tests.plugins.clients import Door

MARCH = datetime(2024, 3, 3, 9, tzinfo=UTC)
JUNE = datetime(2024, 6, 12, 9, tzinfo=UTC)
MOVED = "I moved to Lisbon."
CORRECTED = "Actually, Porto since May."


def offer(turn: str, quote: str, object_: str, **changed: Any) -> dict[str, Any]:
    """Return one fact about the user's home, as a model writes it."""
    return {
        "turn": turn,
        "quote": quote,
        "subject": "user",
        "predicate": "lives_in",
        "object": object_,
        "polarity": "supporting",
        "confidence": 0.9,
    } | changed


def answered(*offers: dict[str, Any]) -> dict[str, Any]:
    return {"proposals": list(offers)}


LISBON = answered(offer("t1", "I moved to Lisbon", "Lisbon"))
PORTO = answered(offer("t1", "Porto since May", "Porto", when="since May"))


def say(
    memory: Handle, session: str, *texts: str, at: datetime = MARCH, role: str = "user"
) -> None:
    messages = [
        {"role": role, "content": text, "at": at + timedelta(minutes=n)}
        for n, text in enumerate(texts)
    ]
    memory.session(session).add_messages(messages)


def modelled(door: Door, memory: Handle, *replies: Any) -> Handle:
    return door.on(memory, llm=ScriptedLlm(replies))
