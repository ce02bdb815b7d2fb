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
                for used in (["m_ffff"], ["somewhere"], [kept.replace("m_", "b_")])
            ]
            await data(client, "context", **about, used=[f"[{kept[:8]}]"])
            return kept, errors

    kept, errors = asyncio.run(chat())
    assert [error["code"] for error in errors] == ["not_found", "invalid_input", "not_found"]
    with GraphMem.open(settings=settings, embedder=HashEmbedder()) as memory:
        assert memory.usage.rate().searches == 1
        assert memory.usage.ratings()[0].id == kept


def test_half_of_what_a_chat_uses_is_rated(settings: Settings) -> None:
    with GraphMem.open(settings=settings, embedder=HashEmbedder()) as memory:
        chat = chats.by_mcp(settings, memory, 8)
        rated, items = chat.rated(memory)
    assert items >= 3
    assert rated >= chats.WANTED * items
