"""MCP under the same process and keys: grants, sessions that a client resumes, streams that end."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2

from graphmem import Handle
from graphmem.mcp.server import INSTRUCTIONS, PAGE, READ_ONLY
from graphmem.mcp.tools import TOOLS
from graphmem.serve.keys import KeyFile
from tests.mcp.conftest import (
    INITIALIZE,
    Environ,
    Served,
    data,
    key_of,
    over_http,
)
from tests.plugins.clients import on_tenant
from tests.plugins.loops import run_apart as run
from tests.plugins.service import Api

ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
READERS = {name for name, tool in TOOLS.items() if tool.read_only}


def test_an_agent_has_the_grant_of_its_key(
    environ: Environ, tmp_path: Path, client: Handle, tenant: str
) -> None:
    file, mem = tmp_path / "keys.json", on_tenant(client, tenant)
    for scope in ("user:alice", "team:red", "team:blue", "global"):
        mem.scope(scope).remember(f"The lamp of {scope} is green.")
    team = key_of(file, tenant, "user:alice", "team:red", rights=("read", "write"))
    reader = key_of(file, tenant, "team:*", rights=("read",))

    async def seen(server: Served, key: str, **headers: str) -> tuple[set[str], set[str], Any]:
        async with server.client(key, **headers) as one:
            found = await data(one, "recall", query="Which lamp is green?", limit=20)
            lamps = (re.search(r"lamp of (\S+)", bite["text"]) for bite in found["bites"])
            scopes = {lamp[1] for lamp in lamps if lamp}
            tools = {tool.name for tool in (await one.list_tools()).tools}
            assert one.instructions is not None
            return scopes, tools, one.instructions

    async def session() -> None:
        async with over_http(environ, errors=tmp_path / "errors.txt") as server:
            scopes, tools, text = await seen(server, team)
            assert scopes == {"user:alice", "team:red", "global"}
            assert tools == TOOLS.keys() - {"forget"}
            assert text.startswith(INSTRUCTIONS)
            blue = {"Graphmem-Scope": "team:blue"}
            scopes, tools, text = await seen(server, reader, **blue)
            page = PAGE.format(f"{server.url.removesuffix('/mcp')}/item?id=ID")
            assert (scopes, tools, text) == ({"team:blue", "global"}, READERS, READ_ONLY + page)
            assert (await seen(server, server.key))[1] == TOOLS.keys()
            async with server.client(team, **{"Graphmem-Scope": "team:red"}) as one:
                stored = await data(one, "remember", content="The red team rows on Mondays.")
            assert mem.scope("team:red").memories.get(stored["memory_id"]).scope == "team:red"

    run(session())


def test_what_a_key_does_not_grant_is_refused(api: Api, tenant: str) -> None:
    def status(key: str | None, **headers: str) -> tuple[int, str]:
        found = api.send(key, "POST", "/mcp", INITIALIZE, headers=ACCEPT | headers)
        return found.status_code, found.json()["code"]

    team = api.key(tenant, "team:*")
    assert status(None) == (401, "unauthorized")
    assert status(api.key(tenant, rights="write erase admin")) == (403, "not_granted")
    assert status(team)[0] == 422
    assert status(team, **{"Graphmem-Scope": "user:alice"}) == (403, "not_granted")
    allowed = ACCEPT | {"Graphmem-Scope": "team:red"}
    found = api.send(team, "POST", "/mcp", INITIALIZE, headers=allowed)
    assert (found.status_code, "mcp-session-id" in found.headers) == (200, True)


class Wire:
    """Requests of an MCP client, without the SDK."""

    def __init__(self, server: Served, http: httpx2.AsyncClient) -> None:
        self.url, self.http = server.url, http
        self.headers = ACCEPT | {"Authorization": f"Bearer {server.key}"}

    async def begin(self) -> None:
        """Open a session of the protocol of 2025-11-25, which resumes streams."""
        asked = INITIALIZE | {"params": INITIALIZE["params"] | {"protocolVersion": "2025-11-25"}}  # type: ignore[operator]
        found = await self.http.post(self.url, json=asked, headers=self.headers)
        assert found.status_code == 200, found.text
        self.headers |= {
            "Mcp-Session-Id": found.headers["mcp-session-id"],
            "MCP-Protocol-Version": "2025-11-25",
        }
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self.http.post(self.url, json=ready, headers=self.headers)

    async def first_id(self, number: int, content: str) -> str:
        """Call a tool, and leave when the stream of its answer begins; return the event's id."""
        params = {"name": "remember", "arguments": {"content": content}}
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        async with self.http.stream("POST", self.url, json=body, headers=self.headers) as found:
            async for line in found.aiter_lines():
                if line.startswith("id:"):
                    return line.removeprefix("id:").strip()
        raise AssertionError("no event")

    async def missed(self, last: str) -> AsyncIterator[Any]:
        """Yield the messages after an event."""
        headers = self.headers | {"Last-Event-ID": last}
        async with self.http.stream("GET", self.url, headers=headers) as found:
            assert found.status_code == 200
            async for line in found.aiter_lines():
                if line.startswith("data:") and (text := line.removeprefix("data:").strip()):
                    yield json.loads(text)


def test_a_client_that_reconnects_receives_what_it_missed(environ: Environ, tmp_path: Path) -> None:
    async def session() -> None:
        async with (
            over_http(environ, errors=tmp_path / "errors.txt") as server,
            httpx2.AsyncClient(timeout=60) as http,
        ):
            async with server.client() as ready:  # the database is open
                await data(ready, "recall", query="tea")
            one, other = Wire(server, http), Wire(server, http)
            await one.begin()
            await other.begin()
            # Clients choose the ids of requests: both choose the same.
            mine = await one.first_id(7, "Alice rows on Mondays.")
            await other.first_id(7, "Bob sails on Fridays.")
            await asyncio.sleep(1)
            received = list[Any]()

            async def receive() -> None:
                async for message in one.missed(mine):
                    assert message["id"] == 7
                    assert message["result"]["structuredContent"]["outcome"] == "INSERTED_NEW"
                    assert "Bob" not in json.dumps(message)
                    received.append(message)

            with suppress(TimeoutError):
                await asyncio.wait_for(receive(), 3)
            assert len(received) == 1  # not the other client's, whose request has the same id
            found = await asyncio.wait_for(anext(other.missed("999"), None), 10)
            assert found is None

    run(session())


def test_a_stream_ends_when_its_key_is_revoked(environ: Environ, tmp_path: Path) -> None:
    async def session() -> None:
        async with (
            over_http(environ, errors=tmp_path / "errors.txt") as server,
            httpx2.AsyncClient(timeout=60) as http,
        ):
            wire = Wire(server, http)
            await wire.begin()
            async with http.stream("GET", wire.url, headers=wire.headers) as events:
                assert events.status_code == 200
                reading = asyncio.ensure_future(_read(events))
                await asyncio.sleep(1.5)
                assert not reading.done()
                KeyFile(tmp_path / "keys.json").revoke(server.key.split("_")[1])
                await asyncio.wait_for(reading, 10)
            again = await http.post(wire.url, json=INITIALIZE, headers=wire.headers)
            assert again.status_code == 401
        log = (tmp_path / "errors.txt").read_text()
        assert "Traceback" not in log
        assert "without completing" not in log

    run(session())


async def _read(events: httpx2.Response) -> None:
    async for _ in events.aiter_raw():
        pass


def test_several_processes_have_no_sessions(environ: Environ, tmp_path: Path) -> None:
    async def session() -> None:
        errors = tmp_path / "errors.txt"
        async with over_http(environ, "--workers", "2", errors=errors) as server:
            async with server.client() as one:
                for n in range(4):
                    await data(one, "remember", content=f"Fact number {n} is about Atlas.")
            async with httpx2.AsyncClient(timeout=60) as http:
                headers = ACCEPT | {"Authorization": f"Bearer {server.key}"}
                found = await http.post(server.url, json=INITIALIZE, headers=headers)
                assert (found.status_code, "mcp-session-id" in found.headers) == (200, False)

    run(session())
