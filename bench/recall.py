"""Latency of recall, with and without late interaction, compared with the bare vector search."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from neo4j.vector import Vector

from bench import store as stores
from bench import synthetic
from bench.figures import Cell, Report, Table, percentile
from bench.footprint import footprint
from bench.readers import Answers, ask_at_once
from bench.server import connected
from bench.store import EVENTS, SUPERSEDED, TENANTS, Store
from graphmem import GraphMem, RecallPolicy, local_server
from graphmem.local_server.memory import MemoryNeed
from graphmem.rules import late_interaction

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from bench.bare import Bare
    from bench.progress import Steps
    from graphmem.settings import Settings

POOL = RecallPolicy().pool
"""Number of results that a recall asks the index for."""
QUESTIONS = 400
WARM_UP = 400
COMPARED = 100
"""Number of questions for which the nearest memories are also searched exactly."""
READERS = 32
SHARE = 20
"""Number of questions that each reader asks in one round."""
ROUNDS = 4
"""Rounds of each side; the sides alternate: one, other, other, one."""
LATE, CHEAP, BARE = "late interaction", "without", "bare"
TARGETS = {LATE: 2.2, CHEAP: 1.6}
"""Maximum ratio of the p50 to that of the bare search."""
MARKED = 20
"""Number of results of the recalls with and without marks of outdated results."""
FOUND = {(10, 10): 0.99, (10, POOL): 0.99, (POOL, POOL): 0.95}
"""Minimum share of the nearest memories that the index finds, by their number and that of the
results asked for."""

TIMES = "milliseconds of one question"
MARKS = "milliseconds of one question, 20 results"
CROWD = "many readers at once"
MISSED = "index recall"
MEMORY = "memory"

Row: TypeAlias = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Sides:
    """The same questions to graphmem and to a bare search; the i-th is from tenant i mod 20."""

    memory: GraphMem
    bare: Bare
    asked: synthetic.Corpus

    def graphmem(self, number: int, *, limit: int = 10, **policy: bool) -> None:
        """Recall ten memories."""
        handle = self.memory.tenant(f"tenant-{number % TENANTS}")
        handle.recall(self.asked.texts[number], limit=limit, policy=RecallPolicy(**policy))

    def plain(self, number: int) -> None:
        """Search for the 200 nearest memories of the tenant."""
        embedding = Vector.from_numpy(self.asked.vectors[number])
        self.bare.nearest(f"tenant-{number % TENANTS}", embedding, POOL)

    def both(self) -> dict[str, Callable[[int], None]]:
        """Return both sides by name."""
        return {"graphmem": self.graphmem, BARE: self.plain}

    def rankings(self) -> dict[str, Callable[[int], None]]:
        """Return the ranking with and without late interaction, and the bare search."""
        cheap = partial(self.graphmem, late_interaction=False)
        return {LATE: self.graphmem, CHEAP: cheap, BARE: self.plain}

    def marking(self) -> dict[str, Callable[[int], None]]:
        """Return recalls of 20 results with and without marks of outdated ones."""
        return {
            name: partial(self.graphmem, limit=MARKED, mark_outdated=marks)
            for name, marks in (("marked", True), ("unmarked", False))
        }


def measure(
    sizes: Sequence[int],
    steps: Steps,
    *,
    keep: Path | None = None,
    processes: Sequence[int] = (1,),
) -> Report:
    """Return times, the index's recall and memory at these sizes, each on a server of its own.

    Args:
        sizes: Numbers of memories in the graph, over 20 tenants.
        steps: Receives the progress.
        keep: Folder in which loaded graphs are kept and reused; None keeps nothing.
        processes: Numbers of processes over which the readers are spread.

    Raises:
        ConfigurationError: The kept graph is a different one.
    """
    tables: dict[str, list[Row]] = {title: [] for title in (TIMES, MARKS, CROWD, MISSED, MEMORY)}
    setting: Row = {}
    for size in sizes:
        store = Store(size, tokens=True)
        targets = store.memories.picked(store.targets(QUESTIONS + WARM_UP, seed=2))
        asked = synthetic.questions(targets, seed=3)
        embedder = synthetic.LookupEmbedder(asked, tokens=True)
        with stores.loaded(store, keep, embedder, steps) as (settings, memory, bare):
            setting["neo4j"] = bare.server_version()
            setting[f"server at {size:,}"] = f"heap {settings.heap}, cache {settings.page_cache}"
            sides = Sides(memory, bare, asked)
            took = _latency(sides, sides.rankings(), steps)
            tables[TIMES] += [times_row(size, name, took) for name in TARGETS]
            tables[MARKS].append(marks_row(size, _latency(sides, sides.marking(), steps)))
            tables[CROWD] += [_crowd(size, count, settings, asked, steps) for count in processes]
            tables[MISSED] += _index_recall(store, sides, steps)
            tables[MEMORY].append(_memory(store, settings))
    return Report(
        name="recall",
        tables=[Table(title, rows) for title, rows in tables.items()],
        notes=[
            f"recall(limit=10), embedding ready, against the bare vector search with the tenant "
            f"filter and {POOL} results; in turn, question by question.",
            "Paired: median of the ratios of single questions.",
            f"Readers: {READERS} threads, on one client of each process, each asking without a "
            "pause; the sides take turns, round by round.",
            "Index recall: share of the exact nearest current memories of the tenant among the "
            f"results of the index, over {COMPARED} questions; a recall asks for {POOL}.",
            "MB resident after the questions, and at most since the process was started; the "
            "server's include its memory-mapped indexes. At most: as `server doctor` computes it.",
        ],
        setting={
            **setting,
            "tenants": TENANTS,
            "dimensions": synthetic.DIMENSION,
            "events a memory": EVENTS,
            "superseded": 1 / SUPERSEDED,
            "questions": QUESTIONS,
            "questions of a reader": ROUNDS * SHARE,
        },
    )


def _latency(
    sides: Sides, asks: dict[str, Callable[[int], None]], steps: Steps
) -> dict[str, list[float]]:
    """Return the times of each side in milliseconds; the sides take turns to answer first."""
    took: dict[str, list[float]] = {name: [] for name in asks}
    names = list(asks)
    for number in steps.over(range(len(sides.asked.texts)), ", ".join(names)):
        first = number % len(names)
        for name in [*names[first:], *names[:first]]:
            started = time.perf_counter()
            asks[name](number)
            if number >= WARM_UP:
                took[name].append(1000 * (time.perf_counter() - started))
    return took


def times_row(size: int, name: str, took: dict[str, list[float]]) -> Row:
    """Return the times of single questions, in milliseconds, compared with the bare search."""
    row: Row = {"memories": size, "ranking": name}
    for title, share in (("p50", 0.5), ("p95", 0.95)):
        ours, theirs = (percentile(took[side], share) for side in (name, BARE))
        row |= {f"graphmem {title}": ours, f"bare {title}": theirs, f"ratio {title}": ours / theirs}
    ratio = row["ratio p50"]
    return row | {
        "paired": statistics.median(a / b for a, b in zip(took[name], took[BARE], strict=True)),
        "wanted": f"ratio p50 <= {TARGETS[name]}",
        "met": isinstance(ratio, float) and ratio <= TARGETS[name],
    }


def marks_row(size: int, took: dict[str, list[float]]) -> Row:
    """Return what the marks of outdated results cost, in milliseconds."""
    row: Row = {"memories": size}
    for name, times in took.items():
        row |= {f"{name} p50": percentile(times, 0.5), f"{name} p95": percentile(times, 0.95)}
    pairs = zip(took["marked"], took["unmarked"], strict=True)
    return row | {"difference, median": statistics.median(a - b for a, b in pairs)}


def _crowd(
    size: int, processes: int, settings: Settings, asked: synthetic.Corpus, steps: Steps
) -> Row:
    """Return the results of many concurrent readers, on clients and on bare drivers.

    Each process has one client, one driver and an equal part of the readers.
    """
    got = {name: Answers() for name in ("graphmem", BARE)}
    names = [name for turn in range(ROUNDS) for name in sorted(got, reverse=bool(turn % 2))]
    total = len(asked.texts)
    with _processes(processes, settings, asked) as pipes:
        # Open a connection for each reader, so that the first questions do not wait for it.
        for name in got:
            _round(pipes, name, [reader % total for reader in range(READERS)], Answers())
        title = f"{READERS} readers, {processes} processes, {size:,}"
        for place, name in enumerate(steps.over(names, title)):
            first = place // len(got) * READERS * SHARE
            numbers = [(first + i) % total for i in range(READERS * SHARE)]
            _round(pipes, name, numbers, got[name])
    return crowd_row(size, got["graphmem"], got[BARE]) | {"processes": processes}


@contextmanager
def _processes(
    count: int, settings: Settings, asked: synthetic.Corpus
) -> Iterator[list[Connection]]:
    """Yield a pipe to each of `count` processes that answer questions; end them afterwards."""
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(count)]
    workers = [
        context.Process(target=_answer, args=(settings, asked, inner), daemon=True)
        for _, inner in pipes
    ]
    for worker in workers:
        worker.start()
    for _, inner in pipes:
        inner.close()  # a worker that ends is noticed
    yield [own for own, _ in pipes]
    for own, _ in pipes:
        own.send(None)
    for worker in workers:
        worker.join()


def _answer(settings: Settings, asked: synthetic.Corpus, pipe: Connection) -> None:
    """Answer rounds of questions in this process until the pipe ends them with None."""
    silent = settings.model_copy(update={"access_log": False})
    embedder = synthetic.LookupEmbedder(asked, tokens=True)
    with connected(silent, embedder, lambda _: None) as (memory, bare):
        sides = Sides(memory, bare, asked).both()
        while (given := pipe.recv()) is not None:
            name, shares = given
            answers = Answers()
            ask_at_once(sides[name], shares, answers)
            pipe.send(answers)


def _round(
    pipes: Sequence[Connection], name: str, numbers: Sequence[int], answers: Answers
) -> None:
    """Ask one side these questions, in all processes at once, and collect the results."""
    shares = [numbers[reader::READERS] for reader in range(READERS)]
    started = time.perf_counter()
    for place, pipe in enumerate(pipes):
        pipe.send((name, shares[place :: len(pipes)]))
    for pipe in pipes:
        one = pipe.recv()
        answers.took += one.took
        answers.errors += one.errors
    answers.seconds += time.perf_counter() - started


def crowd_row(size: int, ours: Answers, theirs: Answers) -> Row:
    """Return the results of many readers, compared with bare search."""
    errors = [*ours.errors, *theirs.errors]
    return {
        "memories": size,
        "readers": READERS,
        "graphmem /s": ours.per_second,
        "bare /s": theirs.per_second,
        "ratio": ours.per_second / theirs.per_second if theirs.took else None,
        "graphmem p50": ours.within(0.5),
        "graphmem p99": ours.within(0.99),
        "bare p50": theirs.within(0.5),
        "bare p99": theirs.within(0.99),
        "errors": ", ".join(f"{n} {name}" for name, n in sorted(Counter(errors).items())) or 0,
        "wanted": "no errors",
        "met": not errors,
    }


def _index_recall(store: Store, sides: Sides, steps: Steps) -> list[Row]:
    """Return the recall of the index with recall's filters, against exact search."""
    asked = synthetic.Corpus(sides.asked.texts[:COMPARED], sides.asked.vectors[:COMPARED])
    exact = store.nearest(asked, POOL, steps)
    rows = []
    for wanted, limit in FOUND:
        shares = []
        for number, (embedding, nearest) in enumerate(zip(asked.vectors, exact, strict=True)):
            tenant = f"tenant-{number % TENANTS}"
            got = sides.bare.nearest_current(tenant, Vector.from_numpy(embedding), limit)
            shares.append(len({*nearest[:wanted]} & {*got}) / min(wanted, len(nearest)))
        rows.append(found_row(store.size, (wanted, limit), shares))
    return rows


def found_row(size: int, asked: tuple[int, int], shares: Sequence[float]) -> Row:
    """Return the share of the exact nearest memories that the index found, over the questions."""
    mean = float(np.mean(shares))
    nearest, results = asked
    return {
        "memories": size,
        "nearest": nearest,
        "results": results,
        "recall mean": mean,
        "recall min": min(shares),
        "wanted": f"mean >= {FOUND[asked]}",
        "met": mean >= FOUND[asked],
    }


def token_bytes(store: Store) -> float:
    """Return the mean size of the token states of a text."""
    texts = store.memories.block(0).texts[:1_000]
    return statistics.mean(len(late_interaction.pack(synthetic.tokens_of(text))) for text in texts)


def _memory(store: Store, settings: Settings) -> Row:
    """Return the memory of client and server after the questions."""
    status = local_server.status(settings)
    client, server = footprint(), footprint(status.pid)
    return {
        "memories": store.size,
        "client MB": client.resident,
        "client peak": client.peak,
        "server MB": server.resident,
        "server peak": server.peak,
        "server at most": MemoryNeed.of(settings).server / 1e6,
        "token states, bytes a text": token_bytes(store),
        "on disk MB": status.data_bytes / 1e6,
        "loaded in s": stores.load_seconds(store, status.home.parent),
    }
