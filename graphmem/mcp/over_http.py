"""The server over streamable HTTP: a token opens a tenant; hosts and origins are checked."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from graphmem.errors import ConfigurationError
from graphmem.mcp import serving
from graphmem.mcp.desk import Context, RequestHandler
from graphmem.mcp.sessions import Caller
from graphmem.mcp.starting import MemoryConnection
from graphmem.mcp.tokens import TokenTable
from graphmem.rules import hosts

PATH = "/mcp"
GRACE_S = 3
"""How long a client may hold its connection when the server ends."""
_WHO = "graphmem.who"
_SCHEME = b"bearer "


@dataclass(frozen=True)
class ListenAddress:
    """Where to listen, and what a request may call that place."""

    host: str = "127.0.0.1"
    port: int = 0
    hosts: tuple[str, ...] = ()
    """`Host` headers allowed beside those of loopback and `host`."""
    origins: tuple[str, ...] = ()
    """`Origin` headers of browsers, allowed beside those of loopback."""

    def address(self, port: int) -> str:
        """Return where clients find the server that listens on this port."""
        return f"http://{hosts.bracketed(self.host)}:{port}{PATH}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


async def over_http(
    keeper: MemoryConnection, tokens: TokenTable, where: ListenAddress, ready: Callable[[str], None]
) -> None:
    """Serve until a signal ends it.

    Args:
        keeper: of the memory.
        tokens: who may come; not empty.
        where: to listen.
        ready: told the address.

    Raises:
        ConfigurationError: it cannot listen there.
    """
    listening = _listening(where)
    port = listening.getsockname()[1]
    read_only = all(who.read_only for who in tokens)
    made = serving.server(RequestHandler(keeper, _who_calls), read_only=read_only)
    app = made.streamable_http_app(
        streamable_http_path=PATH, transport_security=_security(where, port)
    )
    config = uvicorn.Config(
        TokenMiddleware(app, tokens),
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    ready(where.address(port))
    await uvicorn.Server(config).serve(sockets=[listening])


class TokenMiddleware:
    """Lets nobody in who does not bring a token, and notes whose it is."""

    def __init__(self, app: ASGIApp, tokens: TokenTable) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        who = self._who(Headers(scope=scope).get("authorization"))
        if who is None:
            told = {"error": "invalid_token", "error_description": "Give a bearer token."}
            refusal = JSONResponse(told, 401, headers={"www-authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        # The SDK keeps each MCP session for whoever began it.
        caller = AccessToken(token="", client_id=repr(who), scopes=[])
        scope["user"] = AuthenticatedUser(caller)
        scope[_WHO] = who
        await self._app(scope, receive, send)

    def _who(self, header: str | None) -> Caller | None:
        given = (header or "").encode("latin-1")
        if given[: len(_SCHEME)].lower() != _SCHEME:
            return None
        return self._tokens.who(given[len(_SCHEME) :].strip())


def _who_calls(ctx: Context) -> Caller:
    request: Any = ctx.request
    who: Caller = request.scope[_WHO]
    return who


def _listening(where: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    try:
        return socket.create_server((where.host.strip("[]"), where.port), family=family)
    except (OSError, OverflowError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            f"Nothing can listen at {where.host}, port {where.port}: {reason}.",
            hint="Give another --host or --port.",
        ) from None


def _security(where: ListenAddress, port: int) -> TransportSecuritySettings:
    names = hosts.names(where.host, port)
    return TransportSecuritySettings(
        allowed_hosts=[*names, *where.hosts],
        allowed_origins=[*(f"http://{name}" for name in names), *where.origins],
    )
