"""Duration of a migration to another embedding model, and its effect on readers."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from bench import store as stores
from bench import synthetic
from bench.figures import Cell, Report, Table
from bench.readers import Answers
from bench.store import TENANTS, Store
from graphmem import GraphMem
from graphmem.client import connect
from graphmem.errors import GraphmemError, UnavailableError
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from bench.bare import Bare
    from bench.progress import Steps

DIMENSION = 256
"""Dimension of the new model (the old one has 384); it is instant, so only the graph is measured.
"""
READERS = 4
QUESTIONS = 200
ALONE_S = 20.0
"""Seconds for which readers are measured before and after the migration."""
KILLED_AT = 0.4
"""Share of the memories after which the first run is killed."""
POLL_S = 0.5
PATIENCE = 10
"""Number of first questions that may fail."""
EMBEDDED = "MATCH (m:Memory) WHERE m.embedding_2 IS NOT NULL RETURN count(m) AS found"

RUNS = "runs of graphmem admin reembed"
SERVED = "recall meanwhile"

Row: TypeAlias = dict[str, Cell]


def measure(size: int, steps: Steps) -> Report:
    """Return the results of re-embedding `size` memories under load, with one kill."""
    store = Store(size)
    asked = synthetic.questions(store.memories.picked(store.targets(QUESTIONS, seed=2)), seed=3)
    old = synthetic.LookupEmbedder(asked)
    with stores.loaded(store, None, old, steps) as (settings, memory, bare):
        at = connect.address(settings, steps.say)
        environ = {**os.environ, "GRAPHMEM_URI": at.uri, "GRAPHMEM_PASSWORD": at.password}
        environ["GRAPHMEM_EMBEDDER_DIMENSION"] = str(DIMENSION)
        runs, served = _watched(memory, asked.texts, bare, environ, size, steps)
        steps.say("readers of both models")
        new_settings = settings.model_copy(update={"embedder": "hash"})
        with GraphMem.open(settings=new_settings, embedder=HashEmbedder(DIMENSION)) as new:
            _warm(new, asked.texts[0])
            both = [Answers(), Answers()]
            with reading(memory, asked.texts, both[0]), reading(new, asked.texts, both[1]):
                time.sleep(ALONE_S)
        served += [_served("after, by the former model", both[0])]
        served += [_served("after, by the new model", both[1])]
        steps.say("removing the former model")
        started = time.perf_counter()
        _ran(environ, "--finish")
        runs.append({"run": "finished", "seconds": time.perf_counter() - started})
    return Report(
        name="reembed",
        tables=[Table(RUNS, [_whole(run) for run in runs]), Table(SERVED, served)],
        notes=[
            f"{READERS} threads on one client ask recall(limit=10) without a pause, one client for "
            f"each model. Vectors of {synthetic.DIMENSION} numbers become vectors of {DIMENSION}.",
            "The new model answers at once; with a real one the time is that of the model.",
            f"The first run is ended by kill -9 after {KILLED_AT:.0%} of the memories.",
        ],
        setting={"memories": size, "tenants": TENANTS, "readers": READERS},
    )


def _watched(
    memory: GraphMem,
    questions: Sequence[str],
    bare: Bare,
    environ: dict[str, str],
    size: int,
    steps: Steps,
) -> tuple[list[Row], list[Row]]:
    """Return the runs up to the switch, one of them killed, and the readers' results."""
    before, meanwhile = Answers(), Answers()
    steps.say("readers alone")
    _warm(memory, questions[0])
    with reading(memory, questions, before):
        time.sleep(ALONE_S)
    with reading(memory, questions, meanwhile):
        steps.say("re-embedding, to be killed")
        started = time.perf_counter()
        _killed(environ, lambda: bare.count(EMBEDDED) >= KILLED_AT * size)
        kept = bare.count(EMBEDDED)
        runs: list[Row] = [
            {"run": "killed", "seconds": time.perf_counter() - started, "embedded": kept}
        ]
        steps.say("resuming")
        started = time.perf_counter()
        _ran(environ)
        found = bare.count(EMBEDDED)
        runs.append(
            {
                "run": "resumed and switched",
                "seconds": time.perf_counter() - started,
                "embedded": found - kept,
                "wanted": f"{size:,} in all, some before the kill",
                "met": found == size and 0 < kept < size,
            }
        )
    return runs, [_served("before", before), _served("while embedding", meanwhile)]


@contextmanager
def reading(memory: GraphMem, questions: Sequence[str], answers: Answers) -> Iterator[None]:
    """Let readers ask without a pause for the duration of the block."""
    over = threading.Event()

    def read(first: int) -> None:
        number = first
        while not over.is_set():
            started = time.perf_counter()
            try:
                handle = memory.tenant(f"tenant-{number % TENANTS}")
                handle.recall(questions[number % len(questions)], limit=10)
            except GraphmemError as error:
                answers.errors.append(type(error).__name__)
            else:
                answers.took.append(1000 * (time.perf_counter() - started))
            number += READERS

    threads = [threading.Thread(target=read, args=(n,), daemon=True) for n in range(READERS)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
        answers.seconds += time.perf_counter() - started


def _warm(memory: GraphMem, question: str) -> None:
    """Ask until an answer comes: query planning may exceed the time limit on a busy machine."""
    for _ in range(PATIENCE):
        with suppress(UnavailableError):
            memory.tenant("tenant-0").recall(question, limit=10)
            return


def _command(*args: str) -> list[str]:
    return [sys.executable, "-m", "graphmem", "admin", "reembed", "--model", "hash", *args]


def _killed(environ: dict[str, str], is_time: Callable[[], bool]) -> None:
    """Start a run and kill it when `is_time` returns true."""
    run = subprocess.Popen(_command(), env=environ, stderr=subprocess.DEVNULL)  # noqa: S603 - ours
    try:
        while run.poll() is None and not is_time():
            time.sleep(POLL_S)
    finally:
        run.kill()
        run.wait()


def _ran(environ: dict[str, str], *args: str) -> None:
    done = subprocess.run(  # noqa: S603 - ours
        _command(*args), env=environ, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)


def _served(when: str, answers: Answers) -> Row:
    return {
        "when": when,
        "answers": len(answers.took),
        "errors": len(answers.errors),
        "answers /s": answers.per_second,
        "p50 ms": answers.within(0.5),
        "p99 ms": answers.within(0.99),
        "wanted": "no error",
        "met": not answers.errors and bool(answers.took),
    }


def _whole(run: Row) -> Row:
    return {"run": "", "seconds": None, "embedded": None, "wanted": None, "met": None, **run}
