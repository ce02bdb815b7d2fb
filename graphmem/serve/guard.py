"""Checks of a request before its route: host, origin, key, rate, size; its id and its log line."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphmem.model.calls import CALL, Call
from graphmem.rules import urls
from graphmem.serve.admission import Places, busy
from graphmem.serve.answers import Answer, Held
from graphmem.serve.connections import admit
from graphmem.serve.keys import Grant, Key, KeyRing
from graphmem.serve.logins import FILES, LoginNeeded, Logins
from graphmem.serve.problems import Problem

MAX_BODY = 4 * 1024 * 1024
"""Maximum size of a body, in bytes."""
MAX_BODIES = 64 * 1024 * 1024
"""Maximum size of all bodies of requests that a process holds, in bytes."""
BODY_S = 30.0
"""Seconds in which a body must be complete, and for which a request waits for a place."""
GUESSES_PER_S = 5.0
"""Invalid keys per second that an address may send; valid ones are not counted."""
HEALTH = frozenset({"/health/live", "/health/ready"})
"""Paths that need neither key nor a known host: probes use the address of a container."""
OPEN = frozenset({"/version", "/openapi.json"}) | FILES
"""Paths without data, which need no key."""
GRANT = "graphmem.grant"
"""Key of the caller's grant in the scope of a request."""
REQUEST_ID = "x-request-id"
BOOKMARK = "graphmem-bookmark"
MAX_BOOKMARKS = 20
ONCE = (
    *("authorization", "host", "origin", "content-length", "content-type"),
    *("graphmem-scope", "idempotency-key", REQUEST_ID, BOOKMARK),
)
"""Headers that a request must not repeat: a proxy could read the other one."""
_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)
_BOOKMARK = re.compile(r"[!-+\--~]{3,200}")
_SCHEME = "bearer "
log = logging.getLogger("graphmem.serve.requests")
_HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


@dataclass
class RateLimit:
    """Limit of the requests of each key: as many at once as per second."""

    per_s: float
    whose: str = "The key"
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
            text = f"{self.whose} may send {self.per_s:g} requests per second."
            raise Problem(429, "too_many_requests", text, headers=wait)


class GuessLimit(RateLimit):
    """Limit of the invalid keys that an address sends."""

    def __init__(self) -> None:
        super().__init__(GUESSES_PER_S, "An address with invalid keys")

    def take_of(self, scope: Scope) -> None:
        """Count a request with an invalid key.

        Raises:
            Problem: its address has sent too many.
        """
        self.take((scope.get("client") or ("",))[0])


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
        logins: Logins,
    ) -> None:
        self._app = app
        self._logins = logins
        self._hosts = hosts
        self._origins = origins
        self._keys = keys
        self._rate = rate
        self._guesses = GuessLimit()
        self._places = Places()
        self._held = 0
        self._sent = Held()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] in HEALTH:
            await self._app(scope, receive, send)
            return
        headers, began, place = Headers(scope=scope), time.perf_counter(), ExitStack()
        given = headers.get(REQUEST_ID, "")
        call = Call(given if _ID.fullmatch(given) else uuid.uuid4().hex)
        CALL.set(call)
        answer = Answer(self._sent, (scope, receive, send), partial(_headers, call), place.close)
        try:
            self._check_names(headers)
            call.bookmarks = _bookmarks(headers)
            if scope["path"] not in OPEN:
                await self._admit(scope, headers, receive)
            async with self._body(receive, headers) as body:
                await self._enter(scope)
                place.callback(self._places.leave)
                await self._app(scope, _replay(body, receive), answer)
        except Problem as problem:
            await problem.response()(scope, receive, answer)
        finally:
            place.close()
            answer.end()
            _log(scope, call, answer.status, time.perf_counter() - began)

    async def _admit(self, scope: Scope, headers: Headers, receive: Receive) -> None:
        """Check the key or the session.

        Raises:
            Problem: it is missing, or may not send this.
        """
        try:
            self._check_key(scope, headers)
        except LoginNeeded as needed:
            async with self._body(receive, headers) as body:
                needed.keep(body)
            raise

    async def _enter(self, scope: Scope) -> None:
        """Wait for a place among the requests that are answered at once."""
        grant: Grant | None = scope.get(GRANT)
        try:
            async with asyncio.timeout(BODY_S):
                await self._places.enter("" if grant is None else grant.tenant)
        except TimeoutError:
            raise busy() from None

    @asynccontextmanager
    async def _body(self, receive: Receive, headers: Headers) -> AsyncIterator[bytes]:
        """Yield the body of a request.

        Raises:
            Problem: it is too large or too slow, its client is gone, or the process holds too many.
        """
        parts = list[bytes]()
        try:
            try:
                async with asyncio.timeout(BODY_S):
                    async for part in _parts(receive, headers):
                        parts.append(part)
                        self._held += len(part)
                        if self._held > MAX_BODIES:
                            raise busy()
            except TimeoutError:
                text = f"The body must be complete within {BODY_S:g} s."
                raise Problem(408, "body_too_slow", text) from None
            yield b"".join(parts)
        finally:
            self._held -= sum(map(len, parts))

    def _check_names(self, headers: Headers) -> None:
        """Refuse what a page of another site, or of a name that points here, sends."""
        for name in ONCE:
            if len(headers.getlist(name)) > 1:
                raise Problem(400, "repeated_header", f"The header {name} must be given once.")
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
        if scope["path"] in self._logins.pages:
            grant = self._logins.grant(headers)
            if grant is None:
                raise LoginNeeded(scope["path"], scope["query_string"].decode("latin-1"))
        else:
            grant = self._keys if isinstance(self._keys, Grant) else self._found(scope, headers)
        scope[GRANT] = grant
        admit(scope)
        self._rate.take(grant.id if isinstance(grant, Key) else "")

    def _found(self, scope: Scope, headers: Headers) -> Key:
        assert isinstance(self._keys, KeyRing)  # noqa: S101 - for type checkers
        given = headers.get("authorization", "")
        key = None
        if given[: len(_SCHEME)].lower() == _SCHEME:
            key = self._keys.find(given[len(_SCHEME) :].strip())
        if key is None:
            self._guesses.take_of(scope)
            raise Problem(
                401,
                "unauthorized",
                "A valid key is needed.",
                hint="Send the header `Authorization: Bearer gm_…`; `graphmem serve keys create` "
                "makes a key.",
                headers={"www-authenticate": "Bearer"},
            )
        return key


async def _parts(receive: Receive, headers: Headers) -> AsyncIterator[bytes]:
    """Yield the parts of a body.

    Raises:
        Problem: it is too large, or its client is gone.
    """
    too_large = Problem(413, "body_too_large", f"The body must have at most {MAX_BODY:,} bytes.")
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced[:20]) > MAX_BODY:
        raise too_large
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "disconnected", "The client closed the connection.")
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY:
            raise too_large
        yield part
        more = message.get("more_body", False)


def _headers(call: Call) -> Iterator[tuple[bytes, bytes]]:
    yield REQUEST_ID.encode(), call.id.encode()
    if call.reached:
        yield BOOKMARK.encode(), ",".join(call.reached).encode()
    yield from _HEADERS


def _bookmarks(headers: Headers) -> tuple[str, ...]:
    """Return the bookmarks that a request names.

    Raises:
        Problem: they cannot be bookmarks.
    """
    given = headers.get(BOOKMARK, "")
    found = tuple(one.strip() for one in given.split(",")) if given else ()
    if len(found) > MAX_BOOKMARKS or not all(map(_BOOKMARK.fullmatch, found)):
        text = f"{BOOKMARK} must be the header of an answer."
        raise Problem(422, "invalid_input", text)
    return found


def _log(scope: Scope, call: Call, status: int, seconds: float) -> None:
    """Log a request without its content: neither its path nor its query."""
    grant, route = scope.get(GRANT), scope.get("route")
    log.info(
        "request",
        extra={
            "fields": {
                "request_id": call.id,
                "method": scope["method"],
                "route": getattr(route, "path", None),
                "status": status,
                "ms": round(seconds * 1000, 1),
                "tenant": grant.tenant if isinstance(grant, Grant) else None,
                "key": grant.id if isinstance(grant, Key) else None,
            }
        },
    )


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a function that returns the body that was read, and then what the client sends."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Message:
        return waiting.pop() if waiting else await receive()

    return read
