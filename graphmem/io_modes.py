"""Blocking and async waiting: threads, futures, the system clock and concurrent execution."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


class IOMode:
    """Waits in the caller's thread: its coroutines never suspend."""

    async def run(self, work: Callable[[], T]) -> T:
        """Call `work` and return its result."""
        return work()

    async def result(self, future: Future[T]) -> T:
        """Return the result of a future of another thread; cancel it if the wait is cancelled."""
        try:
            return future.result()
        finally:
            future.cancel()  # Ctrl-C ends only the wait, so the work is cancelled here.

    async def sleep(self, seconds: float) -> None:
        """Wait for this many seconds."""
        time.sleep(seconds)


class _AsyncMode(IOMode):
    """Suspends while another thread works."""

    async def run(self, work: Callable[[], T]) -> T:
        """Call `work` in another thread."""
        return await asyncio.to_thread(work)

    async def result(self, future: Future[T]) -> T:
        """Suspend until the result is available."""
        return await asyncio.wrap_future(future)

    async def sleep(self, seconds: float) -> None:
        """Suspend on the event loop."""
        await asyncio.sleep(seconds)


BLOCKING, AWAITED = IOMode(), _AsyncMode()


class SystemClock:
    """System clock that sleeps by blocking the thread, or on the event loop."""

    def __init__(self, mode: IOMode) -> None:
        self.sleep = mode.sleep

    def now(self) -> datetime:
        """Return the current time in UTC with microseconds."""
        return datetime.now(UTC)

    def ticks(self) -> float:
        """Return the seconds of a clock that never goes back."""
        return time.monotonic()


async def run_concurrently(
    works: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int
) -> list[T]:
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
