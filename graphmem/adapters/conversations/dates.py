"""Parse the dates of LoCoMo and BEAM files."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from graphmem.errors import SourceFileError

_MONTHS = [
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
]
"""English names, independent of the locale of the process, which `strptime` would use."""
_FORMS = (
    re.compile(
        r"(?P<hour>0?[1-9]|1[0-2]):(?P<minute>[0-5]\d) (?P<half>am|pm) on "
        r"(?P<day>\d{1,2}) (?P<month>[a-z]{3,9}), (?P<year>\d{4})"
    ),
    re.compile(r"(?P<month>[a-z]{3,9})-(?P<day>\d{1,2})-(?P<year>\d{4})"),
)


def written_instant(text: object) -> datetime:
    """Return "1:56 pm on 8 May, 2023" or "March-15-2024" (midnight) as a UTC timestamp.

    Raises:
        SourceFileError: the text has neither form, or the day does not exist.
    """
    plain = text.strip().lower() if isinstance(text, str) else ""
    for form in _FORMS:
        match = form.fullmatch(plain)
        if match and match["month"] in _MONTHS:
            return _timestamp(match.groupdict(), plain)
    raise SourceFileError(
        "the date is missing or unreadable; expected the form "
        "'1:56 pm on 8 May, 2023' or 'March-15-2024'"
    )


def nth_second(start: datetime | None, position: int) -> str | None:
    """Return the ISO timestamp `position` seconds after `start`, which preserves the order."""
    if start is None:
        return None
    try:
        return (start + timedelta(seconds=position)).isoformat()
    except OverflowError as error:
        raise SourceFileError("the date is after the year 9999") from error


def _timestamp(parts: dict[str, str], plain: str) -> datetime:
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
        raise SourceFileError(f"the day does not exist: {plain!r}") from error
