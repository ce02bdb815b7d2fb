"""Report over MCP which results an answer used, so that they are rated."""

from __future__ import annotations

import asyncio
from typing import Any

from bench import chats
from graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.mcp.conftest import Opened, data, refused

HOME = "I live in Lisbon."


def test_the_next_call_names_what_an_answer_used(opened: Opened, settings: Settings) -> None:
    named: dict[str, Any] = {"session_id": "s"}

    async def chat() -> tuple[str, list[dict[str, str]]]:
        async with opened(profile="core") as client:
            kept = (await data(client, "remember", content=HOME, **named))["memory_id"]
            await data(client, "remember", content="I like green tea.", **named)
            about = {"about": "Where do I live, and what do I like?", **named}
            await data(client, "context", **about)
            errors = [
                await refused(client, "context", **about, used=used)
                for used in ([kept, "m_ffff"], ["somewhere"], [kept.replace("m_", "b_"), "ep_1"])
            ]
            await data(client, "context", **about, used=[f"[{kept[:8]}]"])
            return kept, errors

    kept, errors = asyncio.run(chat())
    assert [error["code"] for error in errors] == ["not_found"] * 3
    assert [error["message"] for error in errors] == [
        "used: no item 'm_ffff'.",
        "used: no item 'somewhere'.",
        f"used: no item '{kept.replace('m_', 'b_')}', 'ep_1'.",
    ]
    with GraphMem.open(settings=settings, embedder=HashEmbedder()) as memory:
        [audited] = memory.usage.audit().sessions
        # The calls with an unknown id logged nothing.
        assert audited.accesses == 1
        assert memory.usage.rate().searches == 1
        assert memory.usage.ratings()[0].id == kept


def test_files_that_an_agent_found_and_opened_are_rated(opened: Opened, settings: Settings) -> None:
    named: dict[str, Any] = {"session_id": "s"}

    async def work() -> tuple[Any, dict[str, str]]:
        async with opened(profile="full") as client:
            found = {"query": "def main", "tool": "rg", **named}
            logged = await data(
                client, "usage_log_search", results=["a.py", "symbol:app.main"], **found
            )
            error = await refused(client, "usage_log_search", results=["b.py", "m_ffff"], **found)
            await data(client, "usage_log_access", kind="symbol", ref="app.main", **named)
            return logged, error

    logged, error = asyncio.run(work())
    assert (logged, error["message"]) == ({"results": 2}, "results: no item 'm_ffff'.")
    with GraphMem.open(settings=settings, embedder=HashEmbedder()) as memory:
        assert memory.usage.rate().searches == 1
        rated = memory.usage.ratings(kinds=["Artifact"])
        assert [one.text for one in rated] == ["app.main", "a.py"]
        assert rated[0].rating.elo > 1_200 > rated[1].rating.elo
        assert [one.id for one in memory.usage.dashboard().top] == [one.id for one in rated]


def test_half_of_what_a_chat_uses_is_rated(settings: Settings) -> None:
    with GraphMem.open(settings=settings, embedder=HashEmbedder()) as memory:
        chat = chats.by_mcp(settings, memory, 8)
        rated, items = chat.rated(memory)
    assert items >= 3
    assert rated >= chats.WANTED * items
