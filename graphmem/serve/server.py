"""The processes that serve the application."""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from tempfile import TemporaryDirectory

import uvicorn
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from graphmem.errors import ConfigurationError
from graphmem.mcp.connection import log_to_stderr
from graphmem.mcp.tool import Profile
from graphmem.rules import display
from graphmem.serve.app import Service, create_app
from graphmem.serve.connections import HttpLimits, configured, limit_repeated_lines
from graphmem.serve.guard import Guard, RateLimit
from graphmem.serve.key_check import ErasedTenants, KeyCheck
from graphmem.serve.keys import ANY, RIGHTS, Grant, KeyFile, KeyRing
from graphmem.serve.listening import ListenAddress, is_loopback
from graphmem.serve.logins import Logins, Secrets
from graphmem.serve.pages import PAGES, Explorer
from graphmem.settings import Settings

START_S = 120
"""Seconds without an answer after which a process is replaced; a busy machine starts slowly."""
GRACE_S = 5
"""Seconds until open connections are closed when the server stops."""
EXPOSED = (
    *("X-Request-Id", "Graphmem-Bookmark", "Link-Template", "Location", "Mcp-Session-Id"),
    "Retry-After",
)
"""Headers of answers that a page of an allowed origin may read."""


class JsonLines(logging.Formatter):
    """Formatter of log records as JSON, one on each line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        shown = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "text": record.getMessage(),
        } | getattr(record, "fields", {})
        if record.exc_info:
            shown["trace"] = self.formatException(record.exc_info)
        return display.json_text(shown)


@dataclass(frozen=True)
class Options:
    """Options of the server."""

    settings: Settings
    listen: ListenAddress
    no_auth: bool = False
    """Whether to serve the tenant of the settings without keys."""
    profile: Profile = "core"
    """Tools to offer over MCP."""
    workers: int = 1
    """Number of processes; several offer no MCP sessions."""
    secrets: Secrets = field(default_factory=Secrets)
    """Secrets of the sessions of browsers."""


def serve(options: Options, listening: socket.socket) -> None:
    """Serve until a signal ends the server.

    Args:
        options: options of the server.
        listening: socket that listens at the address.
    """
    _allow_files()
    limits = HttpLimits.of(options.settings)
    application = partial(_in_worker, options, listening.getsockname()[1])
    config = configured(
        application,
        limits,
        grace_s=GRACE_S,
        factory=True,
        workers=options.workers,
        timeout_worker_healthcheck=START_S,
    )
    if options.workers > 1:
        with TemporaryDirectory(prefix="graphmem-metrics-") as shared:
            # The processes sum up their metrics in files there.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = shared
            Multiprocess(config, sockets=[listening]).run()
    else:
        uvicorn.Server(config).run(sockets=[listening])


def checked(options: Options) -> Options:
    """Return the options.

    Raises:
        ConfigurationError: others could reach a server without keys.
    """
    if options.no_auth and not is_loopback(options.listen.host):
        raise ConfigurationError(
            f"The address {options.listen.host} is reachable by others.",
            hint="--no-auth is for loopback: omit it, and create keys.",
        )
    return options


def _allow_files() -> None:
    """Allow this process as many open files as the system grants."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _in_worker(options: Options, port: int) -> ASGIApp:
    """Return the application; called in the process that answers."""
    log_to_stderr("graphmem.serve", JsonLines())
    limit_repeated_lines()
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    return guarded(options, port)


def guarded(options: Options, port: int) -> ASGIApp:
    """Return the application behind its guard, for requests to this port."""
    settings, listen = options.settings, options.listen
    everything = Grant(tenant=settings.tenant, scopes=(settings.scope, ANY), rights=RIGHTS)
    keys = everything if options.no_auth else KeyRing(KeyFile.of(settings))
    tenants = keys.tenants if isinstance(keys, KeyRing) else lambda: [settings.tenant]
    service = Service(settings, tenants)
    logins = Logins(options.secrets, port, keys, everything, PAGES)
    routes = create_app(service, profile=options.profile, stateless=options.workers > 1)
    Explorer(logins, service, settings.serve_deadline_s).add_to(routes)
    app: ASGIApp = routes
    if isinstance(keys, KeyRing):
        app = KeyCheck(app, keys, ErasedTenants(service.connection))
    app = Guard(
        app,
        hosts=listen.allowed_hosts(port),
        origins=listen.allowed_origins(port),
        keys=keys,
        rate=RateLimit(settings.serve_requests_per_s),
        logins=logins,
    )
    if listen.origins:
        app = CORSMiddleware(
            app,
            allow_origins=listen.origins,
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers=("*",),
            expose_headers=EXPOSED,
        )
    return app
