"""Several owners in one store: reports of users of other memories, each as a test of graphmem."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.types import Message as Sent

from graphmem import GraphMem, Handle, Message
from graphmem.mcp.http_server import TokenMiddleware, configured_tokens
from graphmem.mcp.tools import TOOLS
from graphmem.settings import Settings
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
WORD = "quartzite"
TOKEN = "a-token-with-enough-characters"


def write(memory: Handle) -> None:
    """Write the word as a memory, a belief, a turn, an episode and an item of the search log."""
    memory.remember(f"The floor of the cellar is of {WORD}.", at=MAY)
    memory.observe("cellar", "floor", WORD, at=MAY, cardinality="MANY")
    memory.episodes.add(episode_id="d", content=f"{WORD} " * 40, summary=f"On {WORD}.", at=MAY)
    talk = memory.session("s")
    talk.add_messages([Message(role="user", content=f"Is the cellar of {WORD}?", at=MAY)])


def found(memory: Handle) -> str:
    """Return all that searches of any kind find about the word."""
    question = f"which cellar is of {WORD}?"
    seen = [
        memory.recall(question, include_hidden=True),
        memory.recall(question, policy="flat"),
        memory.recall(question, policy="engram"),
    ]
    block = memory.context(question).text
    slot = memory.current("cellar", "floor").candidates
    lists = (memory.memories.list(), memory.beliefs.list(), memory.episodes.list())
    return str(([one.bites for one in seen], block, slot, lists))


def test_two_data_sets_share_one_database_of_the_community_edition(
    client: GraphMem, plain: Handle, look: Look
) -> None:
    """topoteretes/cognee#2231, topoteretes/cognee#2867, topoteretes/cognee#2894: one set for all.

    Data sets were databases, and the Community edition has one. Without them the argument
    `datasets=` was ignored: every search read everybody's texts.
    """
    [row] = look.rows(
        "CALL dbms.components() YIELD name, edition WHERE name = 'Neo4j Kernel' RETURN edition"
    )
    assert row["edition"] == "community"
    write(plain)
    alice = plain.scope("user:alice")
    other = client.tenant(fresh_tenant())
    other.remember("The floor of the attic is of slate.", at=MAY)
    assert WORD not in found(other)
    # A global text is shared within a tenant; a text of a private scope is not.
    assert WORD in found(alice)
    assert WORD not in found(plain.scope("user:bob", read_scopes=["user:bob"]))
    write(other.scope("user:carol"))
    assert WORD not in found(other)
    assert WORD in found(other.scope("user:carol"))


def test_no_request_is_served_without_a_key() -> None:
    """mem0ai/mem0#3375, mem0ai/mem0#3311: the REST server had no keys, and answered everybody.

    The fix made keys optional. graphmem's server does not start without a token.
    """
    reached = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["user"].access_token.client_id)

    known = Settings.load({}, mcp_token=TOKEN, tenant="acme", scope="user:alice")
    table = configured_tokens(known, read_only=False)
    served = TokenMiddleware(app, table)

    def status(*headers: tuple[bytes, bytes]) -> int | None:
        sent: list[Sent] = []

        async def send(message: Sent) -> None:
            sent.append(message)

        async def receive() -> Sent:
            return {"type": "http.request"}

        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
        asyncio.run(served(scope, receive, send))
        return sent[0]["status"] if sent else None

    for wrong in (b"", b"Bearer", b"Bearer x", TOKEN.encode(), f"Basic {TOKEN}".encode()):
        assert status((b"authorization", wrong)) == 401
    assert status() == 401
    assert reached == []
    # The control: the right key is let through, as the caller of its token.
    assert status((b"authorization", f"Bearer {TOKEN}".encode())) is None
    assert len(reached) == 1


@pytest.mark.parametrize("name", ["user_id", "tenant", "scope", "doc_path"])
def test_a_caller_chooses_neither_whose_memory_it_reads_nor_a_file(name: str) -> None:
    """MemTensor/MemOS#2202: a caller named the user whose memory it wanted, and a path to read.

    Both came from the request, so a caller could read all texts, and files of the server.
    """
    taken = {tool.name: tool.listed("full").input_schema for tool in TOOLS.values()}
    assert "query" in taken["recall"]["properties"]
    for tool, schema in taken.items():
        assert schema["additionalProperties"] is False, tool
        assert f'"{name}"' not in json.dumps(schema["properties"]), tool
