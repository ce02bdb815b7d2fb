"""Model services on loopback that play a script and fail in every known way."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import struct
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeVar

from graphmem.io_modes import AWAITED, BLOCKING, IOMode
from graphmem.ports import run_now

T = TypeVar("T")
KEY = "sk-opensesame-0123456789"

Reply = Callable[[BaseHTTPRequestHandler], None]


def send(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: Mapping[str, str]
) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def _collect() -> None:
    """Collect the remains of a request that timed out, before they affect the next test.

    litellm abandons unfinished coroutines and sockets, and Python warns of each.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@dataclass
class LoopbackService(ABC):
    """A server on loopback that plays a script and then calls `behave`; `opened` runs it."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the requests, in order."""
    keys: list[str | None] = field(default_factory=list)
    """The Authorization header of each request."""
    replies: list[Reply] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    """Set at the end, so that hanging requests return."""
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set when a client closes its connection before the end of a reply."""
    has_hung: bool = False
    """Whether a request waited for an answer until its client timed out."""
    sent_bytes: int = 0
    """Number of bytes sent in endless replies."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @abstractmethod
    def behave(self, body: dict[str, Any]) -> Reply:
        """Return the reply to a request after the end of the script."""

    def play(self, *replies: Reply) -> None:
        """Answer the next requests with these replies."""
        self.replies.extend(replies)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self._lock:
            self.bodies.append(body)
            self.keys.append(handler.headers["Authorization"])
            reply = self.chosen(body)
        reply(handler)

    def chosen(self, body: dict[str, Any]) -> Reply:
        return self.replies.pop(0) if self.replies else self.behave(body)

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Self]:
        """Serve until the end of the block."""
        played = cls()

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
                if played.has_hung:
                    _collect()

    @staticmethod
    def status(status: int, message: str = "no", **headers: str) -> Reply:
        """Answer with an error; `Retry_After="7"` sets a header."""
        body = json.dumps({"error": {"message": message, "type": "t", "code": None}}).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return lambda handler: send(handler, status, body, named)

    @staticmethod
    def text(body: bytes) -> Reply:
        """Answer 200 with this body."""
        return lambda handler: send(handler, 200, body, {})

    @staticmethod
    def cut_off(handler: BaseHTTPRequestHandler) -> None:
        """Announce more bytes than are sent."""
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

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer with one byte at a time, slowly."""
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        self._send_on(handler, b" ", pause_s=0.02)

    def drip_headers(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer with an endless header."""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        self._send_on(handler, b"x", pause_s=0.02)

    def endless(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer with an endless body."""
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        self._send_on(handler, b" " * 65_536)

    def _send_on(
        self, handler: BaseHTTPRequestHandler, part: bytes, *, pause_s: float = 0.0
    ) -> None:
        handler.close_connection = True
        try:
            while not self.released.wait(pause_s):
                handler.wfile.write(part)
                self.sent_bytes += len(part)
        except OSError:
            self.hung_up.set()

    def hang(self, handler: BaseHTTPRequestHandler) -> None:
        """Do not answer until the service is closed."""
        self.has_hung = True
        self.released.wait(30)
        handler.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error: some tests are about clients that disconnect."""


@dataclass
class Waits(IOMode):
    """Replaces the blocking or async waiting functions; records pauses without sleeping."""

    awaited: bool
    pauses: list[float] = field(default_factory=list)

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work) if self.awaited else work()

    async def result(self, future: Future[T]) -> T:
        return await (AWAITED if self.awaited else BLOCKING).result(future)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if self.awaited:
            await asyncio.sleep(0)

    def finish(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end."""
        return asyncio.run(work) if self.awaited else run_now(work)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, all of which a log may contain."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
