"""docs/mcp.md runs block by block, and prints what the page shows."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from graphmem.mcp.clients import CLIENTS
from graphmem.mcp.tools import BUDGET, TOOLS, costs
from tests.docs.conftest import FENCED, Follow

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
BLOCKS = FENCED.findall(PAGE)


@pytest.mark.system
def test_the_commands_run(follow: Follow) -> None:
    shells = [text for kind, text in BLOCKS if kind == "bash"]
    printed = [follow(["bash", "-ec", text]) for text in shells]
    config, tools, options = printed
    assert json.loads(config)["mcpServers"]["graphmem"]["args"][:3] == ["-m", "graphmem", "mcp"]
    assert all(name in tools for name in TOOLS)
    for option in re.findall(r"`(--[\w-]+)`", PAGE):
        assert option in options, option


@pytest.mark.system
def test_the_conversation_prints_what_the_page_shows(follow: Follow) -> None:
    [script] = [text for kind, text in BLOCKS if kind == "python"]
    [shown] = [text for kind, text in BLOCKS if kind == "text"]
    # The indexes of a new server show new data a little later.
    follow([sys.executable, "-c", script.replace('"acme"', '"elsewhere"')])
    assert follow([sys.executable, "-c", script]) == shown


def test_every_block_is_followed_by_a_test() -> None:
    assert [kind for kind, _ in BLOCKS] == ["bash", "bash", "python", "text", "bash"]


def test_the_page_says_what_is_so() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", PAGE, re.MULTILINE)
    assert {name for name, _ in rows} == TOOLS.keys()
    assert {name for name, adds in rows if not adds.strip()} == {
        name for name, tool in TOOLS.items() if tool.read_only
    }
    assert all(f"`{name}`" in PAGE for name in CLIENTS)
    assert f"below {BUDGET:,}" in PAGE
    counted = re.search(r"counted as ([\d,]+) tokens", PAGE)
    assert counted is not None
    assert abs(int(counted[1].replace(",", "")) - sum(one.tokens for one in costs())) < 200
