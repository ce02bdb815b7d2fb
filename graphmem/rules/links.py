"""Addresses in the explorer: the only rule for the page of an id."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

LOCAL = "http://127.0.0.1:8766"
"""Address of `graphmem serve` with its defaults."""
TEMPLATE = '"/item?id={id}"; rel="item"'
"""Header `Link-Template` (RFC 9652) of answers: the page of each id in them."""


def address(path: str, **query: Any) -> str:
    """Return an address within the explorer; parameters that are None or empty are left out."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='surrogatepass')}" if given else path


def item_address(item_id: str, explorer: str = LOCAL) -> str:
    """Return the address of a belief, memory, episode, turn or event in the explorer.

    Args:
        item_id: any id that graphmem returns, also a short one.
        explorer: address of `graphmem serve`, such as the setting `explorer`.
    """
    return explorer.rstrip("/") + address("/item", id=item_id)
