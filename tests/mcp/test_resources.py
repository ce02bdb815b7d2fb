"""Resources and prompts, and their tenant."""

from __future__ import annotations

import json
import re
from typing import get_args
from urllib.parse import quote

import pytest
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS, TextContent, TextResourceContents

from graphmem.mcp.server import instructions
from graphmem.mcp.tool import Profile
from graphmem.mcp.tools import TOOLS, offered
from tests.mcp.conftest import Opened, data
from tests.plugins.graph import fresh_tenant
from tests.plugins.loops import run_apart as run


async def read(client: Client, uri: str) -> TextResourceContents:
    [found] = (await client.read_resource(uri)).contents
    assert isinstance(found, TextResourceContents)
    return found


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_memories_beliefs_and_contexts_are_resources(opened: Opened, mode: str) -> None:
    async def session() -> None:
        async with opened(mode=mode) as client:
            kept = await data(client, "remember", content="Alice deploys from Atlas.")
            seen = await data(client, "observe", subject="alice", predicate="phase", object="Atlas")
            templates = (await client.list_resource_templates()).resource_templates
            assert [one.uri_template for one in templates] == [
                "graphmem://memory/{memory_id}",
                "graphmem://belief/{belief_id}",
                "graphmem://context/{about}",
            ]
            assert (await client.list_resources()).resources == []
            memory = await read(client, f"graphmem://memory/{kept['memory_id']}")
            assert json.loads(memory.text)["text"] == "Alice deploys from Atlas."
            belief = await read(client, f"graphmem://belief/{seen['belief_id']}")
            assert len(json.loads(belief.text)["pieces"]) == 1
            question = quote("where does Alice deploy?", safe="")
            context = await read(client, f"graphmem://context/{question}")
            assert context.mime_type == "text/plain"
            assert "Data, not orders" in context.text
            short = kept["memory_id"][:6]
            assert f"[{short}]" in context.text
            for shown in (short, f"[{short}]"):
                found = await data(client, "expand", item_id=shown)
                assert found["text"] == "Alice deploys from Atlas."
            memory = await read(client, f"graphmem://memory/{short}")
            assert json.loads(memory.text)["text"] == "Alice deploys from Atlas."

    run(session())


def test_unknown_resources_get_the_same_error(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client, opened(tenant=fresh_tenant()) as stranger:
            kept = await data(client, "remember", content="Alice deploys from Atlas.")
            seen = await data(client, "observe", subject="alice", predicate="phase", object="Atlas")
            theirs = f"graphmem://memory/{kept['memory_id']}"
            for reader, uri in (
                (stranger, theirs),
                (stranger, f"graphmem://belief/{seen['belief_id']}"),
                (stranger, "graphmem://memory/m_none"),
                (client, f"graphmem://belief/{kept['memory_id']}"),
                (client, f"graphmem://memory/{seen['belief_id']}"),
                (client, "graphmem://memory/"),
                (client, "graphmem://nothing/here"),
                (client, "graphmem://" + "x" * 100_000),
                (client, "file:///etc/passwd"),
            ):
                with pytest.raises(MCPError) as caught:
                    await reader.read_resource(uri)
                assert caught.value.error.code == INVALID_PARAMS
                assert caught.value.error.data["code"] == "not_found", uri
            with pytest.raises(MCPError) as caught:
                await client.read_resource("graphmem://context/%20")
            assert caught.value.error.data["code"] == "invalid_input"

    run(session())


def named(text: str) -> set[str]:
    """Return the tools that a text names by a verb of their own."""
    return TOOLS.keys() & set(re.findall(r"\w+", text)) - {"forget"}


@pytest.mark.parametrize("profile", get_args(Profile))
@pytest.mark.parametrize("read_only", [True, False])
def test_instructions_and_descriptions_name_offered_tools_only(
    *, profile: Profile, read_only: bool
) -> None:
    tools = offered(profile, read_only=read_only)
    assert named(instructions(profile, read_only=read_only)) <= tools.keys()
    if profile == "core" and not read_only:
        for tool in tools.values():
            assert named(tool.description) <= tools.keys(), tool.name


def test_prompts_are_filled_in(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            await data(client, "remember", content="Alice deploys from Atlas.")
            assert [one.name for one in (await client.list_prompts()).prompts] == ["ask", "keep"]
            question = "where does Alice deploy?"
            asked = await client.get_prompt("ask", {"question": question})
            block, words = [one.content for one in asked.messages]
            assert isinstance(block, TextContent)
            assert isinstance(words, TextContent)
            assert "Alice deploys from Atlas." in block.text
            assert words.text == question
            [kept] = (await client.get_prompt("keep", {"session_id": "monday"})).messages
            assert isinstance(kept.content, TextContent)
            assert '"monday"' in kept.content.text
            assert "add_messages" in kept.content.text
            for name, arguments in (
                ("ask", {}),
                ("ask", {"question": " "}),
                ("ask", {"question": question, "tenant": "acme"}),
                ("forget", {}),
            ):
                with pytest.raises(MCPError) as caught:
                    await client.get_prompt(name, arguments)
                assert caught.value.error.code == INVALID_PARAMS
        async with opened(read_only=True) as client:
            assert [one.name for one in (await client.list_prompts()).prompts] == ["ask"]
        async with opened(profile="core") as client:
            [kept] = (await client.get_prompt("keep", {})).messages
            assert isinstance(kept.content, TextContent)
            assert named(kept.content.text) == {"observe", "remember", "supersede"}

    run(session())
