"""The system clock and concurrent execution, blocking and async."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar


class BlockingClock:
    """System clock that sleeps by blocking the thread."""

    def now(self) -> datetime:
        """Return the current time in UTC with microseconds."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Block the thread."""
        time.sleep(seconds)


class AwaitedClock:
    """System clock that sleeps on the event loop."""

    def now(self) -> datetime:
        """Return the current time in UTC with microseconds."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Suspend on the event loop."""
        await asyncio.sleep(seconds)


T = TypeVar("T")


async def together(works: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int) -> list[T]:
    """Run the works concurrently, at most `limit` at a time, and return their results in order.

    If one raises, the others are cancelled and awaited before the exception propagates.
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
