"""Limits over HTTP: silent and slow connections, sessions, repeated log lines, other origins."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.authentication import SimpleUser
from uvicorn.server import ServerState

from graphmem.serve.agent_sessions import SessionLimit
from graphmem.serve.connections import (
    MIN_CONNECTIONS,
    PAUSE_S,
    HttpLimits,
    RepeatFilter,
    configured,
)
from graphmem.settings import Settings
from tests.mcp.conftest import INITIALIZE, Environ, Served, key_of, over_http
from tests.plugins.loops import run_apart as run

HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}
HALF = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
LENGTH = b"Content-Length: 99"
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
FEW_FILES = ("sh", "-c", 'ulimit -n 256 && exec "$@"', "sh")


@asynccontextmanager
async def served(
    environ: Environ,
    tmp_path: Path,
    *arguments: str,
    before: tuple[str, ...] = (),
    more: Environ | None = None,
) -> AsyncIterator[Served]:
    errors = tmp_path / "errors.txt"
    known = environ | (more or {})
    async with over_http(known, *arguments, errors=errors, before=before) as found:
        yield found


class Connections:
    """Raw connections to a server."""

    def __init__(self, server: Served) -> None:
        self._address = "127.0.0.1", int(server.url.rpartition(":")[2].partition("/")[0])
        self._open: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(self, text: bytes, count: int = 1) -> None:
        """Open connections and send this text on each."""
        for _ in range(count):
            reader, writer = await asyncio.open_connection(*self._address)
            writer.write(text)
            self._open.append((reader, writer))

    async def drip(self, text: bytes) -> None:
        """Send a text on all connections, of which some may be closed."""
        for _, writer in self._open:
            writer.write(text)
        await asyncio.sleep(0)

    async def closed(self, seconds: float) -> int:
        """Return how many the server closes within a time."""
        ends = [asyncio.ensure_future(self._end(reader)) for reader, _ in self._open]
        done, waiting = await asyncio.wait(ends, timeout=seconds)
        for task in waiting:
            task.cancel()
        return len(done)

    async def _end(self, reader: asyncio.StreamReader) -> None:
        try:
            await reader.read()
        except ConnectionError:
            return

    def close(self) -> None:
        """Close all."""
        for _, writer in self._open:
            writer.close()


async def post(server: Served, body: Any = INITIALIZE, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=20) as http:
        return await http.post(server.url, json=body, headers=bearer(server) | headers)


def bearer(server: Served) -> dict[str, str]:
    return HEADERS | {"Authorization": f"Bearer {server.key}"}


@pytest.mark.skipif(os.name != "posix", reason="needs ulimit")
def test_silent_connections_neither_stay_nor_keep_a_client_out(
    environ: Environ, tmp_path: Path
) -> None:
    async def session() -> None:
        short = {"GRAPHMEM_SERVE_REQUEST_TIMEOUT_S": "4"}
        async with served(environ, tmp_path, before=FEW_FILES, more=short) as server:
            with closing(Connections(server)) as silent:
                await silent.send(HALF, count=400)
                began = time.monotonic()
                assert (await post(server)).status_code == 200
                assert time.monotonic() - began < 3, "it waited for the others' time-out"
                assert await silent.closed(30) == 400
                assert (await post(server)).status_code == 200
        assert (tmp_path / "errors.txt").stat().st_size < 4_000

    run(session())


def test_requests_and_sessions_have_a_time(environ: Environ, tmp_path: Path) -> None:
    async def session() -> None:
        short = {"GRAPHMEM_SERVE_REQUEST_TIMEOUT_S": "1", "GRAPHMEM_MCP_SESSION_IDLE_S": "2"}
        head = HALF + LENGTH + b"\r\nContent-Type: application/json\r\n"
        async with served(environ, tmp_path, more=short) as server:
            port = int(server.url.rpartition(":")[2].partition("/")[0])
            with_token = head.replace(b"Host: localhost", f"Host: localhost:{port}".encode())
            with_token += f"Authorization: Bearer {server.key}\r\n\r\n".encode()
            idle = (await post(server)).headers["mcp-session-id"]
            for text in (b"", HALF, with_token, with_token + b"{"):
                with closing(Connections(server)) as one:
                    await one.send(text)
                    assert await one.closed(0.5) == 0
                    assert await one.closed(10) == 1
            # Parts of a head do not prolong its time, nor does a body after the refusal.
            for text in (HALF, head + b"\r\n"):
                with closing(Connections(server)) as one:
                    await one.send(text)
                    ending = asyncio.ensure_future(one.closed(10))
                    for _ in range(40):
                        if ending.done():
                            break
                        await one.drip(b"x" if LENGTH in text else b"X: y\r\n")
                        await asyncio.sleep(0.1)
                    assert ending.done()
                    assert await ending == 1
            # Nor does an answered request.
            with closing(Connections(server)) as one:
                await one.send(with_token.replace(LENGTH, b"Content-Length: 2") + b"{}")
                await asyncio.sleep(0.5)
                await one.drip(HALF)
                assert await one.closed(10) == 1
            # A slow body is read while it arrives.
            body = json.dumps(INITIALIZE).encode()
            start = with_token.replace(LENGTH, b"Content-Length: %d" % len(body))
            start = start.replace(b"\r\n\r\n", f"\r\nAccept: {HEADERS['Accept']}\r\n\r\n".encode())
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            with closing(writer):
                writer.write(start)
                for at in range(0, len(body), len(body) // 10):
                    writer.write(body[at : at + len(body) // 10])
                    await asyncio.sleep(0.2)
                assert b" 200 " in await asyncio.wait_for(reader.readline(), 10)
            # All this took longer than a session may be idle.
            assert (await post(server, PING, **{"Mcp-Session-Id": idle})).status_code == 404

    run(session())


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time passes only when a test says so."""

    now = 0.0

    def time(self) -> float:
        return self.now

    async def pass_time(self, seconds: float) -> None:
        """Let a time pass, and run what is due."""
        self.now += seconds
        for _ in range(10):
            await asyncio.sleep(0)


class Wire(asyncio.Transport):
    """A transport that keeps what the server sends."""

    protocol: Any

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.aborted = False

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def abort(self) -> None:
        if not self.aborted:
            self.aborted = True
            self.protocol.connection_lost(OSError("aborted"))

    def is_closing(self) -> bool:
        return self.aborted

    def resume_reading(self) -> None:
        """Do nothing: a test does not wait until it may send."""


async def echo(_: Any, receive: Any, send: Any) -> None:
    """Answer with the body of a request, after a long time."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    await asyncio.sleep(5)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def opened(loop: VirtualLoop) -> tuple[Any, Wire]:
    """Return the server's end of a new connection, whose limit is a second."""
    limits = HttpLimits(connections=16, request_s=1, sessions=1, session_idle_s=1)
    config = configured(echo, limits, grace_s=1)
    protocol: Any = config.http
    made = protocol(config=config, server_state=ServerState(), app_state={}, _loop=loop)
    wire = Wire()
    wire.protocol = made
    made.connection_made(wire)
    return made, wire


def test_each_part_of_a_body_has_its_time_and_an_answer_takes_any() -> None:
    async def session(loop: VirtualLoop) -> None:
        made, wire = opened(loop)
        made.data_received(HALF + b"Content-Length: 9\r\n\r\n")
        for _ in range(9):
            await loop.pass_time(0.9)
            assert not wire.aborted
            made.data_received(b"x")
        for _ in range(5):
            await loop.pass_time(1.5)
        assert wire.sent.startswith(b"HTTP/1.1 200 ")
        assert b"x" * 9 in wire.sent
        await loop.pass_time(0.9)
        assert not wire.aborted
        await loop.pass_time(0.2)
        assert wire.aborted

    with closing(VirtualLoop()) as loop:
        loop.run_until_complete(session(loop))


def test_connections_with_a_token_stay_when_strangers_are_closed(
    environ: Environ, tmp_path: Path
) -> None:
    async def session() -> None:
        few = {"GRAPHMEM_SERVE_MAX_CONNECTIONS": str(MIN_CONNECTIONS)}
        async with served(environ, tmp_path, more=few) as server:
            began = await post(server)
            own = bearer(server) | {"Mcp-Session-Id": began.headers["mcp-session-id"]}
            async with (
                httpx2.AsyncClient(timeout=60) as http,
                http.stream("GET", server.url, headers=own) as events,
            ):
                assert events.status_code == 200
                reading = asyncio.ensure_future(anext(events.aiter_raw()))
                with closing(Connections(server)) as silent:
                    await silent.send(HALF, count=3 * MIN_CONNECTIONS)
                    assert await silent.closed(2) >= 2 * MIN_CONNECTIONS
                    found = await http.post(server.url, json=PING, headers=own)
                    assert found.status_code == 200
                    assert not reading.done()
                    reading.cancel()
        lines = (tmp_path / "errors.txt").read_text().splitlines()
        assert len([line for line in lines if "Too many connections" in line]) == 1

    run(session())


def test_sessions_have_a_limit_that_no_key_uses_up(environ: Environ, tmp_path: Path) -> None:
    other = key_of(tmp_path / "keys.json", "modest")
    modest = {"Authorization": f"Bearer {other}"}

    async def session() -> None:
        few = {"GRAPHMEM_MCP_MAX_SESSIONS": "3"}
        async with served(environ, tmp_path, more=few) as server:

            async def opened(**headers: str) -> dict[str, str]:
                found = await post(server, **headers)
                assert found.status_code == 200
                return headers | {"Mcp-Session-Id": found.headers["mcp-session-id"]}

            async def codes(*sessions: dict[str, str]) -> list[int]:
                return [(await post(server, PING, **one)).status_code for one in sessions]

            greedy = [await opened() for _ in range(3)]
            own = await opened(**modest)
            more = [await opened() for _ in range(2)]
            assert await codes(own, *greedy, *more) == [200, 404, 404, 404, 200, 200]

    run(session())


class Sessions:
    """Requests to an application that opens a session for each request without one."""

    def __init__(self, limit: int) -> None:
        self.open: set[str] = set()
        self.now = 0.0
        self.made = 0
        self.going: dict[str, asyncio.Event] = {}
        limits = HttpLimits(connections=16, request_s=1, sessions=limit, session_idle_s=100)
        self.app = SessionLimit(self.answer, limits, lambda: self.now)

    async def answer(self, scope: Any, _: Any, send: Any) -> None:
        """Open, use or close a session, as the SDK does."""
        given = dict(scope["headers"]).get(b"mcp-session-id", b"").decode()
        headers = []
        if not given and scope["path"] == "/mcp":
            self.made += 1
            given = f"{scope['user'].display_name}{self.made}"
            self.open.add(given)
            headers = [(b"mcp-session-id", given.encode())]
        known = scope["path"] == "/mcp" and given in self.open
        owned = known and given.startswith(scope["user"].display_name)
        if owned and scope["method"] == "DELETE":
            self.open.discard(given)
        status = 200 if owned else 404
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if scope["method"] == "GET":
            await self.going.setdefault(given, asyncio.Event()).wait()

    async def ask(
        self, user: str, given: str = "", method: str = "POST", path: str = "/mcp"
    ) -> str:
        """Send a request, and return the id of the session that it opens."""
        self.now += 1
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"host", b"localhost")]
        headers += [(b"mcp-session-id", given.encode())] if given else []
        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        await self.app({**scope, "user": SimpleUser(user)}, None, send)  # type: ignore[arg-type]
        return str(dict(sent[0]["headers"]).get(b"mcp-session-id", b"").decode())


def test_the_least_recently_used_session_of_the_greediest_is_closed() -> None:
    async def session() -> None:
        at = Sessions(limit=4)
        own = await at.ask("bob")
        first, second, third = [await at.ask("al") for _ in range(3)]
        await at.ask("al", first)
        fourth = await at.ask("al")  # The second is now the least recently used.
        assert at.open == {own, first, third, fourth}
        reading = asyncio.ensure_future(at.ask("al", third, "GET"))
        await asyncio.sleep(0)
        await at.ask("al", first)
        await at.ask("al", fourth)
        more = await at.ask("bob")  # The third has an open stream.
        assert at.open == {own, more, third, fourth}
        at.going[third].set()
        await reading
        for _ in range(20):
            await at.ask("al")
            assert {own, more} < at.open
            assert len(at.open) == 4
        assert second not in at.open

    run(session())


def test_nothing_but_its_end_takes_a_session_out_of_the_count() -> None:
    async def session() -> None:
        at = Sessions(limit=2)
        first = await at.ask("al")
        await at.ask("al", first, path="/other")
        await at.ask("al", first, "DELETE", "/other")
        await at.ask("bob", first, "DELETE")
        second, third = await at.ask("al"), await at.ask("al")
        assert at.open == {second, third}
        await at.ask("al", second, "DELETE")
        fourth = await at.ask("bob")
        assert at.open == {third, fourth}

    run(session())


def test_a_session_that_the_sdk_closed_as_idle_costs_no_other_one() -> None:
    async def session() -> None:
        at = Sessions(limit=3)
        idle, first, second = await at.ask("bob"), await at.ask("al"), await at.ask("al")
        at.now += 200
        for one in (first, second):
            await at.ask("al", one)
        at.open.discard(idle)
        third = await at.ask("carol")
        assert at.open == {first, second, third}

    run(session())


def test_pages_of_allowed_origins_only_may_read_answers(environ: Environ, tmp_path: Path) -> None:
    async def session() -> None:
        ask = {"Access-Control-Request-Method": "POST"}
        ask["Access-Control-Request-Headers"] = "authorization,content-type,mcp-protocol-version"
        async with httpx2.AsyncClient(timeout=60) as http:
            async with served(environ, tmp_path, "--allow-origin", "https://app.example") as server:
                for origin, code, allowed in (
                    ("https://app.example", 200, "https://app.example"),
                    ("https://evil.example", 400, None),
                ):
                    found = await http.options(server.url, headers=ask | {"Origin": origin})
                    assert found.status_code == code
                    assert found.headers.get("access-control-allow-origin") == allowed
                found = await post(server, Origin="https://app.example")
                assert "Mcp-Session-Id" in found.headers["access-control-expose-headers"]
                assert (await post(server, Origin="https://evil.example")).status_code == 403
            async with served(environ, tmp_path) as server:
                found = await http.options(
                    server.url, headers=ask | {"Origin": "https://a.example"}
                )
                assert found.status_code == 403
                assert "access-control-allow-origin" not in found.headers

    run(session())


@pytest.mark.parametrize(
    ("files", "connections"), [(1_024, 256), (400, 100), (10, MIN_CONNECTIONS), (None, 2_000)]
)
def test_fewer_connections_than_files(
    monkeypatch: pytest.MonkeyPatch, files: int | None, connections: int
) -> None:
    resource = pytest.importorskip("resource")
    found = (resource.RLIM_INFINITY if files is None else files), resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda _: found)
    assert HttpLimits.of(Settings()).connections == connections


def test_a_repeated_line_is_logged_once_a_minute_with_a_count() -> None:
    now = [0.0]
    found = RepeatFilter(lambda: now[0])

    def logged(name: str, line: int = 1, level: int = logging.WARNING) -> str | None:
        record = logging.LogRecord(name, level, "file.py", line, "at %s", (now[0],), None)
        return record.getMessage() if found.filter(record) else None

    assert logged("asyncio") == "at 0.0"
    now[0] = 1.0
    assert [logged("asyncio"), logged("asyncio"), logged("asyncio", 2)] == [None, None, "at 1.0"]
    # A probe of readiness may cause one each second.
    assert [logged("graphmem.mcp"), logged("graphmem.mcp")] == ["at 1.0", None]
    assert [logged("graphmem.serve", 1, logging.INFO) for _ in range(2)] == ["at 1.0"] * 2
    now[0] = PAUSE_S
    assert logged("asyncio") == f"at {PAUSE_S} (2 more lines like this were left out)"
    now[0] = 3 * PAUSE_S
    assert logged("asyncio") == f"at {3 * PAUSE_S}"
