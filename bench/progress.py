"""Progress of a benchmark, on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Steps:
    """Progress output of a benchmark."""

    console: Console

    def say(self, line: str) -> None:
        """Print one line."""
        self.console.print(f"[dim]{line}[/dim]")

    def over(self, items: Sequence[T], title: str) -> Iterator[T]:
        """Yield the items behind a progress bar with the remaining time.

        Without a terminal, one line at each tenth.
        """
        from rich.progress import track

        if self.console.is_terminal:
            yield from track(items, title, console=self.console, transient=True)
            return
        started = time.monotonic()
        for number, item in enumerate(items):
            yield item
            if 10 * (number + 1) // len(items) > 10 * number // len(items):
                took = time.monotonic() - started
                self.say(f"{title}: {number + 1:,} of {len(items):,} after {took:,.0f} s")
