"""Retry of reads that conflict with a concurrent deletion.

A node that another transaction deletes after it was matched has no properties when they are read,
or fails the query. A row without properties cannot be converted to a record. Rows of a damaged node
fail each time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from traceback import walk_tb
from typing import Any, ParamSpec, TypeVar

from graphmem.errors import GraphmemError, ReadConflictError

P = ParamSpec("P")
T = TypeVar("T")

MAX_ATTEMPTS = 5
"""Number of attempts before a read fails."""
CONVERSION_ERRORS = (TypeError, ValueError, AttributeError, LookupError)
"""Exceptions raised by rows without properties; they include the errors of pydantic."""
CONVERTING_PACKAGES = ("graphmem", "pydantic")
"""Packages whose code converts rows to records."""


def transaction_attempts() -> Iterator[AbstractContextManager[object]]:
    """Yield a context manager for each attempt of a transaction; return from the first that works.

    Each of them suppresses the errors of nodes that are being deleted; the last one raises
    ReadConflictError.
    """
    return _attempts(of_transaction=True)


def retry_conversion(
    operation: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return a read-only operation that is retried while its rows cannot be converted.

    Its transactions already retry; this covers the conversion of rows after them.
    """

    @wraps(operation)
    async def again(*args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in _attempts(of_transaction=False):
            with attempt:
                return await operation(*args, **kwargs)
        raise ReadConflictError

    return again


def _attempts(*, of_transaction: bool) -> Iterator[AbstractContextManager[object]]:
    for left in reversed(range(MAX_ATTEMPTS)):
        yield _attempt(is_last=not left, of_transaction=of_transaction)


@contextmanager
def _attempt(*, is_last: bool, of_transaction: bool) -> Iterator[None]:
    try:
        yield
    except GraphmemError as error:
        if is_last or not (of_transaction and isinstance(error, ReadConflictError)):
            raise
    except CONVERSION_ERRORS as error:
        if not _is_of_rows(error):
            raise
        if is_last:
            raise ReadConflictError(
                "The rows have no properties: their nodes are being deleted, or are damaged."
            ) from error


def _is_of_rows(error: BaseException) -> bool:
    """Return whether the code that failed converts rows to records.

    Embedders, models and callbacks of a caller also run inside a read; their errors are passed on.
    Frames of the standard library are skipped, because both sides use it.
    """
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    packages = [module.partition(".")[0] for module in modules]
    others = [package for package in packages if package not in sys.stdlib_module_names]
    return bool(others) and others[-1] in CONVERTING_PACKAGES
