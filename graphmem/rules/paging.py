"""Cursors: where a page ended, as one opaque word."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

from graphmem.errors import InvalidInputError


def cursor(at: datetime, last_id: str) -> str:
    """Return the cursor of the row that a page ended with."""
    return _word(f"{at.isoformat()} {last_id}")


def position(text: str | None) -> tuple[datetime | None, str | None]:
    """Return where a cursor points; the beginning for None.

    Raises:
        InvalidInputError: `cursor` did not make it.
    """
    if text is None:
        return None, None
    try:
        at, last_id = _plain(text).split(" ", 1)
        place = datetime.fromisoformat(at).astimezone(UTC), last_id
    except (AttributeError, OverflowError, ValueError):
        place = None
    # Many words can be decoded to the same place; only the one that `cursor` makes is taken.
    if place is None or cursor(*place) != text:
        raise _none()
    return place


def keyed(*key: str) -> str:
    """Return the cursor of the row that a page ended with, where rows stand in order of a key."""
    return _word(json.dumps(key, ensure_ascii=False))


def key(text: str | None, parts: int) -> tuple[str, ...]:
    """Return the key that a cursor points to; empty texts, which come first, for None.

    Args:
        text: the cursor.
        parts: of the key.

    Raises:
        InvalidInputError: `keyed` did not make it.
    """
    if text is None:
        return ("",) * parts
    try:
        found = json.loads(_plain(text))
    except (AttributeError, RecursionError, ValueError):
        found = None
    whole = isinstance(found, list) and len(found) == parts
    if not whole or not all(isinstance(part, str) for part in found) or keyed(*found) != text:
        raise _none()
    return tuple(found)


def _word(plain: str) -> str:
    return base64.urlsafe_b64encode(plain.encode()).decode()


def _plain(text: str) -> str:
    return base64.b64decode(text.encode(), b"-_", validate=True).decode()


def _none() -> InvalidInputError:
    return InvalidInputError(
        "This is no cursor.", hint="Pass the `next_cursor` of the page before, unchanged."
    )
