"""Times of the first reads after a start of the managed server, with and without planning ahead."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import psutil
from filelock import FileLock

from graphmem import AsOf, GraphMem, local_server
from graphmem.local_server.files import DataFolder
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from graphmem.settings import Settings

PAUSE_S = 5.0
"""Seconds between the end of the start and the first read."""
MEMORIES = 40
SUBJECT, PREDICATE = "payments", "owned_by"
QUESTION = "Who owns payments?"
CPU = "processor of the server"
"""CPU seconds of the server for its start, the planning and the reads."""


def fill(settings: Settings) -> str:
    """Write some memories and a belief with two pieces of evidence; return the belief's id."""
    with GraphMem.open(settings=settings, embedder=HashEmbedder()) as client:
        memory = client.tenant("bench").scope("global")
        memory.remember_many([f"Service {number} was deployed." for number in range(MEMORIES)])
        memory.remember("Ana owns payments.", claims=[(SUBJECT, PREDICATE, "Ana")])
        return memory.observe(SUBJECT, PREDICATE, "Ana").belief_id


def measure(settings: Settings, belief_id: str, *, ahead: bool) -> dict[str, float]:
    """Start the server and return the seconds of the first reads, in the order of the calls.

    Args:
        settings: Settings of a stopped server that was filled before.
        belief_id: Id of the belief to explain.
        ahead: Whether the server plans the reads in the background, as it does after each start,
            and a recall before `server up` returns.
    """
    with ExitStack() as stack:
        if not ahead:
            # The planning process exits at once if another process holds this lock.
            stack.enter_context(FileLock(DataFolder.of(settings).root / "warming.lock"))
        local_server.ensure(settings)
        if ahead:  # as `graphmem server up` does
            local_server.plan_first_reads(settings, lambda _: None)
        time.sleep(PAUSE_S)
        client = stack.enter_context(GraphMem.open(settings=settings, embedder=HashEmbedder()))
        took = {name: _timed(read) for name, read in _Reads(client, belief_id).all().items()}
        pid = local_server.status(settings).pid
        spent = psutil.Process(pid).cpu_times()
    return took | {CPU: spent.user + spent.system}


@dataclass(frozen=True, slots=True)
class _Reads:
    """The measured reads."""

    client: GraphMem
    belief_id: str

    def all(self) -> Mapping[str, Callable[[], object]]:
        """Return the reads by name, in the order of the calls."""
        memory, now = self.client.tenant("bench").scope("global"), datetime.now(UTC)
        return {
            "recall": lambda: memory.recall(QUESTION),
            "recall(as_of=…)": lambda: memory.recall(QUESTION, as_of=AsOf(valid=now, known=now)),
            "current": lambda: memory.current(SUBJECT, PREDICATE),
            "why": lambda: memory.why(self.belief_id),
        }


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
