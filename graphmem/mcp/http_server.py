"""MCP over streamable HTTP."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from graphmem.errors import ConfigurationError
from graphmem.mcp.auth import TokenMiddleware, TokenTable, caller_of
from graphmem.mcp.connection import MemoryConnection
from graphmem.mcp.handler import RequestHandler
from graphmem.mcp.server import create_server
from graphmem.mcp.tool import Profile
from graphmem.rules import urls

PATH = "/mcp"
GRACE_S = 3
"""Seconds until open connections are closed when the server stops."""


@dataclass(frozen=True)
class ListenAddress:
    """Address to listen at, and the names that requests may use for it."""

    host: str = "127.0.0.1"
    port: int = 0
    hosts: tuple[str, ...] = ()
    """Allowed `Host` headers, in addition to those of loopback and `host`."""
    origins: tuple[str, ...] = ()
    """Allowed `Origin` headers of browsers, in addition to those of loopback."""

    def address(self, port: int) -> str:
        """Return the URL of the server that listens on this port."""
        return f"http://{urls.bracket_ipv6(self.host)}:{port}{PATH}"


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


async def serve_http(
    connection: MemoryConnection,
    tokens: TokenTable,
    listen: ListenAddress,
    profile: Profile,
    on_ready: Callable[[str], None],
) -> None:
    """Serve until a signal ends the server.

    Args:
        connection: connection of the memory.
        tokens: allowed tokens; not empty.
        listen: address to listen at.
        profile: tools to offer.
        on_ready: callback that receives the URL.

    Raises:
        ConfigurationError: it cannot listen there.
    """
    listening = _listening(listen)
    port = listening.getsockname()[1]
    read_only = all(caller.read_only for caller in tokens)
    mcp_server = create_server(RequestHandler(connection, caller_of, profile), read_only=read_only)
    app = mcp_server.streamable_http_app(
        streamable_http_path=PATH, transport_security=_security(listen, port)
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
    on_ready(listen.address(port))
    await uvicorn.Server(config).serve(sockets=[listening])


def _listening(listen: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    try:
        return socket.create_server((listen.host.strip("[]"), listen.port), family=family)
    except (OSError, OverflowError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            f"Cannot listen at {listen.host}, port {listen.port}: {reason}.",
            hint="Give another --host or --port.",
        ) from None


def _security(listen: ListenAddress, port: int) -> TransportSecuritySettings:
    names = urls.host_headers(listen.host, port)
    return TransportSecuritySettings(
        allowed_hosts=[*names, *listen.hosts],
        allowed_origins=[*(f"http://{name}" for name in names), *listen.origins],
    )
