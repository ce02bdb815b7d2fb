"""Token costs of the tools that are listed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from graphmem.errors import ConfigurationError
from graphmem.mcp.tool import Profile, Tool
from graphmem.mcp.tools import offered
from graphmem.model import Record

TOKENIZER = "o200k_base"
"""Tokenizer of OpenAI's models since GPT-4o."""
CORE_BUDGET = 4_500
"""Maximum tokens of the list of the core profile."""
CORE_TOOLS = 10
"""Maximum number of its tools."""


class ToolCost(Record):
    """One tool and its tokens."""

    name: str
    title: str
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    tokens_asked: int
    """Tokens of its name, description and argument schema: the part that most clients pass on."""
    tokens: int
    """Tokens of the complete listing, including result schema and annotations."""


def costs(profile: Profile, *, read_only: bool = False) -> tuple[ToolCost, ...]:
    """Return the cost of each tool of a profile, in the order of the list.

    Raises:
        ConfigurationError: the tokenizer's data are missing.
    """
    count = token_counter()
    return tuple(
        _cost(tool, profile, count) for tool in offered(profile, read_only=read_only).values()
    )


def _cost(tool: Tool, profile: Profile, count: Callable[[object], int]) -> ToolCost:
    listed = tool.listed(profile).model_dump(by_alias=True, mode="json", exclude_none=True)
    hints = listed["annotations"]
    return ToolCost(
        name=tool.name,
        title=tool.title,
        read_only=hints["readOnlyHint"],
        destructive=hints["destructiveHint"],
        idempotent=hints["idempotentHint"],
        open_world=hints["openWorldHint"],
        tokens_asked=count({name: listed[name] for name in ("name", "description", "inputSchema")}),
        tokens=count(listed),
    )


def token_counter() -> Callable[[object], int]:
    """Return a function that counts the tokens of data as JSON.

    The ranks are those in the package litellm, so that nothing is fetched.

    Raises:
        ConfigurationError: the package is not installed.
    """
    import tiktoken

    package = find_spec("litellm")
    origin = package.origin if package is not None else None
    if origin is None:
        raise ConfigurationError("Counting tokens requires the package litellm.")
    folder = Path(origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)  # as litellm does when it is imported
    encoding = tiktoken.get_encoding(TOKENIZER)

    def count(data: object) -> int:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return len(encoding.encode(text, disallowed_special=()))

    return count
