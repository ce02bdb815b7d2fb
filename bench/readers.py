"""Concurrent readers: answers per second and latency percentiles."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from neo4j.exceptions import DriverError, Neo4jError

from bench.figures import percentile
from graphmem.errors import GraphmemError


@dataclass(slots=True)
class Answers:
    """Times and errors of readers; one object may collect several rounds."""

    took: list[float] = field(default_factory=list)
    """Milliseconds of each answer."""
    errors: list[str] = field(default_factory=list)
    """Class name of each error."""
    seconds: float = 0.0
    """Seconds from the first question to the last answer, over all rounds."""

    @property
    def per_second(self) -> float:
        """Answers per second, of all readers together."""
        return len(self.took) / self.seconds

    def within(self, share: float) -> float | None:
        """Return the milliseconds within which this share was answered; None without answers."""
        return percentile(self.took, share) if self.took else None


def ask_at_once(
    ask: Callable[[int], object], shares: Sequence[Sequence[int]], answers: Answers
) -> None:
    """Ask the questions of each share in a thread of its own; all threads start together.

    Args:
        ask: Answers the question with a number.
        shares: Numbers of the questions of each thread.
        answers: Collects times and errors.
    """
    ready = threading.Barrier(len(shares) + 1)

    def read(share: Sequence[int]) -> None:
        ready.wait()
        for number in share:
            started = time.perf_counter()
            try:
                ask(number)
            except (GraphmemError, Neo4jError, DriverError) as error:
                answers.errors.append(type(error).__name__)
            else:
                answers.took.append(1000 * (time.perf_counter() - started))

    threads = [threading.Thread(target=read, args=(share,), daemon=True) for share in shares]
    for thread in threads:
        thread.start()
    ready.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    answers.seconds += time.perf_counter() - started
