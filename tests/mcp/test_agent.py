"""An agent loop does 24 tasks with the tools of the core profile.

Its model knows the tools only from their listing, so the descriptions and schemas are tested.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from tests.mcp.agent_tasks import TASKS, Task, Turn
from tests.mcp.conftest import Environ, Served, answer, key_of, over_http, text_of
from tests.mcp.literal_model import LiteralService, chat_tools
from tests.plugins.graph import fresh_tenant
from tests.plugins.loops import run_apart as run

USERS = {"alice": "user:alice", "bob": "user:bob", "global": "global"}
AT_ONCE = 4
MAX_STEPS = 6
SYSTEM = "You have a memory. This conversation is named {}."
Json = dict[str, Any]
Change = Callable[[list[Json]], list[Json]]


@dataclass
class Agent:
    """One user's agent: a model, the tools of a memory and its conversations."""

    model: LiteralService
    http: httpx2.AsyncClient
    client: Client
    tools: list[Json]
    talks: dict[str, list[Json]] = field(default_factory=lambda: defaultdict(list))
    called: set[str] = field(default_factory=set)

    async def say(self, session: str, text: str) -> str:
        """Return the answer to a message, after the calls that the model asks for."""
        talk = self.talks[session] or [{"role": "system", "content": SYSTEM.format(session)}]
        self.talks[session] = talk
        talk.append({"role": "user", "content": text})
        for _ in range(MAX_STEPS):
            body = {"model": "literal", "messages": talk, "tools": self.tools}
            response = await self.http.post(f"{self.model.url}/chat/completions", json=body)
            message = response.json()["choices"][0]["message"]
            talk.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                talk.append(await self._called(call))
        return f"no answer after {MAX_STEPS} steps"

    async def _called(self, call: Json) -> Json:
        name, given = call["function"]["name"], json.loads(call["function"]["arguments"])
        self.called.add(name)
        result = await answer(self.client, name, given)
        content = f"Error: {text_of(result)}" if result.is_error else text_of(result)
        return {"role": "tool", "tool_call_id": call["id"], "content": content}


@dataclass(frozen=True)
class Desk:
    """A server of tools, and the model that uses them."""

    served: Served
    model: LiteralService
    http: httpx2.AsyncClient
    keys: Mapping[tuple[int, str], str]
    """Keys by task and user."""

    async def failures(self, number: int, task: Task, change: Change) -> list[str]:
        """Do a task and return what was answered wrongly.

        Args:
            number: number of the task, by which its users have keys.
            task: the task.
            change: function that changes the listed tools.
        """
        wrong = []
        async with AsyncExitStack() as stack:
            agents: dict[str, Agent] = {}
            for turn in task.turns:
                if turn.user not in agents:
                    opened = self.served.client(self.keys[number, turn.user])
                    client = await stack.enter_async_context(opened)
                    tools = change(chat_tools((await client.list_tools()).tools))
                    agents[turn.user] = Agent(self.model, self.http, client, tools)
                reply = await agents[turn.user].say(turn.session, turn.text)
                if _differs(turn, reply):
                    wrong.append(f"{task.name}: {turn.text!r} got {reply!r}")
        return wrong


def _differs(turn: Turn, reply: str) -> bool:
    return not all(one in reply for one in turn.has) or any(one in reply for one in turn.lacks)


@asynccontextmanager
async def desk(environ: Environ, folder: Path, tasks: int) -> AsyncIterator[Desk]:
    """Serve the core tools to the users of some tasks, each on a tenant of its own."""
    tenants, file = [fresh_tenant() for _ in range(tasks)], folder / "keys.json"
    keys = {
        (number, user): key_of(file, tenant, scope)
        for number, tenant in enumerate(tenants)
        for user, scope in USERS.items()
    }
    async with (
        over_http(environ, errors=folder / "errors.txt", profile="core") as served,
        httpx2.AsyncClient(timeout=300) as http,
    ):
        with LiteralService.opened() as model:
            yield Desk(served, model, http, keys)


async def failures(
    environ: Environ, folder: Path, tasks: Sequence[tuple[Task, Change]]
) -> list[list[str]]:
    """Do tasks, some at once, and return what was answered wrongly in each."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def done(number: int, one: Task, change: Change) -> list[str]:
        async with slots:
            return await used.failures(number, one, change)

    async with desk(environ, folder, len(tasks)) as used:
        return await asyncio.gather(
            *(done(number, one, change) for number, (one, change) in enumerate(tasks))
        )


def unchanged(tools: list[Json]) -> list[Json]:
    return tools


def without(tool: str) -> Change:
    """Return a change that does not offer a tool."""
    return lambda tools: [one for one in tools if one["function"]["name"] != tool]


def swapped(one: str, other: str) -> Change:
    """Return a change that exchanges the descriptions of two tools."""

    def change(tools: list[Json]) -> list[Json]:
        known = {tool["function"]["name"]: tool["function"] for tool in deepcopy(tools)}
        first, second = known[one], known[other]
        first["description"], second["description"] = second["description"], first["description"]
        return [{"type": "function", "function": tool} for tool in known.values()]

    return change


def described(tool: str, old: str, new: str, *, argument: str = "") -> Change:
    """Return a change of a part of the description of a tool or of an argument."""

    def change(tools: list[Json]) -> list[Json]:
        tools = deepcopy(tools)
        [function] = [one["function"] for one in tools if one["function"]["name"] == tool]
        place = function["parameters"]["properties"][argument] if argument else function
        assert old in place["description"]
        place["description"] = place["description"].replace(old, new)
        return tools

    return change


def unnamed(tool: str, argument: str) -> Change:
    """Return a change that lists an argument under a meaningless name, undescribed."""

    def change(tools: list[Json]) -> list[Json]:
        tools = deepcopy(tools)
        [function] = [one["function"] for one in tools if one["function"]["name"] == tool]
        properties = function["parameters"]["properties"]
        properties["x"] = properties.pop(argument) | {"description": ""}
        return tools

    return change


MUTATIONS: dict[str, list[Change]] = {
    "a preference": [
        without("remember"),
        swapped("remember", "forget"),
        unnamed("remember", "content"),
    ],
    "a move": [
        swapped("observe", "remember"),
        swapped("current", "forget"),
        described("observe", "Use when", "For when"),
        unnamed("observe", "object"),
    ],
    "before a move": [unnamed("current", "as_of")],
    "as of February": [unnamed("observe", "at")],
    "a tag": [unnamed("context", "tags")],
    "a new predicate with one value": [unnamed("observe", "cardinality")],
    "only a mistake": [described("belief_retract", "call current for it", "an id")],
    "a sentence replaced later": [
        described("supersede", ", or [id]", "", argument="item_id"),
        swapped("supersede", "why"),
    ],
    "forget a sentence": [without("forget"), unnamed("forget", "confirm")],
    "an echo of the context": [unnamed("context", "session_id")],
    "the reason of a belief": [without("why")],
}
"""Changes of the listed tools by a task that fails with each."""


def test_there_are_two_dozen_tasks() -> None:
    assert len({one.name for one in TASKS}) == len(TASKS) == 24


def test_the_agent_does_every_task(environ: Environ, tmp_path: Path) -> None:
    found = run(failures(environ, tmp_path, [(one, unchanged) for one in TASKS]))
    wrong = [line for one in found for line in one]
    assert not wrong, "\n".join(wrong)


@pytest.mark.system
def test_a_wrong_description_makes_a_task_fail(environ: Environ, tmp_path: Path) -> None:
    named = {one.name: one for one in TASKS}
    changed = [(named[name], change) for name, of in MUTATIONS.items() for change in of]
    found = run(failures(environ, tmp_path, changed))
    done = [number for number, wrong in enumerate(found) if not wrong]
    assert done == [], [changed[number][0].name for number in done]
