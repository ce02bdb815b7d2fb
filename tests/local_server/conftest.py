"""Homes of their own for servers, and a Maven repository on loopback that misbehaves to order."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from graphmem.adapters import local_server
from graphmem.adapters.local_server.jars import Jar, JarLock
from graphmem.settings import Settings


@pytest.fixture
def own_server(server_settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a server in a folder whose name has a space and no ASCII; stopped afterwards."""
    settings = server_settings.model_copy(
        update={"home": tmp_path / "une mémoire", "heap": "256m", "page_cache": "16m"}
    )
    yield settings
    local_server.stop(settings)


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


@pytest.fixture
def tiny(repository: Repository) -> JarLock:
    """A lock of twelve small jars that the repository has."""
    jars = [
        repository.add(f"org.example.part:thing-{n}:1.{n}", bytes([n]) * (1_000 + n))
        for n in range(11)
    ]
    jars.append(repository.add("org.example:native:2.0:linux-x86_64", b"native" * 500))
    compiler = repository.add("org.example:compiler:3.0", b"compiler" * 99)
    return JarLock("2026.08.1", "5.24.0", tuple(jars), compiler)


@pytest.fixture
def fetching(repository: Repository, tmp_path: Path) -> Settings:
    """Settings that fetch from the repository into an empty cache."""
    return Settings(cache=tmp_path / "cache", maven_mirror=repository.url + "/")


@pytest.fixture
def eventually() -> object:
    """Return a function that waits until a condition holds, and fails when it never does."""

    def wait(condition: object, timeout_s: float = 30.0) -> None:
        assert callable(condition)
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, "never came true"
            time.sleep(0.01)

    return wait
