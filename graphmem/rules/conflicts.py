"""Reads beside deletion: made again, so that what a caller gets fits together.

A node that another transaction deletes after it was matched has no properties when they are read,
or fails the query. Without properties no record can be made of it. Nor can one be made of a
damaged node: that fails each time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from functools import wraps
from traceback import walk_tb
from typing import Any, ParamSpec, TypeVar

from graphmem.errors import GraphmemError, ReadConflictError

P = ParamSpec("P")
T = TypeVar("T")
Run = Callable[[], Coroutine[Any, Any, T]]

TRIES = 5
"""How often something is read before it fails."""
UNREADABLE = (TypeError, ValueError, AttributeError, LookupError)
"""What rows raise that lack properties; the errors of pydantic are among them."""
MAKERS = ("graphmem", "pydantic")
"""Packages whose code makes records of rows."""


async def settled(transaction: Run[T]) -> T:
    """Run a transaction again while what it reads is being deleted.

    Raises:
        ReadConflictError: it failed each time.
    """
    for _ in range(TRIES - 1):
        try:
            return await _converted(transaction)
        except ReadConflictError:
            continue
    return await _converted(transaction)


def consistent(
    operation: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return an operation that only reads, run again while no records can be made of its rows.

    Its transactions are run again already; this is for what it makes of rows afterwards.
    """

    @wraps(operation)
    async def again(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            try:
                return await operation(*args, **kwargs)
            except GraphmemError:
                raise
            except UNREADABLE as error:
                if not _is_of_rows(error):
                    raise
        return await _converted(lambda: operation(*args, **kwargs))

    return again


async def _converted(run: Run[T]) -> T:
    try:
        return await run()
    except GraphmemError:
        raise
    except UNREADABLE as error:
        if not _is_of_rows(error):
            raise
        raise ReadConflictError(
            "What was read has no properties: it is being deleted, or it is damaged."
        ) from error


def _is_of_rows(error: BaseException) -> bool:
    """Return whether the code that failed makes records of rows.

    Embedders, models and callbacks of a caller also run inside a read: their errors are his.
    Frames of the standard library are passed over, because both sides use it.
    """
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    packages = [module.partition(".")[0] for module in modules]
    others = [package for package in packages if package not in sys.stdlib_module_names]
    return bool(others) and others[-1] in MAKERS
