"""Dates named in questions and statements, in English.

Covers month names, with or without a day and a year, and ISO dates. An event of a given day may
be mentioned up to a week later, so the spans extend that far.
"""

from __future__ import annotations

import itertools
import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from graphmem import folding
from graphmem.english import quantities

Span = tuple[datetime, datetime]
"""Start and end."""

PAST_YEARS = 10
"""Number of past years to which a month without a year may refer."""
MAX_DATES = 8
"""Maximum number of dates read from a question."""
EARLIER, LATER = timedelta(days=1), timedelta(days=7)
"""Margins of a span: a day for time zones, and a week in which an event may be mentioned."""

MONTHS = {
    name: number for number, month in enumerate(quantities.MONTHS, 1) for name in (month, month[:3])
} | {"sept": 9}
# ASCII case folding: under Unicode rules the long s and the dotless i match s and i.
_MONTH = f"(?ai:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
_DAY = r"(?:(\d{1,2})(?:st|nd|rd|th)?)"
_WHEN = "(in|on|during|since|by|of|from|last|until|before|after)"
_NAMED = re.compile(
    rf"\b(?:{_DAY}\s+(?:of\s+)?|{_WHEN}\s+)?({_MONTH})\b\.?"
    rf"(?:,?\s+{_DAY}\b)?(?:,?\s+(\d{{4}})\b)?",
    re.I,
)
_ISO = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")

_YEAR_MONTHS, _WEEK_DAYS = 12, 7
_COUNTS = {"a": 1, "an": 1, "a couple of": 2, **{w: n for w, n in quantities.ONES.items() if n}}
_COUNT = rf"(\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_UNIT = r"(day|week|month|year)s?"
_BACK = (
    re.compile(rf"\b{_COUNT} {_UNIT} (?:ago|back|earlier)\b"),
    re.compile(rf"\bfor (?:the )?(?:last |past )?{_COUNT} {_UNIT}\b"),
)
_AHEAD = re.compile(rf"\b(?:in|within) {_COUNT} {_UNIT}\b")
_DAYS = {"yesterday": -1, "last night": -1, "tomorrow": 1}

_NOW = re.compile(r"\b(?:today|tonight|now|this morning|this afternoon|this evening)\b")

_CLOCK = re.compile(r"\bat ([01]?\d|2[0-3])(?::([0-5]\d))?(?: ?([ap])\.?m)?\b")
_NIGHT = re.compile(r"\b(?:last night|tonight)\b")
_LATE = re.compile(r"\b(?:afternoon|evening)\b")
_HALF_DAY, _SMALL_HOURS = 12, 5
"""Hours; those before the second belong to the night of the day before."""
_ROUND = re.compile(rf"\b(this|last|next) (week|month|year|{'|'.join(quantities.WEEKDAYS)})\b")
_WEEKDAY = re.compile(rf"\b({'|'.join(quantities.WEEKDAYS)})\b")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")


def date_spans(text: str, now: datetime) -> list[Span]:
    """Return the time spans that a text names, each from a day before to a week after.

    Days are those of the zone of `now`. A date without a year may be of the year of `now` or an
    earlier one.
    """
    spans: list[Span] = []
    for year, month, day in itertools.islice(named_dates(text), MAX_DATES):
        years = [year] if year is not None else range(now.year - PAST_YEARS, now.year + 1)
        spans += (span for y in years for span in _year_span(now, y, month, day))
    return spans


def named_dates(text: str) -> Iterator[tuple[int | None, int, int | None]]:
    """Yield year, month and day of each date that a text names; None for an omitted part."""
    for match in _ISO.finditer(text):
        yield int(match[1]), int(match[2]), int(match[3]) if match[3] else None
    for match in _NAMED.finditer(text):
        before, when, month, after, year = match.groups()
        day = before or after
        # "may" and "march" are also common words.
        if month.lower() in {"may", "march"} and not (day or year or when):
            continue
        yield int(year) if year else None, MONTHS[month.lower()], int(day) if day else None


def _year_span(now: datetime, year: int, month: int, day: int | None) -> Iterator[Span]:
    try:
        start = _start(now, year, month, day)
        if day is not None:
            end = start + timedelta(days=1)
        else:
            end = start.replace(year=year + month // 12, month=month % 12 + 1)
        yield (start - EARLIER).astimezone(UTC), (end + LATER).astimezone(UTC)
    except (ValueError, OverflowError):
        return  # The date does not exist.


_DAYS |= {"day before yesterday": -2, "day after tomorrow": 2}
_DAY_PATTERN = re.compile(rf"\b({'|'.join(_DAYS)})\b")


def validity_start(phrase: str, said_at: datetime) -> datetime | None:
    """Return the start of the validity that a phrase such as "since May" expresses.

    Args:
        said_at: timestamp of the turn, by the clock of its zone.

    Returns:
        The start of the day, week, month or year that the words name in that zone, as UTC; later
        than `said_at` if they refer to the future. None if they name no known date.
    """
    text = folding.fold(phrase)
    try:
        starts = (read(text, said_at) for read in _READERS)
        return next((at.astimezone(UTC) for at in starts if at is not None), None)
    except (OverflowError, ValueError):
        return None  # Before year 1, or a date that does not exist.


def _read_near_day(text: str, said_at: datetime) -> datetime | None:
    match = _DAY_PATTERN.search(text)
    if match is None and _NOW.search(text) is None:
        return None
    day = _midnight(said_at) + timedelta(days=_DAYS[match[1]] if match else 0)
    if clock := _CLOCK.search(text):
        minutes = int(clock[2] or 0)
        return day + timedelta(hours=_hour(int(clock[1]), clock[3], text), minutes=minutes)
    return day if match else said_at


def _hour(hour: int, half: str | None, text: str) -> int:
    """Return the hours since the start of the day that an hour means: 9 tonight is 21."""
    if half is not None or _LATE.search(text):
        return hour % _HALF_DAY + (0 if half == "a" else _HALF_DAY)
    if _NIGHT.search(text) and hour <= _HALF_DAY:
        return hour + (2 if hour < _SMALL_HOURS else 1) * _HALF_DAY
    return hour


def _read_count(text: str, said_at: datetime) -> datetime | None:
    for pattern in _BACK:
        if match := pattern.search(text):
            return shift(said_at, -_count(match[1]), match[2])
    match = _AHEAD.search(text)
    return shift(said_at, _count(match[1]), match[2]) if match else None


def _read_relative(text: str, said_at: datetime) -> datetime | None:
    match = _ROUND.search(text)
    if match is None:
        return None
    direction, unit = match.groups()
    steps = {"last": -1, "this": 0, "next": 1}[direction]
    if unit in quantities.WEEKDAYS:
        return _nearest_weekday(unit, said_at, steps)
    start = _midnight(said_at)
    if unit == "week":
        start -= timedelta(days=start.weekday())
    else:
        start = start.replace(day=1, month=1 if unit == "year" else start.month)
    return shift(start, steps, unit)


def _read_date(text: str, said_at: datetime) -> datetime | None:
    for year, month, day in named_dates(text):
        start = _start(said_at, said_at.year if year is None else year, month, day)
        if year is None and start > said_at:
            return _start(said_at, said_at.year - 1, month, day)
        return start
    return None


def _read_weekday(text: str, said_at: datetime) -> datetime | None:
    match = _WEEKDAY.search(text)
    return _nearest_weekday(match[1], said_at, 0) if match else None


def _read_year(text: str, said_at: datetime) -> datetime | None:
    match = _YEAR.search(text)
    return datetime(int(match[1]), 1, 1, tzinfo=said_at.tzinfo) if match else None


_READERS: tuple[Callable[[str, datetime], datetime | None], ...] = (
    _read_near_day,
    _read_relative,
    _read_count,
    _read_date,
    _read_weekday,
    _read_year,
)
"""Readers in order; the first that recognises the words is used."""


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS[word]


def _midnight(at: datetime) -> datetime:
    # The first one, if the clock shows midnight twice.
    return at.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def _start(said_at: datetime, year: int, month: int, day: int | None) -> datetime:
    return datetime(year, month, 1 if day is None else day, tzinfo=said_at.tzinfo)


def shift(at: datetime, steps: int, unit: str) -> datetime:
    """Return the time `steps` units later; the 31st becomes the last day of a shorter month."""
    if unit in {"day", "week"}:
        return at + timedelta(days=steps * (_WEEK_DAYS if unit == "week" else 1))
    months = at.year * _YEAR_MONTHS + at.month - 1
    months += steps * (_YEAR_MONTHS if unit == "year" else 1)
    year, month = months // _YEAR_MONTHS, months % _YEAR_MONTHS + 1
    return at.replace(year=year, month=month, day=min(at.day, monthrange(year, month)[1]))


def _nearest_weekday(name: str, said_at: datetime, steps: int) -> datetime:
    """Return the latest such weekday; with `steps` -1 before today, with 1 the next one."""
    today = _midnight(said_at)
    since = (today.weekday() - quantities.WEEKDAYS.index(name)) % _WEEK_DAYS
    if steps > 0:
        return today + timedelta(days=_WEEK_DAYS - since)
    return today - timedelta(days=since or (_WEEK_DAYS if steps < 0 else 0))
