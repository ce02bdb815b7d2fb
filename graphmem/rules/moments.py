"""The pair of times of a read: made ready for a query, and what an answer at it is worth."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import AsOf
from graphmem.rules.drafts import SKEW

BEGINNING, FOREVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
"""Bounds that shut nothing out."""
LONGEST = timedelta(seconds=30)
"""How long after an event is recorded its transaction may still be under way; no setting allows
more, whichever client wrote it."""


def time_bounds(as_of: AsOf | None) -> dict[str, datetime]:
    """Return `valid` and `known` as parameters; what is left open shuts nothing out."""
    asked = as_of or AsOf()
    return {"valid": asked.valid or FOREVER, "known": asked.known or FOREVER}


def after(at: datetime) -> datetime:
    """Return the next instant that can be told from `at`: they are kept to the microsecond."""
    return at + min(timedelta(microseconds=1), FOREVER - at)


def refuse_future(as_of: AsOf | None, now: datetime) -> None:
    """Refuse to say what will be known.

    Args:
        as_of: the pair of times of a read.
        now: the server's clock at that read.

    Raises:
        InvalidInputError: `known` lies in the future.
    """
    if as_of is not None and as_of.known is not None and as_of.known > now + SKEW:
        raise InvalidInputError(
            f"known: {as_of.known.isoformat()} lies in the future; nobody knows yet what will be.",
            hint="Leave `known` out to see everything; what is to come is asked for by `valid`.",
        )


def is_provisional(as_of: AsOf, now: datetime) -> bool:
    """Return whether an answer may still change although `known` is given.

    Args:
        as_of: the pair of times of a read.
        now: the server's clock at that read.

    Raises:
        InvalidInputError: `known` lies in the future.
    """
    refuse_future(as_of, now)
    return as_of.known is not None and as_of.known > now - LONGEST


def missing(memory_id: str, as_of: AsOf | None) -> NotFoundError:
    """Return the error of a read that found no such memory."""
    if as_of is None:
        return NotFoundError(f"No memory {memory_id!r}.")
    return NotFoundError(
        f"No memory {memory_id!r} at that time.",
        hint="Nothing visible had this id then; `history` without a time shows since when.",
    )
