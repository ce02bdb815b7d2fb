"""The two ways to wait: in the caller's thread, or suspended while another thread works."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


class IOMode(Protocol):
    """How a model waits; everything else about it is written once."""

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns."""
        ...

    async def result(self, future: Future[T]) -> T:
        """Return what another thread makes; cancel it there when this is cancelled."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...


class BlockingMode:
    """Waits in the caller's thread: its coroutines never suspend."""

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work here and now."""
        return work()

    async def result(self, future: Future[T]) -> T:
        """Hold the thread until it is there."""
        try:
            return future.result()
        finally:
            future.cancel()  # Ctrl-C ends the wait, not the work.

    async def sleep(self, seconds: float) -> None:
        """Hold the thread."""
        time.sleep(seconds)


class AsyncMode:
    """Suspends while a thread of the running loop works."""

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work in another thread."""
        return await asyncio.to_thread(work)

    async def result(self, future: Future[T]) -> T:
        """Let the loop go on until it is there."""
        return await asyncio.wrap_future(future)

    async def sleep(self, seconds: float) -> None:
        """Let the loop go on."""
        await asyncio.sleep(seconds)


BLOCKING: IOMode = BlockingMode()
AWAITED: IOMode = AsyncMode()
