"""Dates as the LoCoMo and BEAM files write them, as instants."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from graphmem.errors import SourceFileError

_MONTHS = [
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
]
"""English whatever the locale of the process, which `strptime` would follow."""
_FORMS = (
    re.compile(
        r"(?P<hour>0?[1-9]|1[0-2]):(?P<minute>[0-5]\d) (?P<half>am|pm) on "
        r"(?P<day>\d{1,2}) (?P<month>[a-z]{3,9}), (?P<year>\d{4})"
    ),
    re.compile(r"(?P<month>[a-z]{3,9})-(?P<day>\d{1,2})-(?P<year>\d{4})"),
)


def written_instant(text: object) -> datetime:
    """Return "1:56 pm on 8 May, 2023" or "March-15-2024" (midnight) as an instant in UTC.

    Raises:
        SourceFileError: neither of the two forms, or no such day.
    """
    plain = text.strip().lower() if isinstance(text, str) else ""
    for form in _FORMS:
        found = form.fullmatch(plain)
        if found and found["month"] in _MONTHS:
            return _instant(found.groupdict(), plain)
    raise SourceFileError(
        "the date is missing or unreadable; expected the form "
        "'1:56 pm on 8 May, 2023' or 'March-15-2024'"
    )


def nth_second(start: datetime | None, position: int) -> str | None:
    """Return the ISO instant `position` seconds after `start`, so that order is kept."""
    if start is None:
        return None
    try:
        return (start + timedelta(seconds=position)).isoformat()
    except OverflowError as error:
        raise SourceFileError("the date runs past the year 9999") from error


def _instant(parts: dict[str, str], plain: str) -> datetime:
    hour = int(parts.get("hour", "0")) % 12 + (12 if parts.get("half") == "pm" else 0)
    month = _MONTHS.index(parts["month"]) + 1
    try:
        return datetime(
            int(parts["year"]),
            month,
            int(parts["day"]),
            hour,
            int(parts.get("minute", "0")),
            tzinfo=UTC,
        )
    except ValueError as error:
        raise SourceFileError(f"there is no such day: {plain!r}") from error
