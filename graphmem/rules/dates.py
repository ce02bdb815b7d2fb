"""Which days and months a question names.

English month names, with or without a day and a year, and ISO dates. What is asked about on a
day may be told in the week after: people speak of what was.
"""

from __future__ import annotations

import itertools
import re
from calendar import month_abbr, month_name
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

Span = tuple[datetime, datetime]
"""From, and until."""

YEARS = 10
"""A month without a year may be that of any year so far back."""
MOST = 8
"""Dates of a question that are looked at."""
EARLIER, LATER = timedelta(days=1), timedelta(days=7)
"""A day is one somewhere on Earth, and is told of for a week."""

_MONTHS = {
    name.lower(): number
    for names in (month_name, month_abbr)
    for number, name in enumerate(names)
    if name
} | {"sept": 9}
# By the cases of ASCII: by those of Unicode the long s and the dotless i pass for s and i.
_MONTH = f"(?ai:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_DAY = r"(?:(\d{1,2})(?:st|nd|rd|th)?)"
_WHEN = "(in|on|during|since|by|of|from|last|until|before|after)"
_NAMED = re.compile(
    rf"\b(?:{_DAY}\s+(?:of\s+)?|{_WHEN}\s+)?({_MONTH})\b\.?"
    rf"(?:,?\s+{_DAY}\b)?(?:,?\s+(\d{{4}})\b)?",
    re.I,
)
_ISO = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")


def spans(text: str, now: datetime) -> list[Span]:
    """Return the spans of time that a text names, each from a day before to a week after.

    Args:
        text: a question.
        now: the latest year that is meant when none is named is its own.
    """
    found: list[Span] = []
    for year, month, day in itertools.islice(named(text), MOST):
        years = [year] if year is not None else range(now.year - YEARS, now.year + 1)
        found += (span for y in years for span in _span(y, month, day))
    return found


def named(text: str) -> Iterator[tuple[int | None, int, int | None]]:
    """Yield year, month and day of each date that a text names; None for what it leaves out."""
    for match in _ISO.finditer(text):
        yield int(match[1]), int(match[2]), int(match[3]) if match[3] else None
    for match in _NAMED.finditer(text):
        before, when, month, after, year = match.groups()
        day = before or after
        # "may" and "march" are words too.
        if month.lower() in {"may", "march"} and not (day or year or when):
            continue
        yield int(year) if year else None, _MONTHS[month.lower()], int(day) if day else None


def _span(year: int, month: int, day: int | None) -> Iterator[Span]:
    try:
        start = datetime(year, month, 1 if day is None else day, tzinfo=UTC)
        if day is not None:
            end = start + timedelta(days=1)
        else:
            end = start.replace(year=year + month // 12, month=month % 12 + 1)
        yield start - EARLIER, end + LATER
    except (ValueError, OverflowError):
        return  # There is no such day.
