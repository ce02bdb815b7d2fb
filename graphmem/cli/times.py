"""Times on the command line: ISO 8601, plain dates, and words such as `3 days ago`."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import click

from graphmem.rules import dates

READ_AS = "graphmem.times"
"""Key of the notes about incomplete times in the `meta` of a context."""
_AGO = re.compile(r"(\d{1,4}|an?) (minute|hour|day|week|month|year)s? ago")
_SHORT = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_DAYS = {"today": 0, "yesterday": 1}
_EXAMPLES = "2026-03-01, '2026-03-01 09:00', 2026-03-01T09:00:00+00:00, yesterday or '3 days ago'"


def now() -> datetime:
    """Return the present time in the local time zone."""
    return datetime.now(UTC).astimezone()


class TimeType(click.ParamType[datetime]):
    """A time, in the local time zone unless it has a UTC offset."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the time; note how it was read if the text does not say it all."""
        if isinstance(value, datetime):
            return value
        try:
            found = read_time(value, now())
        except (ValueError, OverflowError):
            self.fail(f"{value!r} must be a time such as {_EXAMPLES}.", param, ctx)
        if ctx is not None and found.isoformat() != value:
            option = param.opts[0] if param is not None else ""
            notes = ctx.meta.setdefault(READ_AS, [])
            notes.append(f"{option}: {value} is {found.isoformat(' ', 'seconds')}")
        return found


def read_time(text: str, at: datetime) -> datetime:
    """Return the time that a text names.

    Args:
        text: an ISO 8601 time or date, `now`, `today`, `yesterday`, or `3 days ago`. A date, today
            and yesterday mean the start of that day.
        at: the present time, in the zone of times without a UTC offset.

    Raises:
        ValueError: it is none of them.
        OverflowError: it is before year 1 or after year 9999.
    """
    words = " ".join(text.casefold().split())
    if words == "now":
        return at
    if words in _DAYS:
        return _start_of(at.date() - timedelta(days=_DAYS[words]))
    if match := _AGO.fullmatch(words):
        return _ago(1 if match[1].startswith("a") else int(match[1]), match[2], at)
    with suppress(ValueError):
        return _start_of(date.fromisoformat(text))
    found = datetime.fromisoformat(text)
    return found if found.utcoffset() is not None else found.astimezone()


def _ago(count: int, unit: str, at: datetime) -> datetime:
    if unit in _SHORT:
        return at - count * _SHORT[unit]
    # The clock shows the same time on another day, also when summer time began or ended between.
    return dates.shift(at.replace(tzinfo=None), -count, unit).astimezone()


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time()).astimezone()
