"""The days and months that a question names."""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.english import dates

NOW = datetime(2025, 6, 15, 12, tzinfo=UTC)
DAY = timedelta(days=1)
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
PIECES = [
    *"0123456789-/., \n٣५๗²",
    "May",
    "march ",
    "feb",
    "1st",
    " of ",
    "on ",
    "-02-0",
    "Aprıl",
    "auguſt",
]
HOSTILE = st.text() | st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def days(text: str, now: datetime = NOW) -> list[tuple[date, date]]:
    """Return the first and the last day that were named, without what is added around them."""
    return [
        ((start + dates.EARLIER).date(), (end - dates.LATER - DAY).date())
        for start, end in dates.date_spans(text, now)
    ]


def a_day(year: int, month: int, day: int) -> list[tuple[date, date]]:
    return [(date(year, month, day), date(year, month, day))]


def test_a_day_reaches_from_the_day_before_to_a_week_after() -> None:
    [(start, end)] = dates.date_spans("on 2025-05-05?", NOW)
    assert start == datetime(2025, 5, 4, tzinfo=UTC)
    assert end == datetime(2025, 5, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-07",
        "What was on 2023-02-07?",
        "(2023-02-07)",
        "7 February 2023",
        "7 February, 2023",
        "the 7th of February 2023",
        "February 7, 2023",
        "February 7th 2023",
        "FEB 7 2023",
        "feb. 7, 2023",
        "on 07 Feb 2023.",
        "7\tFebruary\n2023",
        "7 févr. 2023, that is 7 Feb 2023",
    ],
)
def test_a_day_is_written_in_many_ways(text: str) -> None:
    assert days(text) == a_day(2023, 2, 7)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in February 2024", date(2024, 2, 1), date(2024, 2, 29)),
        ("in February 2023", date(2023, 2, 1), date(2023, 2, 28)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("December, 2023", date(2023, 12, 1), date(2023, 12, 31)),
        ("Sept 2023", date(2023, 9, 1), date(2023, 9, 30)),
        ("May 2023", date(2023, 5, 1), date(2023, 5, 31)),
        ("march 2023", date(2023, 3, 1), date(2023, 3, 31)),
        ("2024-02-29", date(2024, 2, 29), date(2024, 2, 29)),
        ("2024-12-31", date(2024, 12, 31), date(2024, 12, 31)),
        ("1 January 2024", date(2024, 1, 1), date(2024, 1, 1)),
        ("0001-02-03", date(1, 2, 3), date(1, 2, 3)),
        ("9999-11", date(9999, 11, 1), date(9999, 11, 30)),
    ],
)
def test_months_and_the_ends_of_years(text: str, first: date, last: date) -> None:
    assert days(text) == [(first, last)]


@pytest.mark.parametrize("month", MONTHS)
def test_every_month_by_its_name_and_short(month: str) -> None:
    number = MONTHS.index(month) + 1
    for name in (month, month.upper(), month[:3], f"{month[:3]}."):
        assert days(f"Tell of {name} 2, 2024") == a_day(2024, number, 2)


def test_a_day_without_a_year_is_that_of_each_of_ten_years_back_and_of_this_one() -> None:
    assert days("on the 24th of December") == [
        one for year in range(2015, 2026) for one in a_day(year, 12, 24)
    ]
    assert days("in July", datetime(2020, 1, 1, tzinfo=UTC))[-1] == (
        date(2020, 7, 1),
        date(2020, 7, 31),
    )


def test_a_leap_day_without_a_year_is_that_of_leap_years() -> None:
    assert days("on 29 February") == [*a_day(2016, 2, 29), *a_day(2020, 2, 29), *a_day(2024, 2, 29)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "May I ask what we may do?",
        "they march on",
        "the march of time",
        "Who is the mayor of Mayen?",
        "augustus juniper octopus decade",
        "marching, mayhem",
        "2023-02-30",
        "2023-13-01",
        "2023-00-10",
        "2023-02-00",
        "0 May 2023",
        "31 April 2023",
        "0000-01-01",
        "12345-01-01",
        "2023/02/07",
        "call 020-2023-0207",
        "0001-01-01",
        "9999-12-31",
        "9999-12",
        "29 February 2023",
        "Aprıl 2023",
        "3 auguſt 2023",
        "APRİL 2023",
        "MAYıs",
    ],
)
def test_what_names_no_day_that_there_is(text: str) -> None:
    assert dates.date_spans(text, NOW) == []


@pytest.mark.parametrize("word", ["in", "On", "during", "since", "last", "until", "before"])
@pytest.mark.parametrize(("name", "month"), [("May", 5), ("march", 3)])
def test_may_and_march_are_months_after_such_words(word: str, name: str, month: int) -> None:
    assert {start.month for start, _ in days(f"What was {word} {name}?")} == {month}


@pytest.mark.parametrize("text", ["5 May", "May 5", "the 5th of May", "may 5th", "5th may"])
def test_may_is_a_month_with_a_day(text: str) -> None:
    assert days(text)[-1:] == a_day(2025, 5, 5)


@pytest.mark.parametrize("word", ["may ", "in may x ", "of march\n", "1  ", "3 of ", "may, "])
def test_the_longest_question_is_read_at_once(word: str) -> None:
    """One pass: the text before a word is not searched again for each of them."""
    began = time.thread_time()
    dates.date_spans(word * (100_000 // len(word)), NOW)
    # A fraction of a second of the processor; else a minute.
    assert time.thread_time() - began < 5


def test_several_days_are_all_looked_at() -> None:
    assert days("between 2024-01-02 and March 3, 2024") == [*a_day(2024, 1, 2), *a_day(2024, 3, 3)]


def test_eight_at_most_are_looked_at() -> None:
    text = " ".join(f"2024-01-{day:02}" for day in range(1, 20))
    assert days(text) == [one for day in range(1, 9) for one in a_day(2024, 1, day)]


@pytest.mark.parametrize("text", ["٢٠٢٣-٠٢-٠٧", "२०२३-०२-०७", "7 February ２０２３"])
def test_digits_of_other_scripts_count(text: str) -> None:
    assert days(text) == a_day(2023, 2, 7)


@given(HOSTILE, st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)))  # noqa: DTZ001
@example("in May", datetime(1, 1, 1, tzinfo=UTC))
@example("in December", datetime(9999, 12, 31, tzinfo=UTC))
@example("0000-00-00 9999-99-99 ٠٠٠٠-٠٠", NOW)
@example("².²-²", NOW)
def test_whatever_is_asked_spans_are_ordered_instants(text: str, now: datetime) -> None:
    spans = dates.date_spans(text, now)
    assert len(spans) <= dates.MAX_DATES * (dates.PAST_YEARS + 1)
    for start, end in spans:
        assert start.utcoffset() == end.utcoffset() == timedelta(0)
        assert end - start >= dates.EARLIER + DAY + dates.LATER
        assert end - start <= dates.EARLIER + 31 * DAY + dates.LATER


@given(st.dates(date(1000, 1, 1), date(9999, 12, 1)), st.integers(0, 4))
def test_every_day_is_found_however_it_is_written(day: date, way: int) -> None:
    name = MONTHS[day.month - 1]
    text = (
        day.isoformat(),
        f"{day.day} {name} {day.year}",
        f"the {day.day}th of {name[:3]}, {day.year}",
        f"{name} {day.day}, {day.year}",
        f"{name[:3]}. {day.day:02} {day.year}",
    )[way]
    assert days(f"What happened on {text}?") == [(day, day)]


@given(st.text(st.characters(exclude_categories=["Nd", "No", "Nl"])))
def test_without_a_month_and_a_digit_nothing_is_named(text: str) -> None:
    if not re.search("jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", text, re.I):
        assert dates.date_spans(text, NOW) == []
