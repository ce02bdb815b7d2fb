"""A loopback embedding service with faults on demand, and embedders that talk to it."""

from __future__ import annotations

import asyncio
import inspect
import json
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from graphmem.adapters.embedding import open_embedder
from graphmem.adapters.embedding.gateway import Gateway
from graphmem.adapters.embedding.service import ServiceEngine
from graphmem.ports import Embedder, Role, run_now
from graphmem.settings import Settings

if TYPE_CHECKING:
    from graphmem.ports import Matrix

T = TypeVar("T")
KEY = "sk-opensesame-0123456789"


def vector_of(text: str) -> list[float]:
    """What the service answers for a text: three numbers, not of length 1."""
    return [float(len(text)), 1.0, float(sum(map(ord, text)) % 97)]


def items(texts: list[str]) -> list[dict[str, Any]]:
    return [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]


Reply = Callable[[BaseHTTPRequestHandler], None]


def send(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str]
) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@dataclass
class Service:
    """An OpenAI-compatible server on loopback that plays a script, then behaves."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    script: list[Reply] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    """Set at the end of a test: requests that hang go home."""

    def play(self, *replies: Reply) -> None:
        self.script.extend(replies)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.bodies.append(body)
        self.keys.append(handler.headers["Authorization"])
        texts = body.get("input") or body.get("texts") or [""] * len(body.get("requests", []))
        reply = self.script.pop(0) if self.script else self.data(items(texts))
        reply(handler)

    @property
    def sent(self) -> list[list[str]]:
        """The texts of each request."""
        return [body["input"] for body in self.bodies]

    @staticmethod
    def data(data: object) -> Reply:
        """Answer 200 with these vectors, whatever was asked."""
        body = {"object": "list", "model": "m", "data": data, "usage": {"total_tokens": 1}}
        return lambda handler: send(handler, 200, json.dumps(body).encode(), {})

    @staticmethod
    def status(status: int, message: str = "no", **headers: str) -> Reply:
        body = json.dumps({"error": {"message": message, "type": "t", "code": None}}).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return lambda handler: send(handler, status, body, named)

    @staticmethod
    def text(body: bytes) -> Reply:
        return lambda handler: send(handler, 200, body, {})

    @staticmethod
    def cut_off(handler: BaseHTTPRequestHandler) -> None:
        """Promise more bytes than are sent."""
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"data": [{"emb')
        handler.close_connection = True

    @staticmethod
    def reset(handler: BaseHTTPRequestHandler) -> None:
        """Break the connection with a TCP reset."""
        at_once = struct.pack("ii", 1, 0)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        handler.connection.close()
        handler.close_connection = True

    def hang(self, handler: BaseHTTPRequestHandler) -> None:
        self.released.wait(30)
        handler.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that gives up is what some tests are about."""


@pytest.fixture
def service() -> Iterator[Service]:
    played = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            played.answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with _Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        played.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield played
        finally:
            played.released.set()
            server.shutdown()
            _hang_up()


def _hang_up() -> None:
    """Close the connections that litellm keeps for later calls: each test has its own service."""
    if litellm := sys.modules.get("litellm"):
        clients = litellm.in_memory_llm_clients_cache.cache_dict
        blocking = [k for k, c in clients.items() if not inspect.iscoroutinefunction(c.close)]
        for key in blocking:
            clients.pop(key).close()


@dataclass
class Waits:
    """Works like one of the faces; pauses are noted, not slept."""

    awaited: bool
    pauses: list[float] = field(default_factory=list)

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work) if self.awaited else work()

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if self.awaited:
            await asyncio.sleep(0)


@dataclass
class Talk:
    """An embedder over the loopback service, with both faces called the same way."""

    embedder: Embedder
    waits: Waits

    def embed(self, *texts: str, role: Role = Role.DOCUMENT) -> Matrix:
        rows: Matrix = self.finish(self.embedder.embed(list(texts), role))
        return rows

    def dimension(self) -> int:
        return int(self.finish(self.embedder.dimension()))

    def finish(self, work: Any) -> Any:
        return asyncio.run(work) if self.waits.awaited else run_now(work)


Connect = Callable[..., Talk]


@pytest.fixture(params=["blocking", "awaited"])
def connect(
    request: pytest.FixtureRequest, service: Service, monkeypatch: pytest.MonkeyPatch
) -> Connect:
    """Open an embedder over the loopback service; keywords are settings."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)

    def opened(**fields: Any) -> Talk:
        waits = Waits(awaited=request.param == "awaited")
        fields = {
            "embedder": "openai/some-model",
            "embedder_url": service.url,
            "embedder_key": KEY,
            **fields,
        }
        settings = Settings(**fields)
        engine = ServiceEngine(settings, waits)
        return Talk(Gateway(engine, waits, batch=settings.embedder_batch, cache=None), waits)

    return opened


@pytest.fixture
def reopened(service: Service, tmp_path: Path) -> Callable[..., Embedder]:
    """Open the blocking embedder as a program would, cache included."""

    def opened(**fields: Any) -> Embedder:
        fields = {
            "embedder": "openai/some-model",
            "embedder_url": service.url,
            "embedder_key": KEY,
            "cache": tmp_path / "cache",
            **fields,
        }
        return open_embedder(Settings(**fields), awaited=False)

    return opened


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool
