"""Rich consoles that take text as text: no markup, no emoji codes, no control characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.progress import TextColumn
from rich.segment import Segment
from rich.text import Text

from graphmem.rules import display


class Console(rich.console.Console):
    """A console on which a string is never markup and no text commands the terminal."""

    def __init__(self, *, stderr: bool = False, **how: Any) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return the segments of a renderable, the text of each made visible."""
        return _visible(super().render(renderable, options))


class Plain:
    """A renderable for a console that is not ours, on which strings would be markup."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(
        self, console: rich.console.Console, options: ConsoleOptions
    ) -> Iterator[Segment]:
        """Render without markup, the text of each segment made visible."""
        yield from _visible(console.render(self._renderable, options.update(markup=False)))

    def __rich_measure__(
        self, console: rich.console.Console, options: ConsoleOptions
    ) -> Measurement:
        """Measure without markup."""
        return Measurement.get(console, options.update(markup=False), self._renderable)


def label() -> TextColumn:
    """Return the column of a progress bar that shows a task's description."""
    return TextColumn("{task.description}", markup=False)


def drawing(text: str) -> Text:
    """Return a drawing of plotext or click, whose colours are escape sequences.

    Texts in it must have been made visible before.
    """
    return Text.from_ansi(text)


def _visible(segments: Iterable[Segment]) -> Iterator[Segment]:
    # Segments of control are rich's own: a progress bar moves the cursor with them.
    for one in segments:
        yield one if one.control else one._replace(text=display.block(one.text))
