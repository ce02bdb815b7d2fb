"""Reads during deletion: which errors are retried, and which are passed on."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from graphmem.errors import NotFoundError, ReadConflictError
from graphmem.ports import run_now
from graphmem.rules import identity, read_options
from graphmem.rules.conflicts import MAX_ATTEMPTS, retry_conversion, transaction_attempts

Read = Callable[[], Coroutine[Any, Any, object]]


def in_a_transaction(read: Read) -> Read:
    """Return a read that is retried as a transaction is."""

    async def attempted() -> object:
        for attempt in transaction_attempts():
            with attempt:
                return await read()
        raise AssertionError

    return attempted


def test_what_no_record_can_be_made_of_is_read_again() -> None:
    rows = iter([None, None, "a text"])

    @retry_conversion
    async def read() -> str:
        return identity.normalise(next(rows))  # type: ignore[arg-type]

    assert run_now(read()) == "a text"


@pytest.mark.parametrize("run", [retry_conversion, in_a_transaction])
def test_damage_is_found_each_time(run: object) -> None:
    reads = []

    async def read() -> str:
        reads.append(1)
        return identity.normalise(None)  # type: ignore[arg-type]

    with pytest.raises(ReadConflictError, match="damaged") as failed:
        run_now(run(read)())  # type: ignore[operator]
    assert (len(reads), type(failed.value.__cause__)) == (MAX_ATTEMPTS, TypeError)


def test_what_the_standard_library_makes_of_a_row_is_read_again() -> None:
    rows = iter(["b", "bjE="])

    @retry_conversion
    async def read() -> object:
        return read_options._decode(next(rows))

    assert run_now(read()) == "n1"


@pytest.mark.parametrize("run", [retry_conversion, in_a_transaction])
def test_errors_of_a_callers_own_code_reach_the_caller_at_once(run: object) -> None:
    """For example those of an embedder, which runs inside a recall."""
    reads = []

    async def read() -> object:
        reads.append(1)
        return json.loads("{")

    with pytest.raises(json.JSONDecodeError):
        run_now(run(read)())  # type: ignore[operator]
    assert len(reads) == 1


def test_errors_of_this_package_are_not_read_again() -> None:
    reads = []

    @retry_conversion
    async def read() -> None:
        reads.append(1)
        raise NotFoundError("There is none.")

    with pytest.raises(NotFoundError):
        run_now(read())
    assert len(reads) == 1
