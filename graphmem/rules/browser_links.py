"""Values written into Cypher as literals: for people who paste a statement, never for graphmem."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeAlias
from urllib.parse import quote, urlencode, urlsplit

Value: TypeAlias = str | int | float | bool | Sequence["Value"] | None

# Neo4j Browser reads the query of a link as if it were not encoded, so these would end it there.
_IN_LINKS = str.maketrans({"&": r"\u0026", "#": r"\u0023", "?": r"\u003f"})


def literal(value: Value) -> str:
    """Return a value as Cypher reads it back, whatever a text holds.

    A text stays a text: what would end it is escaped, and so is what a link to Neo4j Browser
    cannot carry.
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).translate(_IN_LINKS)
    if isinstance(value, int | float):
        return repr(value)
    return f"[{', '.join(map(literal, value))}]"


HOSTED = "https://browser.neo4j.io/"
"""Neo4j's own, for servers that serve none."""
AURA = ".databases.neo4j.io"
HTTPS_PORT = 7473


def browser_of(uri: str, http_port: int) -> str:
    """Return where Neo4j Browser is served for a server that speaks Bolt at `uri`.

    Args:
        uri: as drivers take it, without a user or a password.
        http_port: of the server's own Browser when it is served without TLS.
    """
    parts = urlsplit(uri)
    host = parts.hostname or ""
    if host.endswith(AURA):
        return HOSTED
    host = f"[{host}]" if ":" in host else host
    if "+" in parts.scheme:
        return f"https://{host}:{HTTPS_PORT}/browser/"
    return f"http://{host}:{http_port}/browser/"


def deep_link(browser: str, uri: str, user: str, query: str = "", database: str = "") -> str:
    """Return the address that opens Browser on a server, with a query in its editor.

    A password is never part of it: Browser asks for it.

    Args:
        browser: where it is served, see `browser_of`.
        uri: of the server, without a user or a password.
        user: to log in as.
        query: one statement; Browser draws the result of a single one only.
        database: its name; empty for the user's home database.
    """
    scheme, _, rest = uri.partition("://")
    # Browser cannot be told to trust an unknown certificate.
    scheme = scheme.replace("+ssc", "+s")
    link = {"dbms": f"{scheme}://{quote(user, safe='')}@{rest}"}
    if database:
        link["db"] = database
    if query:
        link |= {"cmd": "edit", "arg": query}
    return f"{browser}?{urlencode(link)}"
