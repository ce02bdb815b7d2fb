"""The machine's clock, blocking and awaited."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class BlockingClock:
    """Sleeps by blocking the thread."""

    def now(self) -> datetime:
        """Return the present instant, UTC, microseconds."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait without giving the thread away."""
        time.sleep(seconds)


class AwaitedClock:
    """Sleeps on the event loop."""

    def now(self) -> datetime:
        """Return the present instant, UTC, microseconds."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait while others run."""
        await asyncio.sleep(seconds)
