"""Zones of messages, and the days that their words name there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from datetime import time as clock
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphmem.english import dates
from graphmem.errors import ConfigurationError
from graphmem.model import Message, Turn, zones
from graphmem.settings import Settings

OFFSETS = [timedelta(minutes=15 * n) for n in range(-48, 57)]
"""Every quarter of an hour from -12:00 to +14:00."""
PLACES = (
    *("Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Africa/Cairo", "Asia/Beirut"),
    *("Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Auckland", "America/Havana", "Asia/Tokyo"),
)
"""Places with changes of the clock by an hour or half an hour, some at midnight, or without any."""
NEAR_MIDNIGHT = ["00:00", "00:01", "00:30", "03:00", "12:00", "21:00", "23:30", "23:59"]
WORDS: dict[str, Callable[[date], date]] = {
    "yesterday": lambda day: day - timedelta(days=1),
    "the day before yesterday": lambda day: day - timedelta(days=2),
    "tomorrow": lambda day: day + timedelta(days=1),
    "since Monday": lambda day: day - timedelta(days=day.weekday()),
    "last week": lambda day: day - timedelta(days=day.weekday() + 7),
    "next Friday": lambda day: day + timedelta(days=(4 - day.weekday()) % 7 or 7),
    "this month": lambda day: day.replace(day=1),
    "last month": lambda day: (day.replace(day=1) - timedelta(days=1)).replace(day=1),
    "this year": lambda day: day.replace(month=1, day=1),
    "since 2019": lambda _: date(2019, 1, 1),
    "since 5 May": lambda day: date(day.year - ((day.month, day.day) < (5, 5)), 5, 5),
}


WALLS = st.datetimes(datetime(1990, 1, 1), datetime(2035, 1, 1))  # noqa: DTZ001 - shown by a clock


def turn_of(at: object, default: str | None = None) -> Turn:
    """Return the turn that is stored for a message of this time."""
    message = Message.model_validate({"role": "user", "content": "I moved.", "at": at})
    assert message.at is not None
    return Turn(
        id="t",
        episode_id="p",
        position=0,
        role="user",
        name=None,
        text=message.content,
        occurred_at=message.at,
        time_zone=zones.of_sender(message.at, message.time_zone, default),
        recorded_at=message.at,
    )


@pytest.mark.parametrize("offset", OFFSETS, ids=str)
def test_words_are_read_in_the_offset_of_the_message(offset: timedelta) -> None:
    for at in NEAR_MIDNIGHT:
        for today in (date(2026, 3, 29), date(2026, 5, 5), date(2025, 12, 31), date(2026, 1, 1)):
            said = datetime.combine(today, clock.fromisoformat(at), timezone(offset))
            turn = turn_of(said.isoformat(), "UTC")
            assert turn.occurred_at == said
            assert turn.local_at.isoformat() == said.isoformat()
            for words, named in WORDS.items():
                start = datetime.combine(named(today), clock(), timezone(offset))
                assert dates.validity_start(words, turn.local_at) == start, (words, said)


@given(st.sampled_from(PLACES), WALLS)
def test_words_are_read_in_the_place_of_the_sender(place: str, wall: datetime) -> None:
    said = wall.replace(tzinfo=ZoneInfo(place))
    assume(said.astimezone(UTC).astimezone(said.tzinfo) == said)
    for turn in (turn_of(said), turn_of(said.astimezone(UTC), place)):
        assert turn.time_zone == place
        for words, named in WORDS.items():
            found = dates.validity_start(words, turn.local_at)
            assert found is not None
            # The first instant of that day there, also if the clock skips or repeats midnight.
            assert found.astimezone(ZoneInfo(place)).date() == named(said.date())
            before = found - timedelta(microseconds=1)
            assert before.astimezone(ZoneInfo(place)).date() < named(said.date())


@pytest.mark.parametrize(
    ("said", "words", "start"),
    [
        ("2026-03-10T23:30:00-05:00", "yesterday", "2026-03-09T00:00:00-05:00"),
        ("2026-03-10T00:30:00+09:00", "yesterday", "2026-03-09T00:00:00+09:00"),
        ("2026-06-01T08:00:00+09:00", "last month", "2026-05-01T00:00:00+09:00"),
        ("2026-05-05T08:00:00+09:00", "since 5 May", "2026-05-05T00:00:00+09:00"),
        ("2026-05-05T18:00:00-07:00", "at 9 tonight", "2026-05-05T21:00:00-07:00"),
        ("2026-05-05T18:00:00+05:45", "at 2 tonight", "2026-05-06T02:00:00+05:45"),
        ("2026-05-05T18:00:00+05:45", "last night at 11:30", "2026-05-04T23:30:00+05:45"),
        ("2026-05-05T18:00:00-03:30", "tomorrow at 9", "2026-05-06T09:00:00-03:30"),
        ("2026-05-05T18:00:00-03:30", "at 2 this afternoon", "2026-05-05T14:00:00-03:30"),
        ("2026-05-05T18:00:00-03:30", "at 12 am today", "2026-05-05T00:00:00-03:30"),
        ("2026-05-05T23:30:00-08:00", "in two weeks", "2026-05-19T23:30:00-08:00"),
        ("2026-05-05T23:30:00-08:00", "today", "2026-05-05T23:30:00-08:00"),
        ("2026-05-05T23:30:00-08:00", "today at 45", "2026-05-05T23:30:00-08:00"),
    ],
)
def test_the_instant_of_words(said: str, words: str, start: str) -> None:
    found = dates.validity_start(words, turn_of(said).local_at)
    expected = datetime.fromisoformat(start)
    assert found == expected


@pytest.mark.parametrize(
    ("at", "default", "zone"),
    [
        ("2026-07-01T09:00:00+05:45", "Europe/Berlin", "+05:45"),
        ("2026-07-01T09:00:00+02:00", "Europe/Berlin", "Europe/Berlin"),
        ("2026-01-01T09:00:00+02:00", "Europe/Berlin", "+02:00"),
        ("2026-07-01T09:00:00Z", "Europe/Berlin", "Europe/Berlin"),
        ("2026-07-01T09:00:00+00:00", "+05:30", "+05:30"),
        (datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/London")), "Asia/Tokyo", "Europe/London"),
        (datetime(2026, 1, 1, tzinfo=ZoneInfo("UTC")), "Asia/Tokyo", "Asia/Tokyo"),
        (datetime(2026, 1, 1, tzinfo=timezone(-timedelta(hours=9, minutes=30))), "UTC", "-09:30"),
    ],
)
def test_the_zone_of_a_message(at: object, default: str, zone: str) -> None:
    assert turn_of(at, default).time_zone == zone


def test_a_message_keeps_its_zone() -> None:
    message = Message.model_validate(
        {"role": "user", "content": "x", "at": "2026-07-01T09:00:00+05:45"}
    )
    assert (message.at, message.time_zone) == (datetime(2026, 7, 1, 3, 15, tzinfo=UTC), "+05:45")
    assert Message.model_validate_json(message.model_dump_json()) == message
    named = Message(role="user", content="x", at=message.at, time_zone="Asia/Tokyo")
    assert named.time_zone == "Asia/Tokyo"
    with pytest.raises(ValidationError, match="must be an IANA time zone"):
        Message(role="user", content="x", time_zone="Asia/Nowhere")


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("tokyo")
def test_without_a_setting_the_zone_is_that_of_the_machine() -> None:
    turn = turn_of("2026-05-04T15:30:00Z", Settings.load({}).time_zone)
    assert turn.time_zone == "Asia/Tokyo"
    assert dates.validity_start("yesterday", turn.local_at) == datetime(2026, 5, 3, 15, tzinfo=UTC)
    os.environ["TZ"] = "JST-9"  # A zone without a name.
    time.tzset()
    assert turn_of("2026-05-04T15:30:00Z").time_zone == "+09:00"


@pytest.mark.parametrize("wrong", ["Mars/Olympus", "europe", "+25:00", "../etc/passwd", "Europe"])
def test_an_unknown_zone_is_refused_by_name(wrong: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings.load({"GRAPHMEM_TIME_ZONE": wrong})
    assert "GRAPHMEM_TIME_ZONE" in str(caught.value)
    assert repr(wrong) in str(caught.value)


@given(st.sampled_from(PLACES), WALLS)
def test_a_date_of_a_question_is_a_day_of_the_zone(place: str, wall: datetime) -> None:
    now = wall.replace(tzinfo=ZoneInfo(place))
    [(start, end)] = dates.date_spans("on 2026-05-05?", now)
    assert start == datetime(2026, 5, 4, tzinfo=ZoneInfo(place))
    assert end == datetime(2026, 5, 13, tzinfo=ZoneInfo(place))
    assert {start.tzinfo, end.tzinfo} == {UTC}
