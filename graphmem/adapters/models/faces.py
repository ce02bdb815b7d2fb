"""The two ways to wait: in the caller's thread, or suspended while another thread works."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Face(Protocol):
    """How a model waits; everything else about it is written once."""

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...


class Blocking:
    """Waits in the caller's thread: its coroutines never suspend."""

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work here and now."""
        return work()

    async def sleep(self, seconds: float) -> None:
        """Hold the thread."""
        time.sleep(seconds)


class Awaited:
    """Suspends while a thread of the running loop works."""

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work in another thread."""
        return await asyncio.to_thread(work)

    async def sleep(self, seconds: float) -> None:
        """Let the loop go on."""
        await asyncio.sleep(seconds)


BLOCKING: Face = Blocking()
AWAITED: Face = Awaited()
