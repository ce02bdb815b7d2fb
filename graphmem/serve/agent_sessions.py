"""Limit of the MCP sessions of an HTTP server, shared fairly between its callers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.authentication import BaseUser
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphmem.serve.connections import HttpLimits


@dataclass(slots=True)
class _Session:
    user: BaseUser
    used_at: float
    requests: int = 0
    """Requests that are being answered, streams of events among them."""

    @property
    def owner(self) -> str:
        return self.user.display_name


class SessionLimit:
    """Middleware that closes a session for each one that exceeds the limit.

    Its owner is the caller with the most sessions, so that no caller can keep the others out, as
    one could with the SDK's own limit.
    """

    def __init__(
        self, app: ASGIApp, limits: HttpLimits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._limits = limits
        self._clock = clock
        self._sessions: dict[str, _Session] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        session = self._own(given, scope["user"])
        request = dict(scope)  # The application changes its own.

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                if given is None:
                    await self._opened(session, message, request)
                elif (request["method"], message["status"]) == ("DELETE", 200):
                    self._sessions.pop(given, None)
            await send(message)

        session.requests += 1
        session.used_at = self._clock()
        try:
            await self._app(scope, receive, watched)
        finally:
            session.requests -= 1
            session.used_at = self._clock()

    def _own(self, session_id: str | None, user: BaseUser) -> _Session:
        """Return a session of this caller, or a new one."""
        found = None if session_id is None else self._sessions.get(session_id)
        if found is None or found.owner != user.display_name:
            return _Session(user, self._clock())
        return found

    async def _opened(self, session: _Session, message: Message, request: Scope) -> None:
        """Register a session if this response opens one; close another if there are too many."""
        session_id = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
        if session_id is None or message["status"] >= 400:
            return
        self._sessions[session_id] = session
        if len(self._sessions) > self._limits.sessions:
            self._forget_idle()
        if len(self._sessions) > self._limits.sessions:
            await self._close(self._chosen(), request)

    def _forget_idle(self) -> None:
        """Forget the sessions that the SDK has closed as idle."""
        since = self._clock() - self._limits.session_idle_s
        self._sessions = {
            session_id: one
            for session_id, one in self._sessions.items()
            if one.requests or one.used_at >= since
        }

    def _chosen(self) -> str:
        """Return the least recently used session of the caller with the most."""
        counts = Counter(one.owner for one in self._sessions.values())
        return min(
            self._sessions,
            key=lambda name: (
                -counts[self._sessions[name].owner],
                self._sessions[name].requests > 0,
                self._sessions[name].used_at,
            ),
        )

    async def _close(self, session_id: str, request: Scope) -> None:
        """Close a session as its owner would, with a DELETE request."""
        session = self._sessions.pop(session_id)
        host = [pair for pair in request["headers"] if pair[0] == b"host"]
        headers = [*host, (MCP_SESSION_ID_HEADER.encode(), session_id.encode())]
        ended = {**request, "method": "DELETE", "headers": headers, "user": session.user}
        await self._app(ended, _empty_body, _ignore)


async def _empty_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(_: Message) -> None:
    pass
