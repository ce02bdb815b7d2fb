"""The clock of tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from graphmem.errors import InvalidInputError
from graphmem.testing import FrozenClock


def test_it_moves_only_when_told() -> None:
    clock = FrozenClock()
    start = clock.now()
    assert clock.now() == start
    clock.advance(timedelta(days=1))
    assert clock.now() - start == timedelta(days=1)


def test_it_tells_utc() -> None:
    clock = FrozenClock(datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now() == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert clock.now().tzinfo is UTC


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="time zone"):
        FrozenClock(datetime(2026, 3, 1))  # noqa: DTZ001
