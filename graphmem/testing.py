"""Stand-ins for tests: a clock that is set by hand, an embedder without a model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from graphmem.adapters.embedding.hashing import HashEmbedder
from graphmem.errors import InvalidInputError

__all__ = ["FrozenClock", "HashEmbedder"]


class FrozenClock:
    """A clock that moves only when told to."""

    def __init__(self, at: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.set(at)

    def now(self) -> datetime:
        """Return the instant it was set to, UTC."""
        return self._at

    def set(self, at: datetime) -> None:
        """Set it.

        Raises:
            InvalidInputError: `at` has no time zone.
        """
        if at.utcoffset() is None:
            raise InvalidInputError(
                "The clock needs an instant with a time zone.", hint="Add tzinfo=UTC."
            )
        self._at = at.astimezone(UTC)

    async def sleep(self, seconds: float) -> None:
        """Move it by this much, at once."""
        self.advance(timedelta(seconds=seconds))

    def advance(self, by: timedelta) -> None:
        """Move it by this much."""
        self._at += by
