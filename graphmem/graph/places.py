"""Places for the transactions that a client on an event loop runs at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

from graphmem.errors import GraphUnavailableError

_Turn: TypeAlias = "asyncio.Future[None]"


class Places:
    """A number of places, one for each connection; transactions wait for them in their order.

    The driver's pool wakes every waiting transaction when a connection is free, and fails each
    that waited for its timeout, even if others were answered all the time.
    """

    def __init__(self, count: int, patience_s: float) -> None:
        self._free = count
        self._patience_s = patience_s
        self._answered = 0.0
        """Time of the loop when a transaction last succeeded."""
        self._waiting = deque[_Turn]()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place during the block.

        Raises:
            GraphUnavailableError: no transaction has succeeded for `patience_s` seconds.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait()
        try:
            yield
            self._answered = asyncio.get_running_loop().time()
        finally:
            self._leave()

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        turn, since = loop.create_future(), loop.time()
        self._waiting.append(turn)
        try:
            while not turn.done():
                patience = max(since, self._answered) + self._patience_s - loop.time()
                if patience <= 0:
                    raise GraphUnavailableError(
                        "All connections are in use, and no transaction has succeeded for "
                        f"{self._patience_s:g} s."
                    )
                await asyncio.wait([turn], timeout=patience)
        except BaseException:
            if not turn.cancel():
                self._leave()  # it was given the place just now
            raise

    def _leave(self) -> None:
        """Give the place to the transaction that has waited for the longest time."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
