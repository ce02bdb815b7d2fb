"""Memory connection and sessions shared by all calls of one server process."""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphmem.errors import GraphmemError, StillStartingError
from graphmem.model.terms import GLOBAL_SCOPE
from graphmem.rules.display import LogFormatter

if TYPE_CHECKING:
    from graphmem.client import AsyncGraphMem, AsyncSession
    from graphmem.local_server import Progress
    from graphmem.settings import Settings


MAX_SESSIONS = 1_000
IDLE_S = 1_800.0
"""Seconds without a call after which a session ends; its next call starts a new one."""

WAIT_S = 5.0
"""Seconds that a call waits for the database; clients time out after 30 to 60 s."""
RETRY_S = 8.0
"""Maximum seconds of transaction retries, for the same reason."""
FLUSH_S = 2.0
"""Seconds between writes of the search log: clients rarely let a server shut down cleanly."""
CLOSE_S = 10.0
GRACE_S = 1.0
"""Seconds for which closing waits for a connection that is being opened: the driver does not close
the socket of one that is cancelled meanwhile."""
MEGA = 1_000_000

log = logging.getLogger("graphmem.mcp")


@dataclass(frozen=True)
class Caller:
    """Tenant, scopes and rights of a caller, set when the server starts or by its key."""

    tenant: str
    scope: str
    read_only: bool = False
    erases: bool = True
    """Whether a caller that writes may also erase."""
    read_scopes: tuple[str, ...] | None = None
    """Scopes that it reads; None: its own and `global`."""

    @property
    def visible(self) -> tuple[str, ...]:
        """Scopes that it reads."""
        return self.read_scopes or (self.scope, GLOBAL_SCOPE)


@dataclass
class _OpenSession:
    session: AsyncSession
    used_at: float


@dataclass
class SessionRegistry:
    """Sessions by caller and id; calls without an id share one per MCP session."""

    clock: Callable[[], float] = time.monotonic
    max_sessions: int = MAX_SESSIONS
    _open: OrderedDict[tuple[Caller, str], _OpenSession] = field(default_factory=OrderedDict)
    _defaults: OrderedDict[tuple[Caller, str | None], str] = field(default_factory=OrderedDict)
    _ending: set[asyncio.Task[None]] = field(default_factory=set)

    def default_id(self, caller: Caller, mcp_session_id: str | None) -> str:
        """Return the session id of an MCP session; None for all calls outside one.

        Calls without an id share a session, so that echoes are detected for them too.
        """
        key = (caller, mcp_session_id)
        session_id = self._defaults.setdefault(key, f"mcp-{uuid.uuid4().hex[:16]}")
        self._defaults.move_to_end(key)
        if len(self._defaults) > self.max_sessions:
            self._defaults.popitem(last=False)
        return session_id

    def open(
        self, memory: AsyncGraphMem, caller: Caller, session_id: str, agent: str | None
    ) -> AsyncSession:
        """Return the open session of this id, or a new one; end idle sessions.

        The session of a read-only caller writes nothing, not even to the search log.
        """
        now = self.clock()
        key = (caller, session_id)
        found = self._open.pop(key, None)
        if found is None:
            tenant = memory.tenant(caller.tenant, trust="model")
            handle = tenant.scope(caller.scope, read_scopes=caller.read_scopes)
            session = handle.session(session_id, agent=agent, logged=not caller.read_only)
            found = _OpenSession(session, now)
        found.used_at = now
        self._open[key] = found
        self._end_idle(now)
        return found.session

    def _end_idle(self, now: float) -> None:
        while self._open:
            key, oldest = next(iter(self._open.items()))
            if len(self._open) <= self.max_sessions and now - oldest.used_at < IDLE_S:
                return
            del self._open[key]
            ending = asyncio.get_running_loop().create_task(_end(oldest.session))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


async def _end(session: AsyncSession) -> None:
    with suppress(GraphmemError):  # unwritten log entries are written later
        await session.__aexit__(None, None, None)


class MemoryConnection:
    """One open memory for all calls of a process."""

    def __init__(self, settings: Settings, *, wait_s: float = WAIT_S) -> None:
        retry_s = min(settings.max_retry_time_s, RETRY_S)
        self._settings = settings.model_copy(update={"max_retry_time_s": retry_s})
        self._wait_s = wait_s
        self._opening: asyncio.Task[AsyncGraphMem] | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._memory: AsyncGraphMem | None = None
        self._began = time.monotonic()
        self._connecting = False
        self._progress = "loading modules"

    @property
    def time_zone(self) -> str | None:
        """Zone of times without one; None: the machine's."""
        return self._settings.time_zone

    @property
    def explorer(self) -> str | None:
        """Address of the explorer in the settings."""
        return self._settings.explorer

    def begin(self) -> None:
        """Start opening the memory unless it is open or being opened."""
        if self._opening is None:
            self._began = time.monotonic()
            self._opening = asyncio.create_task(self._open())
            # Waiting calls receive the error; without one, the next call tries again.
            self._opening.add_done_callback(_log_failure)

    async def memory(self) -> AsyncGraphMem:
        """Return the memory, waiting a limited time for it.

        Raises:
            StillStartingError: it takes longer; the message reports the progress.
            GraphmemError: it could not be opened; the next call tries again.
        """
        self.begin()
        opening = self._opening
        assert opening is not None  # noqa: S101 - `begin` has just made it
        done, _ = await asyncio.wait({opening}, timeout=self._wait_s)
        if not done:
            seconds = time.monotonic() - self._began
            raise StillStartingError(
                f"Memory has been starting for {seconds:.0f} s: {self._progress}."
            )
        if opening.exception() is not None and self._opening is opening:
            self._opening = None
        return opening.result()

    async def close(self) -> None:
        """Write the pending log entries and close the connections; the database keeps running."""
        if self._opening is not None and self._connecting:
            await asyncio.wait({self._opening}, timeout=GRACE_S)
        tasks = [task for task in (self._flushing, self._opening) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            # A cancelled opening closes its connections.
            await asyncio.wait(tasks, timeout=CLOSE_S)
        if self._memory is not None:
            with suppress(GraphmemError, TimeoutError):
                await asyncio.wait_for(self._memory.close(), CLOSE_S)

    async def _open(self) -> AsyncGraphMem:
        # In a daemon thread, which does not delay the exit: downloads may take minutes.
        await _in_background(lambda: importlib.import_module("graphmem.client"))
        if self._settings.uri is None:
            await _in_background(self._start)
        self._progress = "opening the memory"
        self._connecting = True
        self._memory = await self._opened()
        self._flushing = asyncio.create_task(self._flush(self._memory))
        log.info("Memory is open.")
        return self._memory

    async def _opened(self) -> AsyncGraphMem:
        from graphmem.client import AsyncGraphMem

        return await AsyncGraphMem.open(settings=self._settings, on_progress=self._report)

    def _start(self) -> None:
        from graphmem import local_server

        local_server.ensure(self._settings, report=lambda step: self._report(_words(step)))

    def _report(self, line: str) -> None:
        if line != self._progress:
            log.info("%s", line)
        self._progress = line

    async def _flush(self, memory: AsyncGraphMem) -> None:
        while True:
            await asyncio.sleep(FLUSH_S)
            with suppress(GraphmemError):  # the entries are kept and written next time
                await memory.usage.flush()


def _words(step: Progress) -> str:
    if not step.bytes_total:
        return step.text
    done, total = step.bytes_done // MEGA, step.bytes_total // MEGA
    return f"fetching Neo4j, {step.files_done} of {step.files_total} files, {done} of {total} MB"


def _log_failure(task: asyncio.Task[AsyncGraphMem]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        code = error.code if isinstance(error, GraphmemError) else type(error).__name__
        log.warning("Memory could not be opened: %s", code)


async def _in_background(work: Callable[[], object]) -> None:
    """Run blocking work in a thread that does not keep the process alive."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(None)

    def run() -> None:
        failed: Exception | None = None
        try:
            work()
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            failed = error
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(settle, failed)

    threading.Thread(target=run, name="graphmem-start", daemon=True).start()
    await done


def log_to_stderr(logger: str, formatter: logging.Formatter | None = None) -> None:
    """Log to standard error; other loggers than this one log warnings and errors only."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter or LogFormatter("%(asctime)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger(logger).setLevel(logging.INFO)
