"""The conversations that are going on, each with what memory has told it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphmem.errors import GraphmemError

if TYPE_CHECKING:
    from graphmem.client import AsyncGraphMem, AsyncSession

MOST = 1_000
IDLE_S = 1_800.0
"""A conversation that says nothing for so long has ended; its next word begins it anew."""


@dataclass(frozen=True)
class Caller:
    """Whose memory a caller works on; decided when the server starts, or by the token."""

    tenant: str
    scope: str
    read_only: bool = False


@dataclass
class _OpenSession:
    session: AsyncSession
    used_at: float


@dataclass
class SessionRegistry:
    """Sessions by caller and name; a call that names none has one of its connection."""

    clock: Callable[[], float] = time.monotonic
    most: int = MOST
    _open: OrderedDict[tuple[Caller, str], _OpenSession] = field(default_factory=OrderedDict)
    _unnamed: OrderedDict[tuple[Caller, str | None], str] = field(default_factory=OrderedDict)
    _ending: set[asyncio.Task[None]] = field(default_factory=set)

    def unnamed(self, who: Caller, connection: str | None) -> str:
        """Return the name of the session of a connection; None: all that have no id of their own.

        So what memory told an agent that names no session is no news to it either.
        """
        key = (who, connection)
        name = self._unnamed.setdefault(key, f"mcp-{uuid.uuid4().hex[:16]}")
        self._unnamed.move_to_end(key)
        if len(self._unnamed) > self.most:
            self._unnamed.popitem(last=False)
        return name

    def on(self, memory: AsyncGraphMem, who: Caller, name: str, agent: str | None) -> AsyncSession:
        """Return a session, which goes on when it is there; long silent ones are ended.

        The session of a caller that may only read writes nothing, not even to the search log.
        """
        now = self.clock()
        key = (who, name)
        found = self._open.pop(key, None)
        if found is None:
            handle = memory.tenant(who.tenant).scope(who.scope)
            session = handle.session(name, agent=agent, logged=not who.read_only)
            found = _OpenSession(session, now)
        found.used_at = now
        self._open[key] = found
        self._end_silent(now)
        return found.session

    def _end_silent(self, now: float) -> None:
        while self._open:
            key, oldest = next(iter(self._open.items()))
            if len(self._open) <= self.most and now - oldest.used_at < IDLE_S:
                return
            del self._open[key]
            ending = asyncio.get_running_loop().create_task(_end(oldest.session))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


async def _end(session: AsyncSession) -> None:
    with suppress(GraphmemError):  # what could not be logged is written later
        await session.__aexit__(None, None, None)
