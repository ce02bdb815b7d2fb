"""Several things that wait for something outside, on the running event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

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
