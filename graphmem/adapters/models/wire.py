"""The event loop on which every model service is asked, and the limits of what it may answer.

A request has a deadline as a whole: the time limits of HTTP clients start again with every octet,
so a service that sends one a second is never too late for them. On a loop a request can be
cancelled at any time, which closes its connection. One loop in one thread serves all models of the
process, blocking and awaited, because litellm keeps its connections by loop.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

    from aiohttp import BaseConnector, ClientSession

T = TypeVar("T")

_CLOSE_S = 2.0

MAX_BYTES: ContextVar[int] = ContextVar("MAX_BYTES")
"""Length of the reply to the request of this task, at most."""


class UnreadReplyError(Exception):
    """A reply was not read to its end; says why."""


def too_long(limit: int) -> UnreadReplyError:
    """Return the error of a reply that is longer than it may be."""
    return UnreadReplyError(f"it is longer than {limit:,} bytes")


class EventLoopThread:
    """An event loop in a thread of its own, with the connections that its requests share."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._session: ClientSession | None = None
        self._inherited: BaseConnector | None = None

    def submit(self, work: Callable[[ClientSession], Coroutine[Any, Any, T]]) -> Future[T]:
        """Begin work on the loop. To cancel the future cancels the work.

        Args:
            work: takes the session whose replies are limited.
        """

        async def begun() -> T:
            if self._session is None:
                self._session = _session()
            return await work(self._session)

        return asyncio.run_coroutine_threadsafe(begun(), self._running())

    def close(self) -> None:
        """Cancel what is on its way, close the connections and end the thread."""
        with self._starting:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(self._end(), loop)
            thread.join(_CLOSE_S)

    def abandon(self) -> None:
        """Forget the loop of the parent process, whose thread a fork has no copy of."""
        if self._session is not None:
            # Kept as they are: to close them here would end them for the parent.
            self._inherited = self._session.connector
            self._session.detach()
        self._starting = threading.Lock()
        self._loop = self._thread = self._session = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon: the interpreter does not wait for it, and `close` ends it.
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name="graphmem-models", daemon=True
                )
                self._thread.start()
            return self._loop

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
            self._session = None
        asyncio.get_running_loop().stop()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


WIRE = EventLoopThread()
atexit.register(WIRE.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WIRE.abandon)


def _session() -> ClientSession:
    """Return a session for litellm, which brings certificates, proxies and time limits itself."""
    import aiohttp

    class Limited(aiohttp.ClientResponse):
        """A response whose body is read up to `MAX_BYTES`."""

        async def start(self, connection: Any) -> aiohttp.ClientResponse:
            await super().start(connection)
            limit = MAX_BYTES.get()
            if self.headers.get("Content-Encoding", "identity") != "identity":
                # A few compressed octets may stand for any number of others.
                self.close()
                raise UnreadReplyError("it is compressed, although the request refuses that")
            if (self.content_length or 0) > limit:
                self.close()
                raise too_long(limit)
            self.content = _LimitedBody(self.content, limit)  # type: ignore[assignment]
            return self

    async def uncompressed(_: object, __: object, params: aiohttp.TraceRequestStartParams) -> None:
        params.headers["Accept-Encoding"] = "identity"

    asking = aiohttp.TraceConfig()
    asking.on_request_start.append(uncompressed)
    return aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(), response_class=Limited, trace_configs=[asking]
    )


class _LimitedBody:
    """A body that ends in an error when it is longer than it may be."""

    def __init__(self, body: Any, limit: int) -> None:
        self._body, self._limit = body, limit

    async def iter_chunked(self, size: int) -> AsyncIterator[bytes]:
        left = self._limit
        async for chunk in self._body.iter_chunked(size):
            left -= len(chunk)
            if left < 0:
                raise too_long(self._limit)
            yield chunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)
