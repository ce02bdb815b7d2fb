"""Words for days in messages: read by the sender's clock, in facts, blocks and prompts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from graphmem import GraphMem, Handle
from graphmem.errors import InvalidInputError
from graphmem.model import Turn
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

OFFSETS = [timedelta(minutes=minutes) for minutes in (-720, 0, 345, 840)]


def said(memory: Handle, text: str, at: object, **more: Any) -> Turn:
    """Store a message, extract facts, and return its turn."""
    message = {"role": "user", "name": "Ann", "content": text, "at": at, **more}
    with memory.session(f"talk {at}") as session:
        kept = session.add_messages([message])
        session.extract(extractor="rules")
    return memory.episodes.turns(kept.episode_id).turns[-1]


@contextmanager
def opened(settings: Settings, tenant: str, zone: str) -> Iterator[Handle]:
    """Open a client with a zone in its settings."""
    zoned = settings.model_copy(update={"time_zone": zone})
    with GraphMem.open(settings=zoned, embedder=HashEmbedder()) as client:
        yield client.tenant(tenant)


@pytest.mark.parametrize("offset", OFFSETS, ids=str)
@pytest.mark.parametrize("clock", [(0, 30), (23, 30)], ids=str)
def test_the_later_move_leads(plain: Handle, offset: timedelta, clock: tuple[int, int]) -> None:
    """The words name days around midnight of the speaker, which are other days of UTC."""
    zone = timezone(offset)
    said(plain, "I live in Osaka.", datetime(2026, 5, 3, 12, tzinfo=zone).isoformat())
    said(plain, "I moved to Porto yesterday.", datetime(2026, 5, 5, *clock, tzinfo=zone))
    slot = plain.current("Ann", "lives_in")
    assert slot.leader is not None
    assert slot.leader.object == "Porto"
    start = datetime(2026, 5, 4, tzinfo=zone)
    before = plain.current("Ann", "lives_in", as_of=start - timedelta(minutes=1))
    assert before.leader is not None
    assert before.leader.object == "Osaka"
    then = plain.current("Ann", "lives_in", as_of=start)
    assert then.leader is not None
    assert then.leader.object == "Porto"


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Bogota"])
def test_a_read_as_of_a_day_sees_all_of_it(migrated: Settings, tenant: str, zone: str) -> None:
    own = ZoneInfo(zone)
    moved = datetime(2026, 5, 31, 21, 30, tzinfo=own)
    with opened(migrated, tenant, zone) as memory:
        memory.observe("ann", "lives_in", "Osaka", at=moved - timedelta(days=40))
        memory.observe("ann", "lives_in", "Porto", at=moved)
        cases: dict[date | str, str | None] = {
            moved.date(): "Porto",
            "2026-05-31": "Porto",
            "2026-05": "Porto",
            "31 May 2026": "Porto",
            moved.date() - timedelta(days=1): "Osaka",
            "April 2026": "Osaka",
            "2025": None,
            moved.isoformat(): "Porto",
            moved - timedelta(seconds=1): "Osaka",
        }
        for as_of, expected in cases.items():
            leader = memory.current("ann", "lives_in", as_of=as_of).leader
            assert (leader and leader.object) == expected, as_of
        today = datetime.now(own).date()
        memory.observe("ann", "lives_in", "Ghent")
        for now in (today, f"{today:%Y-%m}", "today"):
            leader = memory.current("ann", "lives_in", as_of=now).leader
            assert leader is not None
            assert leader.object == "Ghent"
        with pytest.raises(InvalidInputError):
            memory.current("ann", "lives_in", as_of="some time ago")


@pytest.mark.parametrize(
    ("offset", "earlier", "later", "expected"),
    [
        (
            9,
            ("I live in Osaka.", (4, 20, 12, 0)),
            ("I moved to Porto last month.", (6, 1, 8, 0)),
            "Porto",
        ),
        (
            9,
            ("I work at Acme.", (1, 10, 12, 0)),
            ("I work at Globex since 5 May.", (5, 5, 8, 0)),
            "Globex",
        ),
        (
            -8,
            ("I live in Osaka.", (5, 1, 12, 0)),
            ("I moved to Porto this month.", (4, 30, 23, 0)),
            "Osaka",
        ),
    ],
)
def test_slots_order_by_the_instants(
    plain: Handle,
    offset: int,
    earlier: tuple[str, tuple[int, int, int, int]],
    later: tuple[str, tuple[int, int, int, int]],
    expected: str,
) -> None:
    zone = timezone(timedelta(hours=offset))
    for text, at in (earlier, later):
        said(plain, text, datetime(2026, *at, tzinfo=zone))
    predicate = "lives_in" if expected != "Globex" else "works_at"
    leader = plain.current("Ann", predicate).leader
    assert leader is not None
    assert leader.object == expected


def test_a_turn_keeps_its_zone(plain: Handle) -> None:
    times = {"2026-05-05T07:30:00+09:00": "+09:00", "2026-05-05T07:30:00-03:30": "-03:30"}
    for at, zone in times.items():
        turn = said(plain, f"Nothing at {at}.", at)
        assert (turn.time_zone, turn.local_at.isoformat()) == (zone, at)
    london = datetime(2026, 7, 1, 9, tzinfo=ZoneInfo("Europe/London"))
    assert said(plain, "Nothing in summer.", london).time_zone == "Europe/London"


def test_a_message_without_a_zone_has_that_of_the_settings(migrated: Settings, tenant: str) -> None:
    with opened(migrated, tenant, "America/New_York") as memory:
        at = datetime(2026, 3, 9, 3, 30, tzinfo=UTC)
        said(memory, "I live in Osaka.", at - timedelta(days=9))
        turn = said(memory, "I moved to Porto yesterday.", at)
        assert turn.time_zone == "America/New_York"
        # It was 23:30 on 8 March there; summer time began after midnight of the 7th.
        start = datetime(2026, 3, 7, 5, tzinfo=UTC)
        leaders = [
            memory.current("Ann", "lives_in", as_of=moment).leader
            for moment in (start - timedelta(minutes=1), start)
        ]
        assert [one and one.object for one in leaders] == ["Osaka", "Porto"]
        named = said(memory, "The invoice was paid.", at, time_zone="Asia/Tokyo")
        assert named.time_zone == "Asia/Tokyo"


def test_a_block_has_the_days_of_the_speaker(
    plain: Handle, migrated: Settings, tenant: str
) -> None:
    at = "2026-05-05T07:30:00+09:00"
    with plain.session("talk") as session:
        session.add_messages([{"role": "user", "content": "The kiln is cold.", "at": at}])
        session.ingest([{"role": "user", "content": "The barn is red.", "at": at}])
        session.extract(extractor=lambda turns: [_fact(t) for t in turns if "kiln" in t.text])
    for question in ("the kiln", "the barn"):
        text = plain.context(question).text
        assert "] 5 May" in text
        assert " 4 May" not in text
    plain.remember("The loom is old.", at=datetime.fromisoformat(at))
    with opened(migrated, tenant, "Asia/Tokyo") as memory:
        assert "] 5 May" in memory.context("the loom").text


def _fact(turn: Turn) -> dict[str, Any]:
    return {
        "turn_id": turn.id,
        "quote": "The kiln is cold",
        "subject": "kiln",
        "predicate": "is",
        "object": "cold",
        "confidence": 0.9,
    }
