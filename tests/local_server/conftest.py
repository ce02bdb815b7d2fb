"""Homes of their own for servers, and locks of small jars in a Maven repository on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import local_server
from graphmem.local_server.jars import JarLock
from graphmem.settings import Settings
from tests.plugins.repositories import Repository


@pytest.fixture
def own_server(server_settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a server in a folder whose name has a space and no ASCII; stopped afterwards."""
    settings = server_settings.model_copy(
        update={"home": tmp_path / "une mémoire", "heap": "256m", "page_cache": "16m"}
    )
    yield settings
    local_server.stop(settings)


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

    def wait(condition: object, timeout_s: float = 300.0) -> None:
        assert callable(condition)
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, "never came true"
            time.sleep(0.01)

    return wait
