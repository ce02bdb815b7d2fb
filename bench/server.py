"""Temporary managed servers for benchmarks."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.bare import Bare
from graphmem import GraphMem, local_server
from graphmem.client import connect
from graphmem.local_server import process
from graphmem.local_server.files import DataFolder
from graphmem.settings import Settings

if TYPE_CHECKING:
    from graphmem.ports import Embedder

KEPT = ("GRAPHMEM_CACHE", "GRAPHMEM_JAVA", "GRAPHMEM_MAVEN_MIRROR")
"""Environment variables that a benchmark uses: download locations only."""
PATIENCE_S = 3_600.0


def settings_in(home: Path) -> Settings:
    """Return default settings with a separate data folder and any free ports."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return Settings.load(kept, home=home, bolt_port=0, http_port=0)


@contextmanager
def fresh_server(report: Callable[[str], None]) -> Iterator[Settings]:
    """Yield the settings of an empty server; it is stopped and its data deleted afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder,
        running(settings_in(Path(folder)), report) as settings,
    ):
        yield settings


@contextmanager
def running(settings: Settings, report: Callable[[str], None]) -> Iterator[Settings]:
    """Start the server of these settings and stop it afterwards; its data stays."""
    report("starting a server")
    local_server.ensure(settings)
    try:
        yield settings
    finally:
        local_server.stop(settings)


def wind_down(settings: Settings) -> None:
    """Stop the server, however long merging its indexes and writing everything takes."""
    folder = DataFolder.of(settings)
    running_process = process.find(folder, folder.read_state())
    if running_process is not None:
        process.end(running_process, PATIENCE_S)


@contextmanager
def connected(
    settings: Settings, embedder: Embedder | None, report: Callable[[str], None]
) -> Iterator[tuple[GraphMem, Bare]]:
    """Yield graphmem and a bare driver on the same migrated server."""
    with (
        GraphMem.open(settings=settings, on_progress=report, embedder=embedder) as memory,
        Bare(connect.address(settings, report)) as bare,
    ):
        yield memory, bare
