"""docs/reference/mcp.md and the tutorial of an agent run, and print what they show."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from graphmem.mcp.clients import CLIENTS
from graphmem.mcp.costs import CORE_BUDGET, costs, token_counter
from graphmem.mcp.tool import Profile
from graphmem.mcp.tools import TOOLS, listed, offered
from tests.docs.conftest import FENCED, Follow

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "mcp.md").read_text("utf-8")
TUTORIAL = (DOCS / "tutorials" / "coding-agent.md").read_text("utf-8")
BLOCKS = [*FENCED.findall(TUTORIAL), *FENCED.findall(PAGE)]


@pytest.mark.system
def test_the_commands_run(follow: Follow) -> None:
    shells = [text for kind, text in BLOCKS if kind == "bash"]
    printed = [follow(["bash", "-ec", text]) for text in shells]
    config, _, tools, with_url = printed
    options = follow(["bash", "-ec", "graphmem mcp --help; graphmem serve --help"])
    assert "http://localhost:8766/mcp" in with_url
    assert json.loads(config)["mcpServers"]["graphmem"]["args"][:3] == ["-m", "graphmem", "mcp"]
    assert all(name in tools for name in offered("core", read_only=False))
    for option in re.findall(r"`(--[\w-]+)`", PAGE + TUTORIAL):
        assert option in options, option


@pytest.mark.system
def test_the_conversation_prints_what_the_page_shows(follow: Follow) -> None:
    [script] = [text for kind, text in BLOCKS if kind == "python"]
    _, shown = [text for kind, text in BLOCKS if kind == "text"]
    # The indexes of a new server show new data a little later.
    follow([sys.executable, "-c", script.replace('"acme"', '"elsewhere"')])
    assert follow([sys.executable, "-c", script]) == shown


def test_every_block_is_followed_by_a_test() -> None:
    kinds = [kind for kind, _ in BLOCKS]
    assert kinds == ["bash", "text", "bash", "python", "text", "bash", "bash"]


def test_the_page_says_what_is_so() -> None:
    row = re.compile(r"^\| `(\w+)` \|(.*?)\|.*\| ([\d,]+) \|(.*)\|$", re.MULTILINE)
    rows = {name: more for name, *more in row.findall(PAGE)}
    assert rows.keys() == TOOLS.keys()
    assert {name for name, (_, _, adds) in rows.items() if not adds.strip()} == {
        name for name, tool in TOOLS.items() if tool.read_only
    }
    core = [name for name, (mark, _, _) in rows.items() if mark.strip() == "yes"]
    assert set(core) == offered("core", read_only=False).keys()
    tokens = {one.name: one.tokens for one in (*costs("full"), *costs("core"))}
    assert {name: int(found.replace(",", "")) for name, (_, found, _) in rows.items()} == tokens
    assert all(f"`{name}`" in TUTORIAL for name in CLIENTS)
    assert f"below {CORE_BUDGET:,}" in PAGE
    words = " ".join(PAGE.split())
    asked = sum(one.tokens_asked for one in costs("core"))
    assert f"has {_whole('core'):,} tokens" in words
    assert f"are {asked:,}. The full profile has {_whole('full'):,}." in words


def _whole(profile: Profile) -> int:
    tools = listed(profile, read_only=False)
    shown = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools]
    return token_counter()({"tools": shown})
