"""Clients of the MCP SDK: in this process, over stdin and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.extension import advertise
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from graphmem.mcp import server
from graphmem.mcp.connection import Caller, MemoryConnection
from graphmem.mcp.panels import EXTENSION, MIME_TYPE
from graphmem.mcp.server import RequestHandler
from graphmem.mcp.tool import Profile
from graphmem.serve.keys import Grant, KeyFile, Right
from graphmem.settings import Settings
from tests.cli.conftest import Ran, Run
from tests.plugins.children import environ_of

T = TypeVar("T")
Environ = dict[str, str]
Opened = Callable[..., AbstractAsyncContextManager[Client]]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
"""The first message of a client."""
ROOT = Path(__file__).parents[2]
AGENT: tuple[Right, ...] = ("read", "write", "erase")
"""Rights with which all tools are offered."""


def served_from(settings: Settings, tenant: str) -> Environ:
    """Return the environment of an MCP server that runs from this checkout."""
    return environ_of(settings, tenant) | {"GRAPHMEM_EMBEDDER": "hash", "PYTHONPATH": str(ROOT)}


@pytest.fixture
def environ(migrated: Settings, tenant: str) -> Environ:
    """The environment in which a client starts the server, on an unused tenant."""
    return served_from(migrated, tenant)


@pytest.fixture
def settings(environ: Environ) -> Settings:
    """The same environment as settings."""
    return Settings.load(environ)


@pytest.fixture
def opened(settings: Settings) -> Opened:
    """Return a function that opens a client of a server in this process."""

    @asynccontextmanager
    async def client(
        *,
        mode: str = "legacy",
        read_only: bool = False,
        known: Settings | None = None,
        profile: Profile = "full",
        person: ElicitationFnT | None = None,
        panels: bool = False,
        **who: str,
    ) -> AsyncIterator[Client]:
        used = known or settings
        caller = Caller(who.get("tenant", used.tenant), who.get("scope", used.scope), read_only)
        handler = RequestHandler(MemoryConnection(used, wait_s=300), lambda _: caller, profile)
        made = server.create_server(handler)
        shows = [advertise(EXTENSION, {"mimeTypes": [MIME_TYPE]})] if panels else None
        async with Client(made, mode=mode, elicitation_callback=person, extensions=shows) as found:
            yield found

    return client


@asynccontextmanager
async def over_stdio(
    environ: Environ,
    *arguments: str,
    mode: str = "legacy",
    errors: Path | None = None,
    profile: Profile = "full",
) -> AsyncIterator[Client]:
    """Start `graphmem mcp` as a client does, and open a session."""
    command = ["-m", "graphmem", "mcp", "--tools", profile, *arguments]
    started = StdioServerParameters(command=sys.executable, args=command, env=environ, cwd=ROOT)
    with (errors or Path(os.devnull)).open("w") as log:
        async with Client(stdio_client(started, errlog=log), mode=mode) as client:
            yield client


async def answer(client: Client, name: str, arguments: dict[str, Any]) -> CallToolResult:
    """Call a tool; repeat the call while the database starts."""

    async def call() -> CallToolResult | None:
        result = await client.call_tool(name, arguments)
        return None if result.is_error and '"still_starting"' in text_of(result) else result

    return await until(call)


async def data(client: Client, name: str, /, **arguments: Any) -> Any:
    """Return the structured result of a call that must succeed."""
    result = await answer(client, name, arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


async def refused(client: Client, name: str, /, **arguments: Any) -> dict[str, str]:
    """Return the error of a call that must fail."""
    result = await answer(client, name, arguments)
    assert result.is_error, text_of(result)
    error: dict[str, str] = json.loads(text_of(result))
    assert error.keys() == {"code", "message", "hint"}
    return error


def text_of(result: CallToolResult) -> str:
    """Return the text of a result, which a model reads."""
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def until(found: Callable[[], Awaitable[T | None]], *, seconds: float = 300) -> T:
    """Call until the result is not None, and return it."""
    async with asyncio.timeout(seconds):
        while (result := await found()) is None:
            await asyncio.sleep(0.1)
    return result


def key_of(
    file: Path, tenant: str, *scopes: str, rights: tuple[Right, ...] = AGENT, **more: Any
) -> str:
    """Create a key in a file of keys and return its text."""
    grant = Grant(tenant=tenant, scopes=scopes or ("global",), rights=rights, **more)
    return KeyFile(file).create("test", grant, days=None)[1]


@dataclass(frozen=True)
class Served:
    """An HTTP server in a separate process."""

    url: str
    process: asyncio.subprocess.Process
    errors: Path
    key: str
    """Key of the tenant of its environment, with all rights of an agent."""

    @asynccontextmanager
    async def client(
        self, key: str | None = None, *, mode: str = "legacy", **headers: str
    ) -> AsyncIterator[Client]:
        """Open a client that sends this key, by default that of the server."""
        bearer = {"Authorization": f"Bearer {key or self.key}", **headers}
        async with httpx2.AsyncClient(headers=bearer, timeout=300) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client


@asynccontextmanager
async def over_http(
    environ: Environ,
    *arguments: str,
    errors: Path,
    profile: Profile = "full",
    before: tuple[str, ...] = (),
) -> AsyncIterator[Served]:
    """Start `graphmem serve` on a free port and end it by a signal.

    Args:
        environ: its environment.
        arguments: more options.
        errors: file for its standard error.
        profile: tools to offer.
        before: command that executes the server's command, its last arguments.
    """
    command = ("-m", "graphmem", "serve", "--port", "0", "--tools", profile, *arguments)
    file = errors.with_name("keys.json")
    key = key_of(file, environ["GRAPHMEM_TENANT"])
    limits = {"GRAPHMEM_SERVE_KEYS": str(file), "GRAPHMEM_SERVE_REQUESTS_PER_S": "10000"}
    environ = limits | environ
    with errors.open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *before,
            sys.executable,
            *command,
            env=environ,
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )

    async def address() -> str | None:
        assert process.returncode is None, errors.read_text()
        found = re.search(r"Serving (\S+?)\. Press", errors.read_text())
        return f"{found[1]}/mcp" if found else None

    try:
        yield Served(await until(address), process, errors, key)
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), 300)
    assert process.stdout is not None
    assert await process.stdout.read() == b""


@pytest.fixture
def graphmem(environ: Environ) -> Run:
    """Return a function that runs `graphmem …` in a separate process."""

    def ran(*arguments: str, **more: str) -> Ran:
        command = [sys.executable, "-m", "graphmem", *arguments]
        done = subprocess.run(
            command, env=environ | more, cwd=ROOT, capture_output=True, text=True, timeout=300
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return ran
