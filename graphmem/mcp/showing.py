"""What a tool gave, as data for a program and as text for a model."""

from __future__ import annotations

import json
from typing import Any

from mcp_types import CallToolResult, TextContent

from graphmem.mcp.tool import Tool
from graphmem.model import Record
from graphmem.rules.context import escaped


def shown(tool: Tool[Any], result: Record) -> CallToolResult:
    """Return what a tool gave: as data, and as text in which nothing is hidden."""
    data = result.model_dump(mode="json", exclude_defaults=True)
    text = tool.text(result) if tool.text else compact(data)
    return CallToolResult(content=[TextContent(text=text)], structured_content=data)


def compact(data: object) -> str:
    """Return data as JSON of one line."""
    return escaped(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
