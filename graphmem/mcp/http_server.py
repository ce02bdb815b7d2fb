"""MCP over streamable HTTP: its bearer tokens, the files that hold them, and the server."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field, Secret, TypeAdapter, ValidationError
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from graphmem.errors import ConfigurationError
from graphmem.mcp.connection import Caller, MemoryConnection
from graphmem.mcp.frames import MAX_FRAME, FrameCheck
from graphmem.mcp.http_connections import HttpLimits, admit, configured, limit_repeated_lines
from graphmem.mcp.http_sessions import SessionLimit
from graphmem.mcp.listening import ListenAddress
from graphmem.mcp.server import Context, RequestHandler, create_server
from graphmem.mcp.tool import Profile
from graphmem.model import GLOBAL_SCOPE, Name, Record, Text
from graphmem.private_files import fault_of, read_private
from graphmem.settings import Settings

MIN_TOKEN_LENGTH = 16
"""Minimum length of a token, in characters; shorter ones can be guessed."""
MAX_TOKEN_FILE = 1_000_000
"""Maximum number of bytes read from a token file."""
_FORMAT = 'Write it as JSON: [{"token": "…", "tenant": "acme", "scope": "user:alice"}, …].'


class _Entry(Record):
    token: Secret[Annotated[Text, Field(min_length=MIN_TOKEN_LENGTH)]]
    tenant: Name
    scope: Name = GLOBAL_SCOPE
    read_only: bool = False


class TokenTable:
    """Callers by token. Only digests of the tokens are stored."""

    def __init__(self, callers: dict[bytes, Caller]) -> None:
        self._callers = callers

    def __len__(self) -> int:
        return len(self._callers)

    def __iter__(self) -> Iterator[Caller]:
        return iter(self._callers.values())

    def caller(self, token: bytes) -> Caller | None:
        """Return the caller of a token, None if unknown; takes the same time for every guess."""
        digest, found = _digest(token), None
        for known, caller in self._callers.items():
            if hmac.compare_digest(known, digest):
                found = caller
        return found


def configured_tokens(settings: Settings, *, read_only: bool) -> TokenTable:
    """Return the tokens in the settings; empty if there are none.

    Raises:
        ConfigurationError: a token is too short or repeated, or the file cannot be used.
    """
    entries = [] if settings.mcp_tokens is None else _file_entries(settings.mcp_tokens.expanduser())
    if settings.mcp_token is not None:
        entries.append(_own_entry(settings, settings.mcp_token.get_secret_value()))
    return _table(entries, read_only=read_only)


def user_token(settings: Settings, *, read_only: bool) -> tuple[TokenTable, Path]:
    """Return the token of the user's own server, created on first use, and its file.

    Raises:
        ConfigurationError: the file cannot be written or read.
    """
    from graphmem.local_server.files import DataFolder
    from graphmem.private_files import read_or_create

    file = DataFolder.of(settings).root.parent / "mcp-token"
    try:
        token = read_or_create(
            file, lambda: secrets.token_urlsafe(32) + "\n", setting="GRAPHMEM_HOME"
        ).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"The token in {file} cannot be used: {fault_of(error)}.",
            hint="Correct this, or remove the file: a new token is made.",
        ) from None
    return _table([_own_entry(settings, token)], read_only=read_only), file


def _own_entry(settings: Settings, token: str) -> _Entry:
    if len(token) < MIN_TOKEN_LENGTH:
        raise ConfigurationError(
            f"The token must have at least {MIN_TOKEN_LENGTH} characters.",
            hint='Generate one: python -c "import secrets; print(secrets.token_urlsafe(32))".',
        )
    entry = {"token": token, "tenant": settings.tenant, "scope": settings.scope}
    [found] = _entries([entry], "GRAPHMEM_MCP_TOKEN with GRAPHMEM_TENANT and GRAPHMEM_SCOPE")
    return found


def _file_entries(file: Path) -> list[_Entry]:
    text = read_private(file, MAX_TOKEN_FILE)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if found is None:
        # Raised outside `except`: the parser's error contains the file and would be chained.
        raise ConfigurationError(f"{file} must be valid JSON.", hint=_FORMAT)
    return _entries(found, str(file))


def _entries(given: Any, source: str) -> list[_Entry]:
    try:
        return TypeAdapter(list[_Entry]).validate_python(given)
    except ValidationError as error:
        # The message contains no values, because one of them is a token.
        first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    raise ConfigurationError(f"{source}: {place or 'it'}: {first['msg']}.", hint=_FORMAT)


def _table(entries: list[_Entry], *, read_only: bool) -> TokenTable:
    callers = {
        _digest(entry.token.get_secret_value().encode()): Caller(
            entry.tenant, entry.scope, read_only or entry.read_only
        )
        for entry in entries
    }
    if len(callers) < len(entries):
        raise ConfigurationError("A token is repeated.", hint="Give each caller its own token.")
    return TokenTable(callers)


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


_CALLER = "graphmem.caller"
_SCHEME = b"bearer "


class TokenMiddleware:
    """Refuses requests without a valid token, and records the caller of the others."""

    def __init__(self, app: ASGIApp, tokens: TokenTable) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = self._caller(Headers(scope=scope).get("authorization"))
        if caller is None:
            error = {"error": "invalid_token", "error_description": "Give a bearer token."}
            refusal = JSONResponse(error, 401, headers={"www-authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        # The SDK ties each MCP session to the user who started it.
        token = AccessToken(token="", client_id=repr(caller), scopes=[])
        scope["user"] = AuthenticatedUser(token)
        scope[_CALLER] = caller
        admit(scope)
        await self._app(scope, receive, send)

    def _caller(self, header: str | None) -> Caller | None:
        given = (header or "").encode("latin-1")
        if given[: len(_SCHEME)].lower() != _SCHEME:
            return None
        return self._tokens.caller(given[len(_SCHEME) :].strip())


def caller_of(ctx: Context) -> Caller:
    """Return the caller of a request that the middleware let pass."""
    request: Any = ctx.request
    caller: Caller = request.scope[_CALLER]
    return caller


PATH = "/mcp"
GRACE_S = 3
"""Seconds until open connections are closed when the server stops."""


async def serve_http(
    connection: MemoryConnection,
    tokens: TokenTable,
    listen: ListenAddress,
    profile: Profile,
    limits: HttpLimits,
    on_ready: Callable[[str], None],
) -> None:
    """Serve until a signal ends the server.

    Args:
        connection: connection of the memory.
        tokens: allowed tokens; not empty.
        listen: address to listen at.
        profile: tools to offer.
        limits: limits of connections and sessions.
        on_ready: callback that receives the URL.

    Raises:
        ConfigurationError: it cannot listen there.
    """
    listening = listen.opened()
    port = listening.getsockname()[1]
    read_only = all(caller.read_only for caller in tokens)
    mcp_server = create_server(RequestHandler(connection, caller_of, profile), read_only=read_only)
    app: ASGIApp = mcp_server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=_security(listen, port),
        max_request_body_size=MAX_FRAME,
        max_sessions=None,
        session_idle_timeout=limits.session_idle_s,
    )
    app = TokenMiddleware(FrameCheck(SessionLimit(app, limits)), tokens)
    config = configured(with_cors(app, listen.origins), limits, grace_s=GRACE_S)
    limit_repeated_lines()
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    on_ready(listen.url(port) + PATH)
    await uvicorn.Server(config).serve(sockets=[listening])


def with_cors(app: ASGIApp, origins: tuple[str, ...]) -> ASGIApp:
    """Let pages of these origins read answers: browsers ask before they send a token."""
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=("GET", "POST", "DELETE"),
        allow_headers=("*",),
        expose_headers=("mcp-session-id",),
    )


def _security(listen: ListenAddress, port: int) -> TransportSecuritySettings:
    return TransportSecuritySettings(
        allowed_hosts=listen.allowed_hosts(port), allowed_origins=listen.allowed_origins(port)
    )
