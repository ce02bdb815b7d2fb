"""Places for the requests that a process answers at once; the others wait, fairly by tenant."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TypeAlias

from graphmem.serve.problems import Problem

MAX_RUNNING = 32
"""Maximum number of requests that a process answers at once."""
MAX_WAITING = 1_000
"""Maximum number of requests that wait for a place."""
_Turn: TypeAlias = "asyncio.Future[None]"


def busy() -> Problem:
    """Return the problem of a server that cannot take a request now."""
    text = "The server answers too many requests at the moment."
    return Problem(503, "busy", text, headers={"retry-after": "1"})


@dataclass
class Places:
    """Places of a process. The tenants with waiting requests take turns."""

    running: int = MAX_RUNNING
    waiting: int = MAX_WAITING
    _taken: int = 0
    _queues: OrderedDict[str, deque[_Turn]] = field(default_factory=OrderedDict)

    async def enter(self, tenant: str) -> None:
        """Wait for a place, which `leave` frees.

        Raises:
            Problem: too many requests wait. If another tenant has more than this one, its newest
                request is refused instead.
        """
        if self._taken < self.running:
            self._taken += 1
            return
        self._make_room(tenant)
        turn: _Turn = asyncio.get_running_loop().create_future()
        self._queues.setdefault(tenant, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # it was this request's turn just now
            else:
                self._forget(tenant, turn)
            raise

    def leave(self) -> None:
        """Give the place to the next tenant's oldest request."""
        while self._queues:
            tenant, queue = self._queues.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._queues[tenant] = queue
            if not turn.done():
                turn.set_result(None)
                return
        self._taken -= 1

    def _make_room(self, tenant: str) -> None:
        if sum(map(len, self._queues.values())) < self.waiting:
            return
        fullest = max(self._queues, key=lambda name: len(self._queues[name]), default=tenant)
        if len(self._queues.get(fullest, ())) <= len(self._queues.get(tenant, ())) + 1:
            raise busy()
        turn = self._queues[fullest].pop()
        if not turn.done():
            turn.set_exception(busy())

    def _forget(self, tenant: str, turn: _Turn) -> None:
        queue = self._queues.get(tenant)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._queues[tenant]
