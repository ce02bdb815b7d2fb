"""Limits of HTTP connections: their number, the time for a request, and repeated log lines."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

if TYPE_CHECKING:
    from graphmem.settings import Settings

log = logging.getLogger("graphmem.serve.connections")
BACKLOG = 16
"""Maximum connections that asyncio accepts at once, before this module sees the first of them."""
MIN_CONNECTIONS = 16
_CONNECTION = "graphmem.connection"

PAUSE_S = 60.0
"""Seconds in which a line of the log is not repeated."""


@dataclass(frozen=True)
class HttpLimits:
    """Limits of a server."""

    connections: int
    request_s: float
    """Seconds for the head of a request, and for each part of its body and of the answer."""
    sessions: int
    session_idle_s: float

    @classmethod
    def of(cls, settings: Settings) -> HttpLimits:
        """Return the limits of the settings; fewer connections if the process may open few files.

        The other files are those of the database's connections and of a burst of new clients.
        """
        return cls(
            int(min(settings.serve_max_connections, _most_connections())),
            settings.serve_request_timeout_s,
            settings.mcp_max_sessions,
            settings.mcp_session_idle_s,
        )


def _most_connections() -> float:
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return math.inf
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if files == resource.RLIM_INFINITY else max(MIN_CONNECTIONS, files // 4)


@dataclass
class ConnectionLimits:
    """Open connections; those of clients without a valid token make room for new ones."""

    limits: HttpLimits
    strangers: dict[LimitedProtocol, None] = field(default_factory=dict)
    """Connections without a request with a valid token so far, oldest first."""

    def protocol(self) -> Any:
        """Return what uvicorn calls, as it would call a class, for each connection."""
        return partial(LimitedProtocol, self)

    def opened(self, connection: LimitedProtocol, count: int) -> None:
        """Register a new connection; close the oldest stranger if there are too many."""
        self.strangers[connection] = None
        if count > self.limits.connections:
            oldest = next(iter(self.strangers))
            log.warning("Too many connections: those without a valid token are closed.")
            oldest.abort()

    def admitted(self, connection: LimitedProtocol) -> None:
        """Keep a connection: a request on it had a valid token, or it was closed."""
        self.strangers.pop(connection, None)


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 with a limit of connections, and of the time that a client needs.

    uvicorn's own limit counts silent connections and then refuses valid clients.
    """

    def __init__(self, open_ones: ConnectionLimits, **given: Any) -> None:
        super().__init__(**given)
        self._open_ones = open_ones
        self._timer: asyncio.TimerHandle | None = None
        self.app_state = {**self.app_state, _CONNECTION: self}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time for the first request."""
        super().connection_made(transport)
        self._restart_timer()
        self._open_ones.opened(self, len(self.connections))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self._open_ones.admitted(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received bytes; those of a request's head do not extend its time."""
        super().data_received(data)
        # Between requests the last one has its answer.
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete and not self.flow.write_paused:
            self._stop_timer()
            if cycle.more_body:
                self._restart_timer()

    def on_response_complete(self) -> None:
        """Start the time for the next request, or for the rest of the answer."""
        self._restart_timer()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Start the time for a client that does not read fast enough."""
        super().pause_writing()
        self._restart_timer()

    def resume_writing(self) -> None:
        """Stop that time while the answer is not complete."""
        super().resume_writing()
        if not self.cycle.response_complete:
            self._stop_timer()

    def admit(self) -> None:
        """Record that a request had a valid token."""
        self._open_ones.admitted(self)

    def abort(self) -> None:
        """Close the connection at once."""
        self._open_ones.admitted(self)
        self._stop_timer()
        self.transport.abort()

    def _restart_timer(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(self._open_ones.limits.request_s, self.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def admit(scope: Scope) -> None:
    """Keep the connection of a request with a valid token when others are closed."""
    connection = scope.get("state", {}).get(_CONNECTION)
    if isinstance(connection, LimitedProtocol):
        connection.admit()


def configured(app: Any, limits: HttpLimits, *, grace_s: int, **more: Any) -> uvicorn.Config:
    """Return the configuration of a server with these limits."""
    return uvicorn.Config(
        app,
        http=ConnectionLimits(limits).protocol(),
        ws="none",
        backlog=BACKLOG,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=grace_s,
        **more,
    )


class RepeatFilter(logging.Filter):
    """Log filter that passes each warning once a minute, with the number of those left out.

    Otherwise anyone who can connect could fill the disk: each refused connection is a line.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[str, str, int], float] = {}
        self._left_out: dict[tuple[str, str, int], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record; by its place in the code, as its text may differ."""
        # Lines of requests and operations differ: each has an id of its own.
        if record.levelno < logging.WARNING:
            return True
        place, now = (record.name, record.pathname, record.lineno), self._clock()
        if now - self._last.get(place, -PAUSE_S) < PAUSE_S:
            self._left_out[place] = self._left_out.get(place, 0) + 1
            return False
        self._last[place] = now
        if count := self._left_out.pop(place, 0):
            record.msg = f"{record.getMessage()} ({count} more lines like this were left out)"
            record.args = ()
        return True


def limit_repeated_lines() -> None:
    """Let the handlers of the root logger leave out repeated lines."""
    for handler in logging.getLogger().handlers:
        handler.addFilter(RepeatFilter())
