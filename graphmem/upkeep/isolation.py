"""Write items together, and alone where that fails, so that one bad item spares the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from graphmem.errors import GraphAccessError, GraphmemError, UnavailableError
from graphmem.upkeep import FailedItem

T = TypeVar("T")
Row = Mapping[str, Any]


async def write_each(
    rows: Sequence[Row], write: Callable[[Sequence[Row]], Awaitable[Sequence[T]]]
) -> tuple[list[T], list[FailedItem]]:
    """Write rows in one transaction; if it is refused, write each row in its own.

    Args:
        rows: rows with an `id`.
        write: writes rows in one transaction and returns its results.

    Returns:
        The results, and the rows that were refused alone, too.

    Raises:
        UnavailableError, GraphAccessError: nothing can be written now.
    """
    try:
        return list(await write(rows)), []
    except (UnavailableError, GraphAccessError):
        raise
    except GraphmemError as error:
        if len(rows) == 1:
            return [], [FailedItem(id=rows[0]["id"], code=error.code, problem=str(error))]
    done: list[T] = []
    failed: list[FailedItem] = []
    for row in rows:
        written, refused = await write_each([row], write)
        done += written
        failed += refused
    return done, failed
