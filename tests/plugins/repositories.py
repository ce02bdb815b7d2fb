"""A Maven repository on loopback that misbehaves to order."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from graphmem.maven import Jar


@dataclass
class Repository:
    """A tiny Maven repository: what each path answers, and which paths were asked for."""

    url: str = ""
    bodies: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)
    """Per path, what goes wrong with the next requests: missing, truncated, damaged, silent,
    endless, compressed."""
    sent: dict[str, int] = field(default_factory=dict)
    """Per path, bytes of its last endless or compressed reply that the client took."""
    CHUNK: ClassVar[int] = 1 << 20
    asked: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def flood(self, handler: BaseHTTPRequestHandler, path: str, fault: str) -> None:
        """Answer with far more bytes than any jar has, or with few that unpack to as many."""
        chunk = bytes(self.CHUNK)
        if fault == "compressed":
            chunk = gzip.compress(chunk * 8)
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(chunk) * 64))
        if fault == "compressed":
            handler.send_header("Content-Encoding", "gzip")
        handler.end_headers()
        self.sent[path] = 0
        handler.close_connection = True
        with suppress(OSError):
            for _ in range(64):
                handler.wfile.write(chunk)
                self.sent[path] += len(chunk)

    def add(self, coordinates: str, body: bytes) -> Jar:
        jar = Jar(coordinates, sha256(body).hexdigest(), len(body))
        self.bodies[jar.path] = body
        return jar


@pytest.fixture
def repository() -> Iterator[Repository]:
    made = Repository()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.lstrip("/")
            made.asked.append(path)
            body = made.bodies.get(path)
            waiting = made.faults.get(path)
            fault = waiting.pop(0) if waiting else ""
            if body is None or fault == "missing":
                self.send_error(404)
                return
            if fault in ("endless", "compressed"):
                made.flood(self, path, fault)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if fault == "silent":
                made.released.wait(10)
            elif fault == "truncated":
                self.wfile.write(body[: len(body) // 2])
                self.close_connection = True
            else:
                self.wfile.write(b"x" * len(body) if fault == "damaged" else body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    made.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.released.set()
    http.shutdown()
    thread.join()
    http.server_close()
