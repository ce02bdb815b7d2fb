"""Times as other programs write them: names of their fields, and their forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from graphmem import folding
from graphmem.model import zones

KEYS = (
    *("at", "timestamp", "timestamputc", "timestampms", "createdat", "createtime", "created"),
    *("createdtime", "createdon", "createddate", "createddatetime", "creationtime", "sentat"),
    *("senttime", "sentdatetime", "sentdate", "sent", "postedat", "publishedat", "occurredat"),
    *("saidat", "insertedat", "messagetime", "messagetimestamp", "datetime", "date", "dateutc"),
    *("dateunixtime", "unixtime", "epoch", "epochms", "time", "ts"),
)
"""Names of the time of a message, as `key` returns them, in order of preference."""
EXAMPLE = "2026-03-01T09:00:00+00:00"
_UNITS = (1, 1_000, 1_000_000, 1_000_000_000)
"""Units of a number since 1970, per second."""
_SPAN = range(631_152_000, 4_102_444_800)
"""Seconds since 1970 of the years 1990 to 2099; spans in the four units do not overlap."""
_FAR_YEAR = re.compile(r"[+-]?\d{5,}-|-|0000-")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PLACE = re.compile(r"(?P<text>.*\S)\s*\[(?P<zone>[\w/+:-]+)\]")
_UTC = re.compile(r"(?<!\s)\s*(?:UTC|GMT)$", re.IGNORECASE)
_SLASHED = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})\b")


def key(name: str) -> str:
    """Return the name of a field without case, underscores and hyphens."""
    return re.sub(r"[\s_-]", "", folding.fold(name))


def of_record(record: Mapping[str, object]) -> Iterator[str]:
    """Yield the names of the fields that may hold the time of a record, the preferred first."""
    names = {key(name): name for name in record if record[name] not in (None, "")}
    return (names[one] for one in KEYS if one in names)


def parse(value: object, zone: str | None) -> datetime:
    """Return the time that a value of another program states.

    Args:
        value: ISO 8601 or RFC 2822 text; or seconds, milli-, micro- or nanoseconds since 1970 as a
            number, a text, or the only entry of a map, as databases export them.
        zone: zone of a text without one; None: the machine's.

    Raises:
        ValueError: it states none; contains the reason.
    """
    if isinstance(value, Mapping):
        value = next((value[name] for name in ("$date", "seconds", "_seconds") if name in value), 0)
    if (number := _number(value)) is not None:
        return _since_1970(number)
    if not isinstance(value, str):
        raise ValueError(f"must be a text or a number, such as {EXAMPLE}")
    text = value.strip()
    if _FAR_YEAR.match(text):
        raise ValueError("is before the year 1 or after the year 9999")
    if match := _PLACE.fullmatch(text):
        text, zone = match["text"], match["zone"]
    text = _UTC.sub("+00:00", _SLASHED.sub(_dashed, text))
    found = _iso(text) or _mailed(value)
    if found is None:
        shown = value if len(value) <= len(EXAMPLE) else value[: len(EXAMPLE)] + "…"
        raise ValueError(f"{shown!r} is not a time; write it like {EXAMPLE}")
    try:
        aware = found if found.utcoffset() is not None else zones.of_clock(found, zone)
        aware.astimezone(UTC)
    except OverflowError:
        raise ValueError("is before the year 1 or after the year 9999 in UTC") from None
    return aware


def _number(value: object) -> float | None:
    if isinstance(value, str):
        text = value.strip()
        # Eight digits are a date.
        is_number = _NUMBER.fullmatch(text) is not None and len(text) != len("20260301")
        return float(text) if is_number else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _since_1970(number: float) -> datetime:
    for unit in _UNITS:
        if _SPAN.start * unit <= number < _SPAN.stop * unit:
            return datetime.fromtimestamp(number / unit, UTC)
    raise ValueError(f"must be a time of the years 1990 to 2099, such as {EXAMPLE}")


def _dashed(match: re.Match[str]) -> str:
    return f"{match[1]}-{match[2]:0>2}-{match[3]:0>2}"


def _iso(text: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


def _mailed(text: str) -> datetime | None:
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        return parsedate_to_datetime(text)
    return None
