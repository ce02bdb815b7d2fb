"""The machine's clock, blocking and awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar


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


T = TypeVar("T")


async def together(works: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int) -> list[T]:
    """Do the works at once, at most `limit` of them, and return what each returned, in order.

    When one raises, the others are cancelled and have ended before the error goes on.
    """
    gate = asyncio.Semaphore(limit)

    async def admitted(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        async with gate:
            return await work()

    tasks = [asyncio.ensure_future(admitted(work)) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
