"""Options that several commands share, and times: ISO 8601, plain dates, and `3 days ago`."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from graphmem import folding
from graphmem.english import dates, spans

READ_AS = "graphmem.times"
"""Key of the notes about incomplete times in the `meta` of a context."""
_AGO = re.compile(r"(\d{1,4}|an?) (minute|hour|day|week|month|year)s? ago")
_SHORT = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_ENDS = frozenset({"until", "as_of__valid", "as_of__known"})
"""Parameters of which a day, a month or a year means its end."""
_EXAMPLES = "2026-03-01, '2026-03-01 09:00', 2026-03-01T09:00:00+00:00, yesterday or '3 days ago'"

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")

SESSION = click.option(
    "--session",
    metavar="NAME",
    help="Session.  [default: this terminal's of today]",
)

tools = click.option(
    "--tools",
    "profile",
    type=click.Choice(["core", "full"]),
    default="core",
    show_default=True,
    help="Tools to offer over MCP: those of everyday use, or all.",
)


def now() -> datetime:
    """Return the present time by the clock of GRAPHMEM_TIME_ZONE, else of the machine."""
    from graphmem.model import zones

    return zones.local(datetime.now(UTC), _zone())


def _zone() -> str | None:
    from graphmem.settings import Settings

    return Settings.load().time_zone


class TimeType(click.ParamType[datetime]):
    """A time; without a UTC offset, in GRAPHMEM_TIME_ZONE or the zone of the machine."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the time; note how it was read if the text does not say it all."""
        if isinstance(value, datetime):
            return value
        try:
            is_end = param is not None and param.name in _ENDS
            found = read_time(value, now(), _zone(), end=is_end)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} must be a time such as {_EXAMPLES}.", param, ctx)
        if ctx is not None and found.isoformat() != value:
            option = param.opts[0] if param is not None else ""
            notes = ctx.meta.setdefault(READ_AS, [])
            notes.append(f"{option}: {value} is {found.isoformat(' ', 'seconds')}")
        return found


def read_time(text: str, at: datetime, zone: str | None = None, *, end: bool = False) -> datetime:
    """Return the time that a text names.

    Args:
        text: an ISO 8601 time, `now`, `3 days ago`, or a day, month or year: a date, 2026-05,
            `yesterday`.
        at: the present time, by the clock of the zone.
        zone: zone of times without a UTC offset; None: the machine's.
        end: whether a day, month or year means its end, and now if it has not ended; else its
            start.

    Raises:
        ValueError: it is none of them.
        OverflowError: it is before year 1 or after year 9999.
    """
    from graphmem.model import zones

    words = folding.fold(text)
    if words == "now":
        return at
    if match := _AGO.fullmatch(words):
        count, unit = 1 if match[1].startswith("a") else int(match[1]), match[2]
        if unit in _SHORT:
            return (at.astimezone(UTC) - count * _SHORT[unit]).astimezone(at.tzinfo)
        # The clock shows the same time on another day, also if summer time began or ended between.
        return zones.of_clock(dates.shift(at.replace(tzinfo=None), -count, unit), zone)
    today = at.replace(tzinfo=None)
    with suppress(ValueError):
        if not end:
            return zones.of_clock(spans.span(words, today)[0], zone)
        last = spans.last_moment(words, today)
        return at if last is None else zones.of_clock(last, zone)
    shown = datetime.fromisoformat(text)
    return shown if shown.utcoffset() is not None else zones.of_clock(shown, zone)


def stacked(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command; help lists them in this order."""

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


CONNECTION = stacked(
    click.option("--uri", help="URI of Neo4j.  [default: GRAPHMEM_URI]"),
    click.option("--user", metavar="NAME", help="User of Neo4j.  [default: GRAPHMEM_USER]"),
    click.option("--password", is_flag=True, help="Ask for the password of the user."),
    JSON,
)
TENANT = stacked(
    click.option("--scope", help="Scope.  [default: GRAPHMEM_SCOPE]"),
    click.option("--tenant", help="Tenant.  [default: GRAPHMEM_TENANT]"),
)


def output(text: str, path: click.Path = FILE, *, required: bool = False) -> Callable[[F], F]:
    """Return the option --output."""
    return click.option("-o", "--output", type=path, required=required, help=text)


def listen(port: int) -> Callable[[F], F]:
    """Return the options of a command that serves HTTP."""
    return stacked(
        click.option("--host", default="127.0.0.1", help="Address to listen on."),
        click.option(
            "--port",
            type=click.IntRange(0, 65_535),
            default=port,
            help="Port to listen on; 0 for a free one.",
        ),
        click.option(
            "--allow-host", multiple=True, metavar="NAME", help="Additional Host header to accept."
        ),
    )
