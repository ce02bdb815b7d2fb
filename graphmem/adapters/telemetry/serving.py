"""A server for scrapes: one thread a request, and only for requests that call it by its name."""

from __future__ import annotations

import socket
import threading
from collections.abc import Collection, Iterable
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from graphmem.errors import ConfigurationError
from graphmem.rules import hosts

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _ServerV6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's
        """Log no request."""


def serve(app: WSGIApplication, host: str, port: int, allow: Collection[str]) -> int:
    """Answer requests from a thread until the process ends; return the port.

    Args:
        app: what answers.
        host: address to listen on.
        port: 0 for any that is free.
        allow: `Host` headers to accept beside those of loopback and `host`.

    Raises:
        ConfigurationError: it cannot listen there.
    """
    kind = _ServerV6 if ":" in host else _Server
    try:
        server = make_server(host.strip("[]"), port, app, kind, _Handler)
    except (OSError, OverflowError, TypeError, ValueError) as error:
        raise ConfigurationError(
            f"Nothing can listen on {host} port {port}: {error}.",
            hint="Choose another with --host and --port.",
        ) from error
    server.set_app(checked(app, [*hosts.names(host, server.server_port), *allow]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def checked(app: WSGIApplication, allowed: Collection[str]) -> WSGIApplication:
    """Return an application that refuses every `Host` header that is not allowed."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if hosts.accepts(environ.get("HTTP_HOST", ""), allowed):
            return app(environ, start_response)
        start_response("421 Misdirected Request", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"Invalid Host header. Start the server with --allow-host to accept it.\n"]

    return answer
