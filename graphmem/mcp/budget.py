"""Token cost of the list of tools."""

from __future__ import annotations

import json

from graphmem.mcp.tools import offered
from graphmem.model import Record
from graphmem.rules.context import count_tokens

BUDGET = 11_000
"""Maximum tokens of the whole list, by `rules.context.count`, which counts JSON about twice as high
as a tokenizer."""


class ToolCost(Record):
    """One tool and its estimated tokens, counted without a tokenizer and rather too high."""

    name: str
    title: str
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    tokens_asked: int
    """Tokens of its name, description and argument schema: the part a model reads."""
    tokens: int
    """Tokens of the complete listing, including result schema and annotations."""


def costs(*, read_only: bool = False) -> tuple[ToolCost, ...]:
    """Return the cost of each tool, in the order of the list."""
    found = []
    for tool in offered(read_only=read_only).values():
        listed = tool.listed.model_dump(by_alias=True, mode="json", exclude_none=True)
        hints = listed["annotations"]
        asked = {name: listed[name] for name in ("name", "description", "inputSchema")}
        found.append(
            ToolCost(
                name=tool.name,
                title=tool.title,
                read_only=hints["readOnlyHint"],
                destructive=hints["destructiveHint"],
                idempotent=hints["idempotentHint"],
                open_world=hints["openWorldHint"],
                tokens_asked=_count(asked),
                tokens=_count(listed),
            )
        )
    return tuple(found)


def _count(data: object) -> int:
    return count_tokens(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
