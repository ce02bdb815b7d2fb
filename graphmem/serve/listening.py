"""Address that a server over HTTP listens at, and the names that requests may use for it."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from graphmem.errors import ConfigurationError
from graphmem.rules import urls

SEND_BUFFER = 128 * 1024
"""Size of the system's buffer for what a client has not read, in bytes."""


@dataclass(frozen=True)
class ListenAddress:
    """Address to listen at, and the names that requests may use for it."""

    host: str = "127.0.0.1"
    port: int = 0
    hosts: tuple[str, ...] = ()
    """Allowed `Host` headers, in addition to those of loopback and `host`."""
    origins: tuple[str, ...] = ()
    """Allowed `Origin` headers of browsers, in addition to those of loopback."""

    def url(self, port: int) -> str:
        """Return the URL of the server that listens on this port."""
        return f"http://{urls.bracket_ipv6(self.host)}:{port}"

    def allowed_hosts(self, port: int) -> list[str]:
        """Return the `Host` headers that the server on this port accepts."""
        return [*urls.host_headers(self.host, port), *self.hosts]

    def allowed_origins(self, port: int) -> list[str]:
        """Return the `Origin` headers that the server on this port accepts."""
        own = urls.host_headers(self.host, port)
        return [*(f"http://{name}" for name in own), *self.origins]

    def opened(self) -> socket.socket:
        """Return a socket that listens at the address.

        Raises:
            ConfigurationError: it cannot listen there.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            listening = socket.create_server((self.host.strip("[]"), self.port), family=family)
            # Accepted sockets inherit it. asyncio sets it on sockets that state their protocol
            # only; without it the body of an answer waits 40 ms for a delayed acknowledgement.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # A larger buffer hides for long whether a slow client reads.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            return listening
        except (OSError, OverflowError, TypeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigurationError(
                f"Cannot listen at {self.host}, port {self.port}: {reason}.",
                hint="Give another --host or --port.",
            ) from None


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
