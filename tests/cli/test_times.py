"""Times on the command line: words, plain dates, the local zone, and the notes about them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from graphmem.cli import options
from graphmem.cli.options import read_time
from tests.cli.conftest import Run


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[datetime]:
    """A machine in Berlin on 24 November 2026, 14:30 local time."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        at = datetime(2026, 11, 24, 13, 30, tzinfo=UTC).astimezone()
        patch.setattr(options, "now", lambda: at)
        yield at
    time.tzset()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00+00:00"),
        ("2026-03-01T09:00:00-05:00", "2026-03-01T09:00:00-05:00"),
        ("2026-03-01 09:00", "2026-03-01T09:00:00+01:00"),
        ("2026-07-01T09:00:00", "2026-07-01T09:00:00+02:00"),
        ("2026-07-01", "2026-07-01T00:00:00+02:00"),
        ("20260701", "2026-07-01T00:00:00+02:00"),
        ("now", "2026-11-24T14:30:00+01:00"),
        ("Today", "2026-11-24T00:00:00+01:00"),
        ("yesterday", "2026-11-23T00:00:00+01:00"),
        ("2026-05", "2026-05-01T00:00:00+02:00"),
        ("May 2026", "2026-05-01T00:00:00+02:00"),
        ("90 minutes ago", "2026-11-24T13:00:00+01:00"),
        ("1 hour ago", "2026-11-24T13:30:00+01:00"),
        ("an hour ago", "2026-11-24T13:30:00+01:00"),
        ("a  day ago", "2026-11-23T14:30:00+01:00"),
        ("3 days ago", "2026-11-21T14:30:00+01:00"),
        ("2 weeks ago", "2026-11-10T14:30:00+01:00"),
        # Summer time: the clock shows the same time.
        ("2 months ago", "2026-09-24T14:30:00+02:00"),
        ("9 months ago", "2026-02-24T14:30:00+01:00"),
        ("1 year ago", "2025-11-24T14:30:00+01:00"),
    ],
)
def test_a_time_is_read_in_the_local_zone(berlin: datetime, text: str, read: str) -> None:
    assert read_time(text, berlin).isoformat() == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-07-01", "2026-07-01T23:59:59.999999+02:00"),
        ("2026-05", "2026-05-31T23:59:59.999999+02:00"),
        ("2025", "2025-12-31T23:59:59.999999+01:00"),
        ("Yesterday", "2026-11-23T23:59:59.999999+01:00"),
        # One that has not ended.
        ("today", "2026-11-24T14:30:00+01:00"),
        ("2026", "2026-11-24T14:30:00+01:00"),
        ("2026-07-01 09:00", "2026-07-01T09:00:00+02:00"),
        ("a day ago", "2026-11-23T14:30:00+01:00"),
    ],
)
def test_the_end_of_a_time_is_that_of_its_day_month_or_year(
    berlin: datetime, text: str, read: str
) -> None:
    assert read_time(text, berlin, end=True).isoformat() == read


@pytest.mark.parametrize(
    "text",
    ["", "soon", "3 days", "three days ago", "ago", "2026-02-30", "9999 years ago", "-1 days ago"],
)
def test_anything_else_is_refused(berlin: datetime, text: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        read_time(text, berlin)


def test_a_command_says_how_it_read_a_time(run: Run, berlin: datetime) -> None:
    assert run("memory", "remember", "The cat is called Biscuit.", "--at", "2026-11-20").code == 0
    assert run("memory", "remember", "The dog is called Rex.", "--at", "yesterday").code == 0

    past = run("memory", "list", "--as-of", "3 days ago", "--json")
    assert [found["content"] for found in past.data["memories"]] == ["The cat is called Biscuit."]
    assert past.err == "--as-of: 3 days ago is 2026-11-21 14:30:00+01:00\n"

    whole = run("memory", "list", "--as-of", "2026-11-20", "--json")
    assert [found["content"] for found in whole.data["memories"]] == ["The cat is called Biscuit."]
    assert whole.err == "--as-of: 2026-11-20 is 2026-11-20 23:59:59+01:00\n"

    both = run("recall", "cat", "dog", "--since", "2026-11-23", "--until", "2026-11-24 09:00")
    assert "Rex" in both.out
    assert "Biscuit" not in both.out
    assert both.err.splitlines() == [
        "--since: 2026-11-23 is 2026-11-23 00:00:00+01:00",
        "--until: 2026-11-24 09:00 is 2026-11-24 09:00:00+01:00",
    ]
    exact = run("memory", "list", "--valid", "2026-11-21T13:30:00+00:00", "--json")
    assert exact.data == past.data
    assert exact.err == ""


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-03-01 09:00", "2026-03-01T09:00:00-05:00"),
        ("2026-07-01", "2026-07-01T00:00:00-04:00"),
        ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00+00:00"),
        ("now", "2026-11-24T08:30:00-05:00"),
        ("yesterday", "2026-11-23T00:00:00-05:00"),
        ("an hour ago", "2026-11-24T07:30:00-05:00"),
        ("2 months ago", "2026-09-24T08:30:00-04:00"),
    ],
)
@pytest.mark.usefixtures("berlin")
def test_the_zone_of_the_settings_goes_before_that_of_the_machine(text: str, read: str) -> None:
    at = datetime(2026, 11, 24, 13, 30, tzinfo=UTC).astimezone(ZoneInfo("America/New_York"))
    assert read_time(text, at, "America/New_York").isoformat() == read


def test_commands_read_and_show_times_in_the_zone_of_the_settings(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_TIME_ZONE", "Asia/Tokyo")
    run("memory", "remember", "The cat is called Biscuit.", "--at", "2026-05-05")
    shown = run("memory", "list")
    assert "5 May 2026" in shown.out
    [found] = run("memory", "list", "--json").data["memories"]
    assert found["created_at"] == "2026-05-04T15:00:00Z"
    monkeypatch.setenv("GRAPHMEM_TIME_ZONE", "Asia/Nowhere")
    wrong = run("memory", "list", "--since", "yesterday")
    assert wrong.code == 2
    assert "GRAPHMEM_TIME_ZONE" in wrong.err
    assert "Asia/Nowhere" in wrong.err
