"""Clients that read their answers slowly or never, over real connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress

import pytest
import uvicorn
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from graphmem.serve import answers
from graphmem.serve.connections import HttpLimits, configured
from graphmem.serve.guard import Guard
from graphmem.serve.listening import ListenAddress
from tests.plugins.loops import run_apart as run
from tests.serve.test_admission import guarded, sent

LARGE = b'"' + b"x" * 8_000_000 + b'"'
SIZE = len(LARGE)
REQUEST_S = 1.0


async def endless() -> AsyncIterator[bytes]:
    while True:
        yield b"data: " + b"x" * 50_000 + b"\n\n"
        await asyncio.sleep(0)


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a large body, or with events without an end."""
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
    elif scope["path"] == "/events":
        await StreamingResponse(endless(), media_type="text/event-stream")(scope, receive, send)
    else:
        await Response(LARGE)(scope, receive, send)


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[Guard, Callable[[str], Awaitable[socket.socket]]]]:
    """Serve; yield the guard, and a function that sends a request and reads nothing."""
    at = ListenAddress().opened()
    app = guarded(answer)
    limits = HttpLimits(connections=16, request_s=REQUEST_S, sessions=1, session_idle_s=1)
    server = uvicorn.Server(configured(app, limits, grace_s=1))
    serving = asyncio.ensure_future(server.serve(sockets=[at]))

    async def ask(path: str) -> socket.socket:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, at.getsockname())
        request = f"GET {path} HTTP/1.1\r\nHost: localhost:1\r\n\r\n"
        await loop.sock_sendall(client, request.encode())
        return client

    try:
        yield app, ask
    finally:
        server.should_exit = True
        await serving


async def read(client: socket.socket, pause_s: float) -> int:
    """Return the number of bytes that a client receives until its connection is closed."""
    loop, size = asyncio.get_running_loop(), 0
    with suppress(ConnectionError):
        while part := await loop.sock_recv(client, 1024 * 1024):
            size += len(part)
            await asyncio.sleep(pause_s)
    return size


@pytest.mark.parametrize("path", ["/body", "/events"])
@pytest.mark.parametrize("more", [b"", b"G"])
def test_a_client_that_never_reads_is_disconnected(path: str, more: bytes) -> None:
    async def session() -> None:
        async with listening() as (app, ask):
            with closing(await ask(path)) as client:
                for n in range(40):
                    await asyncio.sleep(0.1)
                    assert n > 5 or app._sent.size in (0, SIZE)
                    if n == 5:
                        assert len(asyncio.all_tasks()) > 3
                        assert app._sent.size == (SIZE if path == "/body" else 0)
                    # Bytes of a next request do not extend the time.
                    with suppress(ConnectionError):
                        client.send(more)
                assert app._sent.size == 0
                assert await asyncio.wait_for(read(client, 0), 10) < SIZE
            assert (await sent(app, "/nothing"))[0] == 200

    run(session())


def test_a_client_that_reads_slowly_receives_everything() -> None:
    async def session() -> None:
        async with listening() as (app, ask):
            with closing(await ask("/body")) as client:
                reading = asyncio.ensure_future(read(client, 0.15))
                await asyncio.sleep(2.5 * REQUEST_S)
                assert not reading.done()
                assert await reading > SIZE
            assert app._sent.size == 0

    run(session())


def test_all_answers_together_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_ANSWERS", 150_000)
    monkeypatch.setattr(answers, "PART", 1_000)

    async def session() -> None:
        going = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await Response(b'"' + b"x" * 99_998 + b'"')(scope, receive, send)

        whole = guarded(app)
        sizes = list[int]()

        async def slow(message: Message) -> None:
            sizes.append(len(message.get("body", b"")))
            await going.wait()

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/",
            "headers": [(b"host", b"localhost:1")],
        }

        async def body() -> Message:
            return {"type": "http.request"}

        first = asyncio.ensure_future(whole(scope, body, slow))
        await asyncio.sleep(0.01)
        status, problem = await sent(whole, "/")
        assert (status, problem["code"]) == (503, "busy")
        # A client that has its answer to read needs no place.
        assert whole._places._taken == 0
        going.set()
        await first
        assert max(sizes) == 1_000
        assert sum(sizes) == 100_000
        assert await sent(whole, "/") == (200, "x" * 99_998)

    run(session())
