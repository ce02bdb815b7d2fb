"""Records of the managed server: endpoint, progress, status and findings of the doctor."""

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
    """Address and credentials of the server; its repr hides the password."""

    uri: str
    user: str
    password: SecretStr
    version: str


@dataclass(frozen=True)
class Progress:
    """One step of fetching or starting; `str()` returns its text.

    Attributes:
        stage: current stage.
        text: description of the step, one line.
        files_done, files_total: numbers of files; 0 outside `fetch`.
        bytes_done, bytes_total: numbers of bytes; 0 outside `fetch`.
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
    """Status of the managed server, determined without starting it.

    Attributes:
        uptime_s: seconds since it was started; None if it is not running.
        heap: maximum heap of the running JVM, such as `1g`; None if it is not running or has no
            limit.
        page_cache: maximum page cache of the running server, such as `512m`; None if unknown.
        data_bytes, cache_bytes: size of its data and of the cache folder, bytes.
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
    """Result of one check of `doctor`, with advice if there is a problem."""

    name: str
    level: Literal["ok", "warn", "bad"]
    message: str
    advice: str = ""
