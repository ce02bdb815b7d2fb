"""Rich consoles that print text literally, and formats of numbers, dates and tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.progress import Progress, ProgressColumn, Task
from rich.segment import Segment
from rich.style import Style
from rich.table import Column, Table
from rich.text import Text

from graphmem.rules import display, short_ids

MARK = "↳ "
"""Prefix of continuation lines, after wrapping or a stored line feed.

It prevents a stored text from imitating lines, rows or prompts of the output.
"""
MIN_WIDTH = 10
"""Minimum width for the prefix, in columns; narrower text is wrapped without it."""


class Console(rich.console.Console):
    """A console that ignores markup and escapes control characters."""

    def __init__(self, *, stderr: bool = False, **how: Any) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, **how)
        self.link_of: Callable[[str], str] | None = None
        """Returns the address of an id; None to print ids without links."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return the segments of a renderable with their text escaped."""
        if isinstance(renderable, str):
            renderable = self.render_str(renderable)
        if isinstance(renderable, Text):
            renderable = _IndentedText(renderable)
        for one in super().render(renderable, options):
            # Control segments come from rich: a progress bar moves the cursor with them.
            shown = one if one.control else one._replace(text=display.block(one.text))
            yield from [shown] if one.control or self.link_of is None else self._linked(shown)

    def _linked(self, shown: Segment) -> Iterator[Segment]:
        """Yield a segment with its ids as links, which rich writes to a terminal only."""
        end = 0
        for found in short_ids.IDS.finditer(shown.text):
            yield shown._replace(text=shown.text[end : found.start()])
            link = Style(link=self.link_of(found[0])) if self.link_of else None
            yield Segment(found[0], (shown.style or Style()) + link)
            end = found.end()
        yield shown._replace(text=shown.text[end:])


class TaskLabel(ProgressColumn):
    """The column of a progress bar that shows a task's description."""

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))

    def render(self, task: Task) -> Text:
        """Return the description on one line."""
        return Text(display.line(task.description))


class TaskProgress(Progress):
    """Progress that prints nothing, not even a line feed, while no task is visible."""

    def stop(self) -> None:
        """Stop the display."""
        if any(task.visible for task in self.tasks):
            super().stop()
        else:
            self.live.stop()


def drawing(text: str) -> Text:
    """Return a drawing of plotext or click, whose colours are escape sequences.

    Texts in it must be escaped beforehand.
    """
    return Text.from_ansi(text)


class _IndentedText:
    """A text whose continuation lines start with `MARK`."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __rich_console__(
        self, console: rich.console.Console, options: ConsoleOptions
    ) -> Iterable[Segment]:
        if options.no_wrap or self._text.no_wrap or options.max_width < MIN_WIDTH:
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
    """Yield the wrapped parts of one line, which may contain breaks."""
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


def day(at: datetime) -> str:
    """Return a date such as 3 Feb 2025."""
    return f"{at.day} {at:%b %Y}"


def number(value: float, digits: int = 2) -> str:
    """Return a number with a real minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """Return a number with an explicit sign."""
    return f"{value:+.{digits}f}".replace("-", "−")


def counted(n: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def shortened(text: str, length: int) -> str:
    """Return a text on one line of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def more(cursor: str | None) -> list[Text]:
    """Return the line with the cursor of the next page; empty on the last page."""
    return [Text(f"\nmore: --cursor {cursor}")] if cursor else []


def table(*columns: str, whole: Collection[str] = ()) -> Table:
    """Return an empty table without lines, whose cells are wrapped, never cut.

    Args:
        whole: columns that are not wrapped either, such as times and ids.
    """
    made = Table(box=None, pad_edge=False)
    for name in columns:
        made.add_column(name, no_wrap=name in whole, overflow="fold")
    return made


def fields(rows: Mapping[str, str | None]) -> Table:
    """Return a table of the names that have a value."""
    made = table("", "")
    made.show_header = False
    for name, value in rows.items():
        if value:
            made.add_row(Text(name, style="dim"), value)
    return made


def counts(noun: str, rows: Mapping[str, int]) -> Table:
    """Return a table of numbers by name."""
    made = table(noun, "count")
    for name, count in rows.items():
        made.add_row(name, f"{count:,}")
    return made
