"""What callers of the managed server get: endpoint, progress, status, findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import SecretStr

USER = "neo4j"
"""The only user of a fresh Neo4j."""


@dataclass(frozen=True)
class Endpoint:
    """Where the server answers, and how to log in; the password is hidden in its repr."""

    uri: str
    user: str
    password: SecretStr
    http_url: str
    version: str


@dataclass(frozen=True)
class Progress:
    """One step of fetching or starting; `str()` gives a line for people.

    Attributes:
        stage: what is going on.
        text: the same in words.
        files_done, files_total: counts, 0 outside `fetch`.
        bytes_done, bytes_total: octets, 0 outside `fetch`.
    """

    stage: Literal["licence", "fetch", "prepare", "start", "ready"]
    text: str
    files_done: int = 0
    files_total: int = 0
    bytes_done: int = 0
    bytes_total: int = 0

    def __str__(self) -> str:
        return self.text


Report: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True)
class ServerStatus:
    """What is known about the managed server without starting it.

    Attributes:
        uptime_s: seconds since it was started; None when it is not running.
        heap: largest heap of the running Java machine, such as `1g`; None when it does not run,
            or was started without a limit.
        page_cache: largest page cache of the running server, such as `512m`.
        data_bytes, cache_bytes: octets on disk of its data and of what was fetched.
    """

    running: bool
    uri: str | None
    browser_url: str | None
    pid: int | None
    version: str | None
    uptime_s: float | None
    heap: str | None
    page_cache: str | None
    home: Path
    cache: Path
    password_file: Path
    data_bytes: int
    cache_bytes: int


@dataclass(frozen=True)
class DoctorFinding:
    """One thing `doctor` looked at, and what to do about it when it is not well."""

    name: str
    level: Literal["ok", "warn", "bad"]
    message: str
    advice: str = ""
