"""Starts of validity from phrases such as `since May`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.english.dates import validity_start

SAID = datetime(2024, 6, 12, 15, 30, tzinfo=UTC)
"""A Wednesday."""


def day(year: int, month: int, of: int = 1) -> datetime:
    return datetime(year, month, of, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("since May", day(2024, 5)),
        ("Since may", day(2024, 5)),
        ("since August", day(2023, 8)),
        ("since May 2021", day(2021, 5)),
        ("in March", day(2024, 3)),
        ("on 5 May", day(2024, 5, 5)),
        ("since the 13th of June", day(2023, 6, 13)),
        ("on June 12", day(2024, 6, 12)),
        ("as of 2024-02-03", day(2024, 2, 3)),
        ("since 2019", day(2019, 1)),
        ("in 2019", day(2019, 1)),
        ("yesterday", day(2024, 6, 11)),
        ("last night", day(2024, 6, 11)),
        ("today", SAID),
        ("since this morning", SAID),
        ("last week", day(2024, 6, 3)),
        ("this week", day(2024, 6, 10)),
        ("last month", day(2024, 5)),
        ("this month", day(2024, 6)),
        ("last year", day(2023, 1)),
        ("since Monday", day(2024, 6, 10)),
        ("since Wednesday", day(2024, 6, 12)),
        ("last Wednesday", day(2024, 6, 5)),
        ("two weeks ago", SAID - timedelta(days=14)),
        ("3 days ago", SAID - timedelta(days=3)),
        ("a month ago", SAID.replace(month=5)),
        ("for two years", SAID.replace(year=2022)),
        ("for the last three months", SAID.replace(month=3)),
        ("a couple of  years ago", SAID.replace(year=2022)),
        # What lies ahead is told from what has creation_order.
        ("tomorrow", day(2024, 6, 13)),
        ("next week", day(2024, 6, 17)),
        ("next month", day(2024, 7)),
        ("next year", day(2025, 1)),
        ("next Monday", day(2024, 6, 17)),
        ("next Wednesday", day(2024, 6, 19)),
        ("in two weeks", SAID + timedelta(days=14)),
        ("from May 2030", day(2030, 5)),
    ],
)
def test_the_instant_that_words_name(words: str, expected: datetime) -> None:
    assert validity_start(words, SAID) == expected


@pytest.mark.parametrize(
    "words",
    ["", "since the war", "lately", "maybe", "since 30 February", "since I was a child", "🙂"],
)
def test_words_that_name_no_instant(words: str) -> None:
    assert validity_start(words, SAID) is None


def test_the_last_day_of_a_shorter_month() -> None:
    assert validity_start("a month ago", datetime(2024, 3, 31, tzinfo=UTC)) == day(2024, 2, 29)
    assert validity_start("for a year", datetime(2024, 2, 29, tzinfo=UTC)) == day(2023, 2, 28)


@given(st.text(max_size=60), st.datetimes(timezones=st.just(UTC)))
def test_no_words_raise(words: str, said_at: datetime) -> None:
    found = validity_start(words, said_at)
    assert found is None or found.tzinfo is not None


@given(
    st.sampled_from(
        ["since May", "in March", "on 5 May", "since Monday", "yesterday", "last week"]
    ),
    st.floats(-2e9, 4e9).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
)
def test_what_has_begun_has_begun_within_a_year(words: str, said_at: datetime) -> None:
    found = validity_start(words, said_at)
    assert found is not None
    assert timedelta() <= said_at - found <= timedelta(days=366)
