"""MCP Apps: a host that has the extension shows the results of some tools as panels.

The server makes the HTML by the templates of the explorer, which escape stored text. It is in
`_meta` of a result, which hosts give to the panel and not to the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mcp_types as types
from mcp.server import ServerRequestContext

EXTENSION = "io.modelcontextprotocol/ui"
URI = "ui://graphmem/panel.html"
MIME_TYPE = "text/html;profile=mcp-app"
TOOLS = frozenset({"current", "why"})
"""Tools whose results have a panel."""
HTML = "graphmem.html"
"""Key of the HTML in `_meta`; assets/panel.js has it too."""
_NOTHING: dict[str, Any] = {
    "csp": {"connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": []},
    "prefersBorder": True,
}
"""Requirements of the panel: it loads nothing and asks no server."""
PANEL = types.Resource(
    name="panel",
    title="Fact with its evidence",
    uri=URI,
    description="The values of a fact, or the reasons of an item, shown to a person.",
    mime_type=MIME_TYPE,
    _meta={"ui": _NOTHING},
)


def fit(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Return whether the host of a request shows panels."""
    known = ctx.session.client_capabilities
    own = ((known and known.extensions) or {}).get(EXTENSION) or {}
    return MIME_TYPE in (own.get("mimeTypes") or ())


def marked(tools: Iterable[types.Tool]) -> list[types.Tool]:
    """Return tools as listed, those with a panel with its URI."""
    panel = {"meta": {"ui": {"resourceUri": URI}}}
    return [one.model_copy(update=panel if one.name in TOOLS else {}) for one in tools]


def page() -> types.TextResourceContents:
    """Return the page of the panel, without any result."""
    from graphmem.explorer import views

    return types.TextResourceContents(
        uri=URI, mime_type=MIME_TYPE, text=views.panel(), _meta={"ui": _NOTHING}
    )


def meta(found: Any, explorer: str | None) -> dict[str, Any]:
    """Return `_meta` of a result: the HTML that the panel shows.

    Args:
        found: result of the client.
        explorer: address of the explorer, where ids lead; None if it is unknown.
    """
    from graphmem.explorer import views

    return {HTML: views.fragment(found, explorer)}
