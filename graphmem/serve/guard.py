"""Checks of a request before its route: host, origin, key, rate, size."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphmem.mcp.http_connections import admit
from graphmem.rules import urls
from graphmem.serve.keys import Grant, Key, KeyRing
from graphmem.serve.problems import Problem

MAX_BODY = 4 * 1024 * 1024
"""Maximum size of a body, in bytes."""
MAX_RUNNING = 200
"""Maximum number of requests that a process answers at once."""
HEALTH = frozenset({"/health/live", "/health/ready"})
"""Paths that need neither key nor a known host: probes use the address of a container."""
OPEN = frozenset({"/version", "/openapi.json"})
"""Paths without data, which need no key."""
GRANT = "graphmem.grant"
"""Key of the caller's grant in the scope of a request."""
_SCHEME = "bearer "
_HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


@dataclass
class RateLimit:
    """Limit of the requests of each key: as many at once as per second."""

    per_s: float
    clock: Callable[[], float] = time.monotonic
    max_keys: int = 10_000
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, key_id: str) -> None:
        """Count a request.

        Raises:
            Problem: the key has sent too many.
        """
        now, burst = self.clock(), max(self.per_s, 1.0)
        left, at = self._left.pop(key_id, (burst, now))
        left = min(burst, left + (now - at) * self.per_s)
        allowed = left >= 1
        self._left[key_id] = (left - allowed, now)
        if len(self._left) > self.max_keys:
            self._left.popitem(last=False)
        if not allowed:
            wait = {"retry-after": str(int((1 - left) / self.per_s) + 1)}
            text = f"The key may send {self.per_s:g} requests per second."
            raise Problem(429, "too_many_requests", text, headers=wait)


class Guard:
    """Refuses requests that may not reach a route, and records the grant of the others."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        origins: Collection[str],
        keys: KeyRing | Grant,
        rate: RateLimit,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = origins
        self._keys = keys
        self._rate = rate
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] in HEALTH:
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._check_names(headers)
            if scope["path"] not in OPEN:
                self._check_key(scope, headers)
            if self._running >= MAX_RUNNING:
                text = "The server answers too many requests at the moment."
                raise Problem(503, "busy", text, headers={"retry-after": "1"})
        except Problem as problem:
            await problem.response()(scope, receive, answer)
            return
        self._running += 1
        try:
            try:
                body = await _body(receive, headers)
            except Problem as problem:
                await problem.response()(scope, receive, answer)
                return
            await self._app(scope, _replay(body, receive), answer)
        finally:
            self._running -= 1

    def _check_names(self, headers: Headers) -> None:
        """Refuse what a page of another site, or of a name that points here, sends."""
        if not urls.accepts_host(headers.get("host", ""), self._hosts):
            raise Problem(
                403,
                "host_refused",
                "The header Host names another server.",
                hint="Allow the name with --allow-host.",
            )
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise Problem(
                403,
                "origin_refused",
                "Pages of this origin have no access.",
                hint="Allow it with --allow-origin.",
            )

    def _check_key(self, scope: Scope, headers: Headers) -> None:
        grant = self._keys if isinstance(self._keys, Grant) else self._found(self._keys, headers)
        scope[GRANT] = grant
        admit(scope)
        self._rate.take(grant.id if isinstance(grant, Key) else "")

    def _found(self, keys: KeyRing, headers: Headers) -> Key:
        given = headers.get("authorization", "")
        key = None
        if given[: len(_SCHEME)].lower() == _SCHEME:
            key = keys.find(given[len(_SCHEME) :].strip())
        if key is None:
            raise Problem(
                401,
                "unauthorized",
                "A valid key is needed.",
                hint="Send the header `Authorization: Bearer gm_…`; `graphmem serve keys create` "
                "makes a key.",
                headers={"www-authenticate": "Bearer"},
            )
        return key


async def _body(receive: Receive, headers: Headers) -> bytes:
    """Return the body of a request.

    Raises:
        Problem: it is too large, or its client is gone.
    """
    too_large = Problem(413, "body_too_large", f"The body must have at most {MAX_BODY:,} bytes.")
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced[:20]) > MAX_BODY:
        raise too_large
    parts, size, more = list[bytes](), 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "disconnected", "The client closed the connection.")
        part = message.get("body", b"")
        parts.append(part)
        size += len(part)
        if size > MAX_BODY:
            raise too_large
        more = message.get("more_body", False)
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a function that returns the body that was read, and then what the client sends."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Message:
        return waiting.pop() if waiting else await receive()

    return read
