"""Checks of a valid key: its tenant is not erased, and it stays valid while an answer streams."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphmem.client.erasures import is_erased
from graphmem.errors import GraphmemError
from graphmem.mcp.connection import MemoryConnection
from graphmem.serve.guard import GRANT
from graphmem.serve.keys import Key, KeyRing
from graphmem.serve.problems import Problem

STREAM_S = 1.0
"""Seconds between two checks of the key whose answer streams."""
TENANT_S = 5.0
"""Seconds after which it is asked again whether a tenant was erased."""
MAX_TENANTS = 10_000
"""Maximum number of tenants for which the last answer is kept."""
AFTERWARDS = ("/v1/admin/erase-tenant", "/v1/admin/erasures", "/v1/operations/")
"""Starts of paths open to an erased tenant's key: it may finish an erasure and read the records."""


class KeyCheck:
    """Middleware that refuses keys of erased tenants, and ends streams of keys that end."""

    def __init__(self, app: ASGIApp, keys: KeyRing, tenants: ErasedTenants) -> None:
        self._app = app
        self._keys = keys
        self._tenants = tenants

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        key = scope.get(GRANT)
        if not isinstance(key, Key):
            await self._app(scope, receive, send)
            return
        after = scope["path"].startswith(AFTERWARDS)
        if not after and await self._tenants.contain(key.tenant):
            problem = Problem(
                401,
                "unauthorized",
                "The tenant of the key was erased.",
                headers={"www-authenticate": "Bearer"},
            )
            await problem.response()(scope, receive, send)
            return
        await self._answer(key, scope, receive, send)

    async def _answer(self, key: Key, scope: Scope, receive: Receive, send: Send) -> None:
        loop, timer = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
        limit = asyncio.timeout(None)

        def check() -> None:
            if self._keys.is_valid(key):
                timer[:] = [loop.call_later(STREAM_S, check)]
            else:
                limit.reschedule(loop.time())

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and _streams(message):
                timer[:] = [loop.call_later(STREAM_S, check)]
            await send(message)

        try:
            async with limit:
                await self._app(scope, receive, watched)
        except TimeoutError:
            if not limit.expired():
                raise
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            for one in timer:
                one.cancel()


def _streams(start: Message) -> bool:
    """Return whether an answer that starts is a stream of events."""
    found = Headers(raw=start.get("headers", [])).get("content-type", "")
    return found.startswith("text/event-stream")


class ErasedTenants:
    """Tenants that were erased, which the graph records."""

    def __init__(
        self, connection: MemoryConnection, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._known: OrderedDict[str, tuple[bool, float]] = OrderedDict()

    async def contain(self, tenant: str) -> bool:
        """Return whether a tenant was erased; no tenant returns after that.

        A graph that does not answer is not asked again for a while: no call reaches it either.
        """
        erased, at = self._known.get(tenant, (False, -TENANT_S))
        now = self._clock()
        if erased or now - at < TENANT_S:
            return erased
        # Requests that arrive meanwhile do not ask too.
        self._known[tenant] = (False, now)
        self._known.move_to_end(tenant)
        if len(self._known) > MAX_TENANTS:
            self._known.popitem(last=False)
        with suppress(GraphmemError):
            memory = await self._connection.memory()
            erased = await is_erased(memory.tenant(tenant))
            self._known[tenant] = (erased, now)
        return erased
