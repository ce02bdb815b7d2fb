"""URLs of Neo4j Browser with queries as literals, and the `Host` headers that a server accepts."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TypeAlias
from urllib.parse import quote, urlencode, urlsplit

Value: TypeAlias = str | int | float | bool | Sequence["Value"] | None

# Neo4j Browser reads the query of a link undecoded, so these characters would end it.
_IN_LINKS = str.maketrans({"&": r"\u0026", "#": r"\u0023", "?": r"\u003f"})

HOSTED = "https://browser.neo4j.io/"
"""Neo4j's hosted Browser, for servers without their own."""
AURA = ".databases.neo4j.io"
HTTPS_PORT = 7473

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HTTP_PORT = 80
"""Port that clients omit from the header."""


def literal(value: Value) -> str:
    """Return a value as a Cypher literal.

    Texts are fully escaped, including the characters that a link to Neo4j Browser cannot contain.
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).translate(_IN_LINKS)
    if isinstance(value, int | float):
        return repr(value)
    return f"[{', '.join(map(literal, value))}]"


def browser_url(uri: str, http_port: int) -> str:
    """Return the URL of Neo4j Browser for a server with Bolt at `uri`; `http_port` has no TLS."""
    parts = urlsplit(uri)
    host = parts.hostname or ""
    if host.endswith(AURA):
        return HOSTED
    host = f"[{host}]" if ":" in host else host
    if "+" in parts.scheme:
        return f"https://{host}:{HTTPS_PORT}/browser/"
    return f"http://{host}:{http_port}/browser/"


def deep_link(browser: str, uri: str, user: str, query: str = "", database: str = "") -> str:
    """Return the URL that opens Browser on a server, with a query in its editor.

    It never contains a password: Browser asks for it.

    Args:
        browser: URL of Browser, see `browser_url`.
        uri: URI of the server, without a user or a password.
        user: user to log in as.
        query: one statement; Browser only draws the result of a single one.
        database: name of the database; empty for the user's home database.
    """
    scheme, _, rest = uri.partition("://")
    # Browser cannot trust an unknown certificate.
    scheme = scheme.replace("+ssc", "+s")
    link = {"dbms": f"{scheme}://{quote(user, safe='')}@{rest}"}
    if database:
        link["db"] = database
    if query:
        link |= {"cmd": "edit", "arg": query}
    return f"{browser}?{urlencode(link)}"


def bracket_ipv6(host: str) -> str:
    """Return a host as written in a URL: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def host_headers(host: str, port: int) -> list[str]:
    """Return the `Host` headers of a server: its loopback names, and its listening address."""
    hosts = list(dict.fromkeys((*LOOPBACK, bracket_ipv6(host))))
    return [f"{name}:{port}" for name in hosts] + (hosts if port == HTTP_PORT else [])


def accepts_host(header: str, allowed: Collection[str]) -> bool:
    """Return whether a `Host` header is allowed, either as it is or with the port `*`."""
    return header in allowed or f"{header.rpartition(':')[0]}:*" in allowed
