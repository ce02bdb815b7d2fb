"""Resources and prompts, and their tenant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import get_args
from urllib.parse import quote

import pytest
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS, TextContent, TextResourceContents

from graphmem.errors import GraphmemError
from graphmem.mcp import inputs, resources
from graphmem.mcp import tool as tool_module
from graphmem.mcp.server import HINTS, instructions
from graphmem.mcp.tool import Profile
from graphmem.mcp.tools import TOOLS, listed, offered
from tests.mcp.conftest import Opened, data
from tests.plugins.graph import fresh_tenant
from tests.plugins.loops import run_apart as run
from tests.plugins.twins import public


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


def texts_sent(profile: Profile, *, read_only: bool) -> Iterator[tuple[str, str]]:
    """Yield every text that asks something of a model, with its place: prompts, tools, errors."""
    yield "instructions", instructions(profile, read_only=read_only)
    yield from texts_of_tools(profile, read_only=read_only)
    prompts = resources.offered_prompts(read_only=read_only)
    yield from ((one.name, one.model_dump_json(exclude={"name"})) for one in prompts)
    yield from ((one.name, str(one.description)) for one in resources.TEMPLATES)
    yield from ((kind.__name__, hint) for kind, hint in HINTS.items())
    if read_only:
        return
    for arguments in ({}, {"session_id": "monday"}):
        [message] = resources.keep(arguments, profile).messages
        yield "keep", message.model_dump_json()
    yield "observe", str(inputs.cardinality_missing())
    yield "remember", inputs.CALL_OBSERVE
    yield "forget", f"{tool_module.NEXT} {tool_module.DECLINED}"


def texts_of_tools(profile: Profile, *, read_only: bool) -> Iterator[tuple[str, str]]:
    """Yield the texts of the listed tools and of their arguments."""
    for tool in listed(profile, read_only=read_only):
        yield tool.name, tool.model_dump_json(include={"title", "description"})
        # Names of arguments and results, such as `supersedes`, ask for nothing.
        schemas = json.dumps([tool.input_schema, tool.output_schema])
        yield from ((tool.name, text) for text in re.findall(r'"description": "([^"]*)"', schemas))


COMBINATIONS = [(one, read_only) for one in get_args(Profile) for read_only in (False, True)]


@pytest.mark.parametrize(("profile", "read_only"), COMBINATIONS)
def test_every_text_asks_for_offered_tools_only(*, profile: Profile, read_only: bool) -> None:
    tools = offered(profile, read_only=read_only)
    found = list(texts_sent(profile, read_only=read_only))
    assert len(found) > 2 * len(tools)
    lacking = [(place, named(text) - tools.keys()) for place, text in found]
    assert not [(place, names) for place, names in lacking if names]


def _raised() -> list[type[GraphmemError]]:
    kinds, found = [GraphmemError], []
    while kinds:
        kind = kinds.pop()
        found.append(kind)
        kinds += kind.__subclasses__()
    return found


@pytest.mark.parametrize("kind", _raised())
def test_the_hint_of_an_error_names_no_method_that_is_no_tool(kind: type[GraphmemError]) -> None:
    hint = next((own for base, own in HINTS.items() if issubclass(kind, base)), kind.default_hint)
    methods = {name.rpartition(".")[2] for name in public()}
    asked = methods & set(re.findall(r"`(\w+)`", hint))
    # Only a person takes a rejection back.
    assert asked <= offered("core", read_only=False).keys() | {"unreject"}


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
            assert named(kept.content.text) == {
                *("observe", "remember", "supersede", "believe", "add_evidence")
            }

    run(session())
