"""`Host` headers that a server accepts.

A page of another site can point its own name at this machine, and read what its visitor's browser
fetches by that name. The header contains the page's name, so a server that knows its own names
refuses the request.
"""

from __future__ import annotations

from collections.abc import Collection

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HTTP_PORT = 80
"""Port that clients omit from the header."""


def bracket_ipv6(host: str) -> str:
    """Return a host as written in a URL: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def host_headers(host: str, port: int) -> list[str]:
    """Return the `Host` headers of a server: its loopback names, and its listening address."""
    known = list(dict.fromkeys((*LOOPBACK, bracket_ipv6(host))))
    return [f"{name}:{port}" for name in known] + (known if port == HTTP_PORT else [])


def accepts_host(header: str, allowed: Collection[str]) -> bool:
    """Return whether a `Host` header is allowed, either as it is or with the port `*`."""
    return header in allowed or f"{header.rpartition(':')[0]}:*" in allowed
