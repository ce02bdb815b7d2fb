"""Where Neo4j Browser is served for a server, and links that open it with a query."""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

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
