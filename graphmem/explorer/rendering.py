"""Rendering of the pages: stored text is always escaped, isolated and shown without controls."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from graphmem.explorer.status import MARKS
from graphmem.rules import display
from graphmem.rules.links import address
from graphmem.version import __version__

ASSETS: Mapping[str, str] = {
    "explorer.css": "text/css",
    "explorer.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
"""Files that pages load, and their types."""
LONG = 400
"""Characters of a text in a list; its own page shows all."""
POLICY = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("style", "script", "img")),
        *("form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"),
    )
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Not `no-referrer`: browsers would then send forms with the origin `null`.
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
}
"""Headers of every page and file."""


@cache
def asset(name: str) -> bytes:
    """Return a file that pages load."""
    return (resources.files("graphmem.explorer") / "assets" / name).read_bytes()


def page(template: str, /, **values: Any) -> str:
    """Return a page as HTML.

    Args:
        template: name of its template.
        values: what the template shows.
    """
    return _templates().get_template(f"{template}.html").render(values)


@cache
def _templates() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("graphmem.explorer"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "day": _day,
        "minute": _minute,
        "number": _number,
        "signed": _signed,
        "short": _short,
        "words": _words,
        "counted": _counted,
    }
    found.globals |= {"MARKS": MARKS, "address": address, "asset_version": __version__}
    return found


def _shown(value: Any) -> Any:
    """Return a text with its invisible and controlling characters as escapes."""
    return display.block(value) if isinstance(value, str) and not _is_markup(value) else value


def _is_markup(value: str) -> bool:
    return isinstance(value, Markup)


def _day(at: datetime | None) -> str:
    return "" if at is None else f"{at.day} {at:%b %Y}"


def _minute(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def _signed(value: float, digits: int = 2) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def _short(text: str, length: int = LONG) -> str:
    line = " ".join(text[: length * 4].split())
    return line if len(line) <= length and len(text) <= length * 4 else f"{line[: length - 1]}…"


def _words(name: str) -> str:
    """Return the name of a predicate or a status as words."""
    return name.replace("_", " ")


def _counted(n: int, singular: str, plural: str | None = None) -> str:
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"
