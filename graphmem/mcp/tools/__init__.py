"""All tools, in the order listed to agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphmem.mcp.calls import Tool
from graphmem.mcp.tools import beliefs, memories, recalling

TOOLS: Mapping[str, Tool[Any]] = {
    tool.name: tool for tool in (*recalling.TOOLS, *memories.TOOLS, *beliefs.TOOLS)
}


def offered(*, read_only: bool) -> Mapping[str, Tool[Any]]:
    """Return the tools by name; for a read-only server, those that change nothing."""
    return {name: tool for name, tool in TOOLS.items() if tool.reads or not read_only}
