"""Many threads that ask at once: how many answers a second, and how long the slow ones take."""

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
    """What readers got; one object may gather several rounds."""

    took: list[float] = field(default_factory=list)
    """Milliseconds of each answer."""
    errors: list[str] = field(default_factory=list)
    """Name of each error."""
    seconds: float = 0.0
    """From the first question to the last answer, over all rounds."""

    @property
    def per_second(self) -> float:
        """Answers a second, of all readers together."""
        return len(self.took) / self.seconds

    def within(self, share: float) -> float | None:
        """Return in how many milliseconds this share was answered; None without answers."""
        return percentile(self.took, share) if self.took else None


def ask_at_once(
    ask: Callable[[int], object], shares: Sequence[Sequence[int]], answers: Answers
) -> None:
    """Let one thread per share ask its questions, one after another; all begin together.

    Args:
        ask: answers the question of a number.
        shares: numbers of the questions of each thread.
        answers: gathers times and errors.
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
