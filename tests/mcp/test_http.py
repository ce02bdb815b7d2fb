"""Access over HTTP: keys, tenants, hosts, origins."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from graphmem.serve.listening import is_loopback
from tests.cli.conftest import Run
from tests.mcp.conftest import INITIALIZE, Environ, Served, data, key_of, over_http, refused
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.loops import run_apart as run

WORDS = "Alice deploys from Atlas."
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@dataclass(frozen=True)
class Keys:
    """Keys of two tenants with a scope of the same name, and of a third that only reads."""

    server: Served
    alice: str
    bob: str
    reader: str


@asynccontextmanager
async def served(
    environ: Environ, tmp_path: Path, tenant: str, readers: str | None = None
) -> AsyncIterator[Keys]:
    """Serve the callers of these keys."""
    file = tmp_path / "keys.json"
    alice, bob = (key_of(file, name, "user:alice") for name in (tenant, fresh_tenant()))
    reader = key_of(file, readers or fresh_tenant(), rights=("read",))
    async with over_http(environ, errors=tmp_path / "errors.txt") as found:
        yield Keys(found, alice, bob, reader)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_no_tool_crosses_a_tenant(
    environ: Environ, tmp_path: Path, look: Look, tenant: str, mode: str
) -> None:
    readers = fresh_tenant()

    async def session() -> None:
        async with (
            served(environ, tmp_path, tenant, readers) as keys,
            keys.server.client(keys.alice, mode=mode) as alice,
            keys.server.client(keys.bob, mode=mode) as bob,
            keys.server.client(keys.reader, mode=mode) as reader,
        ):
            kept = await data(alice, "remember", content=WORDS, session_id="s")
            seen = await data(
                alice,
                "observe",
                subject="alice",
                predicate="phase",
                object="Atlas",
                session_id="s",
            )
            memory_id, belief_id = kept["memory_id"], seen["belief_id"]
            message = {"role": "user", "content": "I deploy from Atlas."}
            turns = await data(alice, "add_messages", session_id="s", messages=[message])
            assert (await data(alice, "recall", query="Atlas"))["bites"]

            for client in (bob, reader):
                for name, key in (("recall", "query"), ("context", "about")):
                    found = await data(client, name, session_id="s", **{key: "Atlas"})
                    assert [found.get("bites"), found.get("text")] in ([[], None], [None, ""])
                found = await data(client, "current", subject="alice", predicate="phase")
                assert found["candidates"] == []
                for one in (kept["memory_id"], seen["belief_id"], turns["turn_ids"][0], "ep_x"):
                    await _the_same(client, "expand", "item_id", one)
                for name, key, one in (
                    ("memory_history", "memory_id", kept["memory_id"]),
                    ("why", "item_id", seen["belief_id"]),
                    ("why", "item_id", kept["memory_id"]),
                    ("evidence_for", "belief_id", seen["belief_id"]),
                ):
                    await _the_same(client, name, key, one)
            for name, key, one, more in (
                ("memory_deprecate", "memory_id", memory_id, {}),
                ("add_evidence", "belief_id", belief_id, {"kind": "refuting", "strength": 0.9}),
                ("belief_revise", "belief_id", belief_id, {"statement": "Something else"}),
                ("belief_split", "belief_id", belief_id, {"statements": ["One", "Another"]}),
            ):
                await _the_same(bob, name, key, one, **more)
            fact = {"subject": "a", "predicate": "status", "object": "c"}
            await _the_same(bob, "observe", "turn_id", turns["turn_ids"][0], **fact)
            # The same words and the same session are another memory there.
            theirs = await data(bob, "remember", content=WORDS, session_id="s")
            assert theirs["outcome"] == "INSERTED_NEW"
            assert (await data(alice, "memory_history", memory_id=kept["memory_id"]))["events"]
            assert "remember" not in {tool.name for tool in (await reader.list_tools()).tools}

    run(session())
    assert look.events(readers) == {}


async def _the_same(client: Any, name: str, key: str, one: str, **more: Any) -> None:
    """Check that an id of another tenant gets the same error as an unknown id."""
    theirs = await refused(client, name, **{key: one, **more})
    unknown = await refused(client, name, **{key: one[:-6] + "000000", **more})
    assert theirs["code"] == unknown["code"] == "not_found"
    assert theirs["hint"] == unknown["hint"]
    assert theirs["message"].replace(one, "") == unknown["message"].replace(one[:-6] + "000000", "")


def test_a_request_without_a_valid_key_is_refused(
    environ: Environ, tmp_path: Path, tenant: str
) -> None:
    async def session() -> None:
        async with (
            served(environ, tmp_path, tenant) as keys,
            httpx2.AsyncClient(timeout=60) as http,
        ):
            server, alice = keys.server, keys.alice

            async def status(token: str | None, **headers: str) -> int:
                bearer = {} if token is None else {"Authorization": token}
                found = await http.post(
                    server.url, json=INITIALIZE, headers=ACCEPT | bearer | headers
                )
                assert tenant not in found.text
                return found.status_code

            right = f"Bearer {alice}"
            for wrong in (None, "", "Bearer", "Bearer x", f"Basic {alice}", alice):
                assert await status(wrong) in (401, 429), wrong
            for wrong in (f"Bearer {alice}x", f"Bearer {alice[:-1]}", f"Bearer {alice.upper()}"):
                assert await status(wrong) in (401, 429), wrong  # guesses have a limit
            assert await status(right) == 200
            assert await status(f"bearer {alice}") == 200
            assert await status(right, Origin="https://evil.example") == 403
            assert await status(right, Origin="null") == 403
            assert await status(right, Host="evil.example") == 403
            assert await status(right, Host="evil.example:8765") == 403
            port = server.url.rpartition(":")[2].partition("/")[0]
            assert await status(right, Origin=f"http://localhost:{port}") == 200
            assert (await http.get(server.url)).status_code in (401, 429)

            began = await http.post(
                server.url, json=INITIALIZE, headers=ACCEPT | {"Authorization": right}
            )
            stolen = {"Mcp-Session-Id": began.headers["mcp-session-id"]}
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            for token, wanted in ((keys.bob, 404), (alice, 200)):
                found = await http.post(
                    server.url,
                    json=listing,
                    headers=ACCEPT | stolen | {"Authorization": f"Bearer {token}"},
                )
                assert found.status_code == wanted
        logged = (tmp_path / "errors.txt").read_text()
        for secret in (alice, keys.bob, keys.reader, environ["GRAPHMEM_PASSWORD"]):
            assert secret not in logged

    run(session())


def test_loopback_addresses() -> None:
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"))
    others = ("0.0.0.0", "::", "10.0.0.1", "192.0.2.1", "memory.example")  # noqa: S104
    assert not any(is_loopback(host) for host in others)


def test_a_port_in_use_is_reported(graphmem: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refusal = graphmem("serve", "--port", port)
    assert (refusal.code, "configuration" in refusal.err, port in refusal.err) == (2, True, True)


def test_a_signal_stops_the_server(environ: Environ, tmp_path: Path, tenant: str) -> None:
    async def session() -> None:
        errors = tmp_path / "errors.txt"
        async with over_http(environ, errors=errors) as server, server.client() as client:
            await data(client, "remember", content=WORDS, session_id="s")
            server.process.terminate()
            assert await asyncio.wait_for(server.process.wait(), 300) in (0, -15, 143)

    run(session())
