"""Days, months and years that a text names, such as 2026-05, May 2026 or yesterday."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from graphmem.english import dates

_DIGITS = re.compile(r"(\d{4})(?:([-/])(\d{1,2})(?:\2(\d{1,2}))?)?")
_DAY_OF = r"(\d{1,2})(?:st|nd|rd|th)?"
_WORDS = re.compile(rf"(?:{_DAY_OF}\.? (?:of )?)?([a-z]+)\.?(?: {_DAY_OF})?,? (\d{{4}})")
_NEAR_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}


def span(text: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the start of the day, month or year that a text names, and that of the next one.

    Args:
        text: the text, in any case.
        now: the present time, by the clock to read it by.

    Raises:
        ValueError: the text names none, or more than one.
        OverflowError: the next one is after year 9999.
    """
    text = " ".join(text.split()).lower()
    if text in _NEAR_DAYS:
        today = datetime.combine(now.date(), time(), now.tzinfo)
        day = dates.shift(today, _NEAR_DAYS[text], "day")
        return day, dates.shift(day, 1, "day")
    if found := _DIGITS.fullmatch(text):
        year, _, month, day_of = found.groups()
    elif (found := _WORDS.fullmatch(text)) and not (found[1] and found[3]):
        year, month, day_of = found[4], str(dates.MONTHS.get(found[2], 0)), found[1] or found[3]
    else:
        start = datetime.combine(date.fromisoformat(text), time(), now.tzinfo)
        return start, dates.shift(start, 1, "day")
    start = datetime(int(year), int(month or 1), int(day_of or 1), tzinfo=now.tzinfo)
    return start, dates.shift(start, 1, "day" if day_of else "month" if month else "year")


def last_moment(text: str, now: datetime) -> datetime | None:
    """Return the end of the day, month or year that a text names; None if it has not ended."""
    start, after = span(text, now)
    return None if start <= now < after else after - timedelta(microseconds=1)
