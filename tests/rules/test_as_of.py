"""Reads as of a known time: provisional while a transaction may be open, fixed afterwards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphmem.errors import InvalidInputError
from graphmem.model import AsOf
from graphmem.rules.read_options import (
    FOREVER,
    MAX_OPEN_TRANSACTION,
    check_not_future,
    is_provisional,
    memory_not_found,
    time_bounds,
)
from graphmem.settings import Settings

NOW = datetime(2026, 3, 1, tzinfo=UTC)
seconds = st.integers(-(10**6), 10**6).map(lambda n: timedelta(seconds=n))


def test_what_is_left_out_shuts_nothing_out() -> None:
    assert time_bounds(None) == time_bounds(AsOf()) == {"valid": FOREVER, "known": FOREVER}
    assert time_bounds(AsOf(valid=NOW)) == {"valid": NOW, "known": FOREVER}
    assert time_bounds(AsOf(known=NOW)) == {"valid": FOREVER, "known": NOW}


@given(seconds)
def test_what_was_known_can_be_repeated_when_every_transaction_has_ended(ago: timedelta) -> None:
    as_of = AsOf(known=NOW - ago)
    if ago < timedelta(minutes=-5):
        with pytest.raises(InvalidInputError):
            is_provisional(as_of, NOW)
        with pytest.raises(InvalidInputError):
            check_not_future(as_of, NOW)
    else:
        check_not_future(as_of, NOW)
        assert is_provisional(as_of, NOW) is (ago < timedelta(seconds=30))


@given(seconds)
def test_any_day_may_be_asked_for(ahead: timedelta) -> None:
    for as_of in (AsOf(), AsOf(valid=NOW + ahead)):
        check_not_future(as_of, NOW)
        assert not is_provisional(as_of, NOW)
    check_not_future(None, NOW)


def test_no_setting_allows_a_longer_transaction() -> None:
    longest = Settings(transaction_timeout_s=MAX_OPEN_TRANSACTION.total_seconds())
    assert timedelta(seconds=longest.transaction_timeout_s) == MAX_OPEN_TRANSACTION
    with pytest.raises(ValidationError):
        Settings(transaction_timeout_s=MAX_OPEN_TRANSACTION.total_seconds() + 0.1)


def test_what_was_not_there_then_says_so() -> None:
    now, then = memory_not_found("m_1", None), memory_not_found("m_1", AsOf())
    assert "m_1" in now.message
    assert "m_1" in then.message
    assert now.hint != then.hint
