"""Cursors."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInputError
from graphmem.rules import read_options

instants = st.datetimes().map(lambda at: at.replace(tzinfo=UTC))


@given(at=instants, last_id=st.text(st.characters(codec="utf-8"), max_size=20))
def test_a_cursor_leads_back_to_its_row(at: datetime, last_id: str) -> None:
    assert read_options.parse_time_cursor(read_options.time_cursor(at, last_id)) == (at, last_id)


def test_no_cursor_is_the_beginning() -> None:
    assert read_options.parse_time_cursor(None) == (None, None)


@given(st.text())
def test_any_text_is_a_cursor_or_refused(text: str) -> None:
    try:
        at, last_id = read_options.parse_time_cursor(text)
    except InvalidInputError:
        return
    assert at is not None
    assert last_id is not None
    assert read_options.time_cursor(at, last_id) == text


def encode(plain: str) -> str:
    return base64.urlsafe_b64encode(plain.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AAAA",
        encode("2025-05-05T00:00:00+00:00"),
        encode("2025-05-05T00:00:00 m_1"),
        encode("2025-05-05 m_1"),
        encode("2025-05-05T00:00:00Z m_1"),
        encode("2025-05-05T02:00:00+02:00 m_1"),
        encode("0001-01-01T00:00:00+14:00 m_1"),
        encode("9999-12-31T23:59:59-12:00 m_1"),
        encode("2025-05-05T00:00:00+00:00 m_1") + "\n",
        encode("2025-05-05T00:00:00+00:00 m_1").rstrip("="),
        "\ud800",
        5,
        b"AAAA",
    ],
    ids=repr,
)
def test_what_no_page_gave_is_refused(text: Any) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_options.parse_time_cursor(text)
    assert caught.value.hint
    assert not text or str(text) not in str(caught.value)


def test_a_cursor_of_another_zone_is_the_same_place() -> None:
    at = datetime(2025, 5, 5, tzinfo=timezone(timedelta(hours=2)))
    assert read_options.parse_time_cursor(read_options.time_cursor(at.astimezone(UTC), "m_1")) == (
        at,
        "m_1",
    )


keys = st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=3)


@given(keys)
def test_a_cursor_leads_back_to_its_key(key: list[str]) -> None:
    assert read_options.parse_key_cursor(read_options.key_cursor(*key), len(key)) == tuple(key)


def test_no_cursor_comes_before_every_key() -> None:
    assert read_options.parse_key_cursor(None, 3) == ("", "", "")


@given(st.text())
def test_any_text_is_a_cursor_to_a_key_or_refused(text: str) -> None:
    try:
        found = read_options.parse_key_cursor(text, 2)
    except InvalidInputError:
        return
    assert read_options.key_cursor(*found) == text


@pytest.mark.parametrize(
    "plain",
    ['["a"]', '["a", "b", "c"]', '["a", 1]', '["a","b"]', '{"a": "b"}', "null", "[" * 9_000],
)
def test_what_is_no_key_is_refused(plain: str) -> None:
    with pytest.raises(InvalidInputError):
        read_options.parse_key_cursor(encode(plain), 2)


def test_the_two_sorts_of_cursors_are_not_mixed_up() -> None:
    with pytest.raises(InvalidInputError):
        read_options.parse_key_cursor(
            read_options.time_cursor(datetime(2026, 1, 1, tzinfo=UTC), "m_1"), 2
        )
    with pytest.raises(InvalidInputError):
        read_options.parse_time_cursor(read_options.key_cursor("global", "alice"))
