"""Start times: of a stopped server, of its first reads, and of the package import."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench import first_reads
from bench.figures import Cell, Report, Table, spread
from bench.server import settings_in
from graphmem import local_server
from graphmem.local_server import lifecycle

if TYPE_CHECKING:
    from bench.progress import Steps

RUNS = 9
SERVER_RUNS = 5
BASELINE = "python -c pass"
PROCESSES: Mapping[str, Sequence[str]] = {
    BASELINE: ("-c", "pass"),
    "import graphmem": ("-c", "import graphmem"),
    "graphmem --help": ("-m", "graphmem", "--help"),
}
WARM = "server, warm start to Bolt"
WANTED_S = {"import graphmem": 0.2, "graphmem --help": 0.3, WARM: 3.0}
READ_WANTED_S = 1.5


def measure(steps: Steps) -> Report:
    """Return the times of whole processes, in turn, and of starts of the managed server."""
    took: dict[str, list[float]] = {name: [] for name in PROCESSES}
    for run in steps.over(range(-1, RUNS), "processes"):
        for name, arguments in PROCESSES.items():
            seconds = _timed(partial(_process, arguments))
            if run >= 0:  # the first compiles and fills the disk cache
                took[name].append(seconds)
    first, warm, version = _server(steps)
    reads = _first_reads(steps)
    base = statistics.median(took[BASELINE])
    return Report(
        name="start",
        tables=[
            Table("processes", [_row(name, took[name], base) for name in took]),
            Table(
                "managed server",
                [_row("server, first start on an empty folder", [first]), _row(WARM, warm)],
            ),
            Table("first reads", reads),
        ],
        notes=[
            "Processes: complete runs, from start to end, in turn. Server: from the call "
            "to a login over Bolt, with its files downloaded and its AOT cache present.",
            f"First reads: in sequence, the first {first_reads.PAUSE_S:g} s after the end "
            "of the start; compared with a server that plans nothing ahead, in turn.",
        ],
        setting={"neo4j": version},
    )


def _row(name: str, times: Sequence[float], base: float | None = None) -> dict[str, Cell]:
    median = statistics.median(times)
    return {
        "what": name,
        **spread("seconds", times),
        "runs": len(times),
        "over baseline": None if base is None else median - base,
        "wanted": f"<= {WANTED_S[name]:g}" if name in WANTED_S else None,
        "met": median <= WANTED_S[name] if name in WANTED_S else None,
    }


def _server(steps: Steps) -> tuple[float, list[float], str]:
    """Return the seconds of a first start and of warm ones, and the server's version."""
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
        settings = settings_in(Path(folder))
        try:
            steps.say("downloading missing files and making the AOT cache")
            version = local_server.ensure(settings).version
            lifecycle.make_aot_cache(settings)
            warm = []
            for _ in steps.over(range(SERVER_RUNS), "server"):
                local_server.stop(settings)
                warm.append(_timed(partial(local_server.ensure, settings)))
        finally:
            local_server.stop(settings)
        empty = settings_in(Path(folder) / "empty")
        try:
            first = _timed(partial(local_server.ensure, empty))
        finally:
            local_server.stop(empty)
    return first, warm, version


def _first_reads(steps: Steps) -> list[dict[str, Cell]]:
    """Return the times of the first reads after starts, with and without planning ahead."""
    took: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
        settings = settings_in(Path(folder))
        try:
            belief_id = first_reads.fill(settings)
            for _ in steps.over(range(SERVER_RUNS), "first reads"):
                for ahead, times in took.items():
                    local_server.stop(settings)
                    times.append(first_reads.measure(settings, belief_id, ahead=ahead))
        finally:
            local_server.stop(settings)
    return [
        _read_row(
            name, [times[name] for times in took[True]], [times[name] for times in took[False]]
        )
        for name in took[True][0]
    ]


def _read_row(name: str, ahead: Sequence[float], otherwise: Sequence[float]) -> dict[str, Cell]:
    median, is_read = statistics.median(ahead), name != first_reads.CPU
    return {
        "what": name,
        **spread("seconds", ahead),
        "nothing planned ahead": statistics.median(otherwise),
        "runs": len(ahead),
        "wanted": f"<= {READ_WANTED_S:g}" if is_read else None,
        "met": median <= READ_WANTED_S if is_read else None,
    }


def _process(arguments: Sequence[str]) -> None:
    subprocess.run(  # noqa: S603 - this interpreter with fixed arguments
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL
    )


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
