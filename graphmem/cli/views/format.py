"""Formats of numbers, dates and tables that the views share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from rich.table import Table
from rich.text import Text


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
        columns: names of the columns.
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
