"""Cursors: where a page ended, as one opaque word."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

from graphmem.errors import InvalidInputError


def cursor(at: datetime, last_id: str) -> str:
    """Return the cursor of the row that a page ended with."""
    return base64.urlsafe_b64encode(f"{at.isoformat()} {last_id}".encode()).decode()


def position(text: str | None) -> tuple[datetime | None, str | None]:
    """Return where a cursor points; the beginning for None.

    Raises:
        InvalidInputError: `cursor` did not make it.
    """
    if text is None:
        return None, None
    try:
        plain = base64.b64decode(text.encode(), b"-_", validate=True).decode()
        at, last_id = plain.split(" ", 1)
        place = datetime.fromisoformat(at).astimezone(UTC), last_id
    except (AttributeError, OverflowError, ValueError):
        place = None
    # Many words can be decoded to the same place; only the one that `cursor` makes is taken.
    if place is None or cursor(*place) != text:
        raise InvalidInputError(
            "This is no cursor.", hint="Pass the `next_cursor` of the page before, unchanged."
        )
    return place
