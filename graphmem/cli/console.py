"""Rich consoles that take text as text: no markup, no emoji codes, no control characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.progress import ProgressColumn, Task
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from graphmem.rules import display

MARK = "↳ "
"""Begins every line that continues another one, wrapped or broken by a stored line feed.

Without it, a stored text could look like lines, rows or prompts of its own.
"""
LEAST_WIDTH = 10
"""Columns; text in fewer is wrapped without marks."""


class Console(rich.console.Console):
    """A console on which a string is never markup and no text commands the terminal."""

    def __init__(self, *, stderr: bool = False, **how: Any) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return the segments of a renderable, the text of each made visible."""
        if isinstance(renderable, str):
            renderable = self.render_str(renderable)
        if isinstance(renderable, Text):
            renderable = _IndentedText(renderable)
        for one in super().render(renderable, options):
            # Segments of control are rich's own: a progress bar moves the cursor with them.
            yield one if one.control else one._replace(text=display.block(one.text))


class SafeRenderable:
    """A renderable for a console that is not ours, on which strings would be markup."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable
        self._console = Console()

    def __rich_console__(
        self, console: rich.console.Console, options: ConsoleOptions
    ) -> Iterable[Segment]:
        """Render as our own console does."""
        return self._console.render(self._renderable, options)

    def __rich_measure__(
        self, console: rich.console.Console, options: ConsoleOptions
    ) -> Measurement:
        """Measure as our own console does."""
        return Measurement.get(self._console, options, self._renderable)


class TaskLabel(ProgressColumn):
    """The column of a progress bar that shows a task's description."""

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))

    def render(self, task: Task) -> Text:
        """Return the description on one line."""
        return Text(display.line(task.description))


def drawing(text: str) -> Text:
    """Return a drawing of plotext or click, whose colours are escape sequences.

    Texts in it must have been made visible before.
    """
    return Text.from_ansi(text)


class _IndentedText:
    """A text whose lines begin with a mark where they continue another one."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __rich_console__(
        self, console: rich.console.Console, options: ConsoleOptions
    ) -> Iterable[Segment]:
        if options.no_wrap or self._text.no_wrap or options.max_width < LEAST_WIDTH:
            return self._text.__rich_console__(console, options)
        lines = [
            line
            for whole in self._text.split("\n", allow_blank=True)
            for line in _continued(whole, console, options)
        ]
        return Text("\n").join(lines).render(console, end=self._text.end)

    def __rich_measure__(
        self, console: rich.console.Console, options: ConsoleOptions
    ) -> Measurement:
        return self._text.__rich_measure__(console, options)


def _continued(
    whole: Text, console: rich.console.Console, options: ConsoleOptions
) -> Iterator[Text]:
    """Yield the lines of one line that may be too long, or hold breaks."""
    how: dict[str, Any] = {
        "justify": whole.justify or options.justify,
        "overflow": whole.overflow or options.overflow,
    }
    for place, part in enumerate(whole.split(display.BREAK, allow_blank=True)):
        lines = part.wrap(console, options.max_width, **how)
        if place or len(lines) > 1:
            lines = part.wrap(console, options.max_width - len(MARK), **how)
        for number, line in enumerate(lines):
            yield Text.assemble((MARK, "dim"), line) if place or number else line
