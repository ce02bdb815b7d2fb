"""Episodes with similar content for consolidation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from graphmem import ConsolidationPolicy, Handle

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)
SWIMS = (
    "I swim across the cold lake before breakfast.",
    "I swim across the cold lake before breakfast again.",
    "Today I swim across the cold lake before breakfast.",
)
FEW = ConsolidationPolicy(min_episodes=1)


def tell(memory: Handle, texts: Sequence[str], *, name: str | None = None, first: int = 0) -> None:
    """Add each text as an episode of its own, a day apart."""
    for n, text in enumerate(texts, first):
        at = MARCH + timedelta(days=n)
        message = {"role": "user", "content": text, "at": at} | ({"name": name} if name else {})
        memory.session(f"s{n}").add_messages([message])
