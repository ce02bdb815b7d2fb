"""What an agent is told when a call fails: a code, what was wrong, what to do; never a secret."""

from __future__ import annotations

import json
import logging
import traceback

from mcp_types import CallToolResult, TextContent

from graphmem.errors import GraphmemError
from graphmem.rules.context import escaped

log = logging.getLogger("graphmem.mcp")

LONGEST = 500
"""Characters of a message: it may name an argument, which somebody made up."""
UNEXPECTED = {
    "code": "internal",
    "message": "The memory server made a mistake.",
    "hint": "Go on without memory; its log says where it happened.",
}


def told(error: Exception) -> dict[str, str]:
    """Return a failure as `{code, message, hint}`.

    What nobody expected is logged by its kind and its place: its text may hold anything.
    """
    if isinstance(error, GraphmemError):
        return {"code": error.code, "message": error.message[:LONGEST], "hint": error.hint}
    places = traceback.extract_tb(error.__traceback__)[-5:]
    way = " < ".join(f"{one.name} ({one.filename}:{one.lineno})" for one in reversed(places))
    log.error("A call failed with %s in %s", type(error).__name__, way)
    return dict(UNEXPECTED)


def answer(error: Exception) -> CallToolResult:
    """Return a failure as the result of a tool."""
    text = escaped(json.dumps(told(error), ensure_ascii=False))
    return CallToolResult(content=[TextContent(text=text)], is_error=True)
