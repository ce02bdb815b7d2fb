"""What the list of tools costs whoever reads it, in tokens."""

from __future__ import annotations

import json

from graphmem.mcp.tools import offered
from graphmem.model import Record
from graphmem.rules.context import count

BUDGET = 11_000
"""Of the whole list, by `rules.context.count`, which takes JSON for twice what a tokenizer does."""


class ToolCost(Record):
    """One tool and what it costs, counted without a tokenizer, rather too much than too little."""

    name: str
    title: str
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    tokens_asked: int
    """Of its name, its description and the schema of its arguments: what a model reads."""
    tokens: int
    """Of all that is listed, the schema of its result and its annotations included."""


def costs(*, read_only: bool = False) -> tuple[ToolCost, ...]:
    """Return what each tool costs, in the order of the list."""
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
    return count(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
