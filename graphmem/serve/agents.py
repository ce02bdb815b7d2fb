"""MCP over streamable HTTP: the grant of a request's key, and sessions that a client resumes."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCMessage
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from graphmem.errors import GraphmemError
from graphmem.mcp.connection import Caller, MemoryConnection
from graphmem.mcp.frames import MAX_FRAME, FrameCheck
from graphmem.mcp.server import Context, RequestHandler, create_server
from graphmem.mcp.tool import Profile
from graphmem.serve import problems
from graphmem.serve.agent_sessions import SessionLimit
from graphmem.serve.connections import HttpLimits
from graphmem.serve.guard import GRANT
from graphmem.serve.keys import Grant, Key
from graphmem.serve.problems import Problem
from graphmem.serve.scopes import asked_scope, scopes_of

PATH = "/mcp"
MAX_EVENTS = 100
"""Maximum number of messages that a session keeps for a client that reconnects."""
MAX_EVENT_BYTES = 256 * 1024
"""Maximum size of these messages."""
_CALLER = "graphmem.caller"


class AgentServer:
    """Application for MCP clients. It needs a grant in the scope of each request."""

    def __init__(
        self, connection: MemoryConnection, limits: HttpLimits, profile: Profile, *, stateless: bool
    ) -> None:
        """Create the application.

        Args:
            connection: connection of the memory.
            limits: limits of sessions.
            profile: tools to offer.
            stateless: whether to offer no sessions, because the next request of a client may
                reach another process.
        """
        self._manager = _Sessions(
            create_server(RequestHandler(connection, caller_of, profile)),
            stateless=stateless,
            max_request_body_size=MAX_FRAME,
            max_sessions=None,
            session_idle_timeout=limits.session_idle_s,
        )
        app: ASGIApp = self._manager.handle_request
        self._app = FrameCheck(app if stateless else SessionLimit(app, limits))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the sessions."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        grant: Grant = scope[GRANT]
        try:
            caller = caller_by(grant, asked_scope(grant, Headers(scope=scope)))
        except (GraphmemError, Problem) as error:
            problem = error if isinstance(error, Problem) else problems.of_error(error)
            await problem.response()(scope, receive, send)
            return
        # The SDK ties each MCP session to the user who started it.
        key_id = grant.id if isinstance(grant, Key) else "local"
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=key_id, scopes=[]))
        scope[_CALLER] = caller
        await self._app(scope, receive, send)


def caller_by(grant: Grant, asked: str | None) -> Caller:
    """Return the caller of a request with this grant.

    Args:
        grant: grant of the key.
        asked: scope that the request names; None: all that the grant names.

    Raises:
        Problem: the grant does not contain the right to read.
        InvalidInputError: the request must name a scope.
    """
    if "read" not in grant.rights:
        raise Problem(403, "not_granted", "The key does not grant the right read.")
    scope, read_scopes = scopes_of(grant, asked)
    return Caller(
        grant.tenant,
        scope,
        read_only="write" not in grant.rights,
        erases="erase" in grant.rights,
        read_scopes=read_scopes,
    )


def caller_of(ctx: Context) -> Caller:
    """Return the caller of an MCP request."""
    request: Any = ctx.request
    caller: Caller = request.scope[_CALLER]
    return caller


class _Sessions(StreamableHTTPSessionManager):
    """Sessions with events of their own.

    The SDK shares one store, but names its streams by the ids of requests, which clients choose:
    a client that reconnects would receive messages of others.
    """

    @property
    def event_store(self) -> EventStore:
        """A new store, for each session that asks for one."""
        return SessionEvents()

    @event_store.setter
    def event_store(self, _: EventStore | None) -> None:
        """Ignore the shared store."""


class SessionEvents(EventStore):
    """Last messages of one session, for a client that reconnects."""

    def __init__(self) -> None:
        self._events = deque[tuple[str, str, JSONRPCMessage | None, int]]()
        self._ids = itertools.count(1)
        self._bytes = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message, None for the start of a stream, and return its id."""
        event_id = str(next(self._ids))
        size = 0 if message is None else len(message.model_dump_json())
        self._events.append((event_id, stream_id, message, size))
        self._bytes += size
        while len(self._events) > MAX_EVENTS or self._bytes > MAX_EVENT_BYTES:
            self._bytes -= self._events.popleft()[3]
        return event_id

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send the messages of a stream after this one; return the stream, None if unknown."""
        kept = list(self._events)
        stream = next((one[1] for one in kept if one[0] == last_event_id), None)
        for event_id, stream_id, message, _ in kept:
            if stream_id == stream and message is not None and int(event_id) > int(last_event_id):
                await send_callback(EventMessage(message, event_id))
        return stream
