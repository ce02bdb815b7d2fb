"""Time zones: that of a sender's clock, of the settings, or of the machine."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast
from zoneinfo import ZoneInfo

from pydantic import BaseModel

T = TypeVar("T")

_DATE = "2000-01-01T00:00"
_LOCALTIME = Path("/etc/localtime")
EXAMPLES = "an IANA time zone such as Europe/Berlin, or an offset such as +02:00"


def zone(name: str) -> tzinfo:
    """Return the time zone of an IANA name, or of an offset such as `+05:45`.

    Raises:
        ValueError: there is none.
    """
    try:
        if name[:1] in {"+", "-"}:
            found = datetime.fromisoformat(_DATE + name).tzinfo
            return found if found is not None else UTC
        return ZoneInfo(name)
    except (ValueError, LookupError, OSError):
        raise ValueError(f"must be {EXAMPLES}, not {name[:40]!r}") from None


def checked(name: str) -> str:
    """Return the name of a time zone.

    Raises:
        ValueError: there is no such zone.
    """
    zone(name)
    return name


def stated(at: object) -> str | None:
    """Return the zone that a time states: its offset, or its IANA name; None without one.

    UTC states none: programs write it whatever the zone of their user.
    """
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at.strip())
        except ValueError:
            return None
    if not isinstance(at, datetime):
        return None
    name, offset = getattr(at.tzinfo, "key", None), at.utcoffset()
    if name in {None, "UTC"}:
        return _offset(at) if offset else None
    return str(name)


def of_sender(at: datetime, own: str | None, default: str | None) -> str:
    """Return the zone in which the words of a message are read.

    Args:
        at: the time of the message.
        own: the zone that it states; None if it states none.
        default: the zone of the settings; None: the machine's.

    Returns:
        `own`; if it is only an offset that the default zone has at that time, the default zone,
        whose offset changes with the season.
    """
    usual = default or machine_zone() or _offset(at.astimezone())
    if own is None:
        return usual
    is_usual = own[0] in "+-" and local(at, own).utcoffset() == local(at, usual).utcoffset()
    return usual if is_usual else own


def local(at: datetime, name: str | None) -> datetime:
    """Return a time by the clock of a zone; None: the machine's.

    A time that no year between 1 and 9999 holds there stays as it is.
    """
    return _by(_clock(name), at)


def of_clock(shown: datetime, name: str | None) -> datetime:
    """Return the instant at which the clock of a zone shows a time; None: the machine's."""
    clock = _clock(name)
    return shown.astimezone() if clock is None else shown.replace(tzinfo=clock)


def in_zone(data: T, name: str | None) -> T:
    """Return a copy of records in which every time is by the clock of a zone.

    The times of a record with a zone of its own, such as a turn, are by the clock of that one.
    """
    return cast(T, _in_zone(data, _clock(name)))


def _in_zone(data: Any, clock: tzinfo | None) -> Any:
    if isinstance(data, datetime):
        return _by(clock, data)
    if isinstance(data, BaseModel):
        own = getattr(data, "time_zone", None)
        by = zone(own) if own else clock
        return data.model_copy(update={field: _in_zone(value, by) for field, value in data})
    if isinstance(data, dict):
        return {key: _in_zone(value, clock) for key, value in data.items()}
    if isinstance(data, list | tuple):
        parts = [_in_zone(part, clock) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    return data


def _clock(name: str | None) -> tzinfo | None:
    """Return the zone of a name, else of the machine; None if the machine's has no name."""
    known = name or machine_zone()
    return zone(known) if known else None


def _by(clock: tzinfo | None, at: datetime) -> datetime:
    try:
        return at.astimezone(clock)
    except (OverflowError, OSError):
        return at


def machine_zone() -> str | None:
    """Return the IANA name of the machine's time zone; None if it has none."""
    named = os.environ.get("TZ", "").removeprefix(":") or _system_zone()
    try:
        return checked(named) if named else None
    except ValueError:
        return None


@cache
def _system_zone() -> str:
    """Return the zone that the system is set to; "" if its file does not link to one."""
    # Kept, because each message asks for it; the C library reads it once a process, too.
    return str(_LOCALTIME.resolve()).partition("zoneinfo/")[2]


def _offset(at: datetime) -> str:
    """Return the offset of a time as text, such as `+05:45`."""
    return at.isoformat()[len(at.replace(tzinfo=None).isoformat()) :]
