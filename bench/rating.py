"""Time to rate a search log, recovery of a killed run, and the cost of logging in recall."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, LiteralString, TypeAlias

from bench import rating_log, synthetic
from bench import store as stores
from bench.figures import Cell, Report, Table, percentile
from bench.footprint import footprint
from bench.rating_log import SyntheticLog
from bench.server import connected, running, settings_in, wind_down
from bench.store import TENANTS, Store
from graphmem import GraphMem, Handle, local_server
from graphmem.client import connect

if TYPE_CHECKING:
    from bench.bare import Bare
    from bench.progress import Steps
    from graphmem.settings import Settings
    from graphmem.usage import RatingReport

ROOT = Path(__file__).parents[1]
MILLION_S = 300.0
"""Maximum seconds for rating a million results."""
KILLED_AT = 3
"""The rating process is killed when 1/KILLED_AT of the sessions is rated."""
RECALLED = 10_000
"""Number of memories in the recall measurement, over 20 tenants."""
QUESTIONS = 2_000
WARM_UP = 400
ADDED = 1.05
"""Maximum ratio of recall's median with the log to that without it."""
RATES, KILLED, MEMORY, LOGGING = "rating", "killed and resumed", "memory", "logging"

Row: TypeAlias = dict[str, Cell]

RATINGS: LiteralString = """CYPHER 25
MATCH (g:Rating {tenant: $tenant})
RETURN g.kind AS kind, g.id AS id, g.elo AS elo, g.games AS games, g.touched_at AS touched_at
ORDER BY kind, id
"""

# Drops all ratings and rates the log again, printing each transaction.
AGAIN = """
from bench import synthetic
from bench.rating_log import TENANT
from graphmem import GraphMem
with GraphMem.open(embedder=synthetic.LookupEmbedder()) as memory:
    show = lambda *part: print(*part, flush=True)
    memory.tenant(TENANT).usage.rate(from_scratch=True, on_progress=show)
"""


def measure(results: int, steps: Steps) -> Report:
    """Return rating times, recovery after a kill, memory, and recall with and without the log.

    Args:
        results: Number of logged search results; 100 per session.
        steps: Receives the progress.
    """
    log = SyntheticLog(results)
    with _loaded(log, steps) as (settings, memory, bare):
        steps.say(f"rate {results:,} results")
        started = time.perf_counter()
        done = memory.usage.rate()
        rates = rates_row(log, done, time.perf_counter() - started)
        undisturbed = bare.rows(RATINGS, tenant=rating_log.TENANT)
        own = _memory(results, settings)
        steps.say("rate again, in a process that is killed")
        settled = _killed(settings, log, steps)
        started = time.perf_counter()
        rest = memory.usage.rate()
        took = time.perf_counter() - started
        again = bare.rows(RATINGS, tenant=rating_log.TENANT)
        killed = killed_row(log, settled, rest, took, differing(undisturbed, again))
        version = bare.server_version()
    return Report(
        name="rating",
        tables=[
            Table(RATES, [rates]),
            Table(KILLED, [killed]),
            Table(MEMORY, [own]),
            Table(LOGGING, [_logging(steps)]),
        ],
        notes=[
            f"One rate() over sessions of {rating_log.SEARCHES} searches with "
            f"{rating_log.RESULTS} results, some opened, over {log.memories:,} memories of which "
            "few are returned often.",
            "Killed: `kill -9` of a process that rates the same log from the beginning; then "
            "rate() here, and every rating compared with that of the undisturbed run.",
            f"Logging: recall(limit=10) at {RECALLED:,} memories in sessions, embeddings ready, "
            "with the log and without it in turn, question by question; every hundredth entry "
            "waits for a write.",
            "MB resident after the rating, and at most since the process was started.",
        ],
        setting={
            "neo4j": version,
            "server": f"heap {settings.heap}, cache {settings.page_cache}",
            "memories": log.memories,
            "questions": QUESTIONS,
        },
    )


def rates_row(log: SyntheticLog, done: RatingReport, seconds: float) -> Row:
    """Return the speed of rating a log, compared with the limit for a million results."""
    million = seconds / log.results * 1_000_000
    return {
        "results": log.results,
        "sessions": done.sessions,
        "games": done.searches,
        "updates": done.updates,
        "s": seconds,
        "results /s": log.results / seconds,
        "sessions /s": done.sessions / seconds,
        "s per million": million,
        "wanted": f"<= {MILLION_S:g} s per million",
        "met": million <= MILLION_S and done.sessions == log.sessions,
    }


def killed_row(
    log: SyntheticLog, settled: int, rest: RatingReport, seconds: float, wrong: int
) -> Row:
    """Return the recovery of a killed run.

    Args:
        log: The rated log.
        settled: Number of sessions that the killed process had reported.
        rest: Report of the run after it.
        seconds: Duration of that run.
        wrong: Number of ratings that differ from those of an undisturbed run.
    """
    return {
        "results": log.results,
        "rated before": settled,
        "left": rest.sessions,
        "s": seconds,
        "other ratings": wrong,
        "wanted": "some left, none other",
        "met": 0 < rest.sessions <= log.sessions - settled and not wrong,
    }


def differing(one: Sequence[Row], other: Sequence[Row]) -> int:
    """Return the number of rows in only one of the two lists; neither list has duplicates."""
    return len({*map(_frozen, one)} ^ {*map(_frozen, other)})


def logging_row(on: Sequence[float], off: Sequence[float]) -> Row:
    """Return the times of single questions, in milliseconds, with and without the log."""
    row: Row = {"memories": RECALLED}
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        logged, silent = percentile(on, share), percentile(off, share)
        row |= {f"logged {name}": logged, f"not {name}": silent, f"ratio {name}": logged / silent}
    met = percentile(on, 0.5) / percentile(off, 0.5) <= ADDED
    return row | {"wanted": f"ratio p50 <= {ADDED}", "met": met}


def _frozen(row: Row) -> tuple[Cell, ...]:
    return tuple(row.values())


@contextmanager
def _loaded(log: SyntheticLog, steps: Steps) -> Iterator[tuple[Settings, Handle, Bare]]:
    """Yield a server that contains the log; it is restarted after loading."""
    embedder = synthetic.LookupEmbedder()
    with TemporaryDirectory(prefix="graphmem-bench-") as folder:
        settings = settings_in(Path(folder))
        with running(settings, steps.say):
            with connected(settings, embedder, steps.say) as (_, bare):
                rating_log.load(log, bare, steps)
            # After a restart, no pending writes can distort the measurement.
            steps.say("writing everything to disk")
            wind_down(settings)
        with (
            running(settings, steps.say),
            connected(settings, embedder, steps.say) as (memory, bare),
        ):
            yield settings, memory.tenant(rating_log.TENANT), bare


def _killed(settings: Settings, log: SyntheticLog, steps: Steps) -> int:
    """Rate from the beginning in a process that is killed; return the sessions it reported."""
    at = connect.address(settings, steps.say)
    kept = {name: v for name, v in os.environ.items() if not name.startswith("GRAPHMEM_")}
    child = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", AGAIN],
        env=kept
        | {"GRAPHMEM_URI": at.uri, "GRAPHMEM_USER": at.user, "GRAPHMEM_PASSWORD": at.password},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    settled = 0
    with child:
        for line in child.stdout or ():
            kind, count = line.split()
            settled += int(count) if kind == "session" else 0
            if settled * KILLED_AT >= log.sessions:
                break
        child.kill()
    return settled


def _memory(results: int, settings: Settings) -> Row:
    client, server = footprint(), footprint(local_server.status(settings).pid)
    return {
        "results": results,
        "client MB": client.resident,
        "client peak": client.peak,
        "server MB": server.resident,
        "server peak": server.peak,
    }


def _logging(steps: Steps) -> Row:
    """Ask each question with and without the log, alternating which is first."""
    store = Store(RECALLED)
    targets = store.memories.picked(store.targets(QUESTIONS + WARM_UP, seed=2))
    asked = synthetic.questions(targets, seed=3)
    embedder = synthetic.LookupEmbedder(asked)
    took: dict[bool, list[float]] = {True: [], False: []}
    with ExitStack() as stack:
        settings, silent, _ = stack.enter_context(stores.loaded(store, None, embedder, steps))
        logged = stack.enter_context(GraphMem.open(settings=settings, embedder=embedder))
        asks = {True: _asking(stack, logged), False: _asking(stack, silent)}
        for number in steps.over(range(len(asked.texts)), "recall, logged and not"):
            for is_logged in (True, False) if number % 2 else (False, True):
                started = time.perf_counter()
                asks[is_logged](number, asked.texts[number])
                if number >= WARM_UP:
                    took[is_logged].append(1000 * (time.perf_counter() - started))
    return logging_row(took[True], took[False])


def _asking(stack: ExitStack, memory: GraphMem) -> Callable[[int, str], None]:
    """Return a function that recalls in a session of each tenant."""
    sessions = [
        stack.enter_context(memory.tenant(f"tenant-{n}").session("bench")) for n in range(TENANTS)
    ]

    def ask(number: int, text: str) -> None:
        sessions[number % TENANTS].recall(text, limit=10)

    return ask
