"""Findings of the protocol audit: their codes, severities and messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.usage import AuditFinding, Severity, findings
from graphmem.usage.findings import LoggedAccess, LoggedSearch, LoggedSession

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def search(name: str = "s1", minute: float = 0, **other: object) -> LoggedSearch:
    given = {"session_id": "run", "tool": "recall", "query": "why?", "results": 3, **other}
    return LoggedSearch(id=name, at=NOON + minute * MINUTE, **given)  # type: ignore[arg-type]


def access(item: str = "m1", minute: float = 1, session: str | None = "run") -> LoggedAccess:
    return LoggedAccess(item, session, NOON + minute * MINUTE)


def session(
    name: str = "run", start: datetime = NOON, end: datetime | None = None
) -> LoggedSession:
    return LoggedSession(name, "claude", start, end)


def check(
    *logged: LoggedSearch | LoggedAccess | LoggedSession, now: datetime = NOON, hours: float = 24
) -> list[AuditFinding]:
    return findings.audit_findings(
        [one for one in logged if isinstance(one, LoggedSearch)],
        [one for one in logged if isinstance(one, LoggedAccess)],
        [one for one in logged if isinstance(one, LoggedSession)],
        now,
        timedelta(hours=hours),
    )


def test_nothing_is_wrong_with_a_session_that_asks_before_it_opens() -> None:
    assert check(session(), search(), access(), search("s2", 2, tool="grep", query="TODO")) == []


def test_a_keyword_search_for_a_concept() -> None:
    [found] = check(search(tool="grep", query="how does retrying work", results=0))
    assert (found.code, found.severity, found.ids) == (
        "keyword_for_concept", Severity.WARNING, ("s1",),
    )  # fmt: skip
    assert found.message == (
        '"grep" searched for the words of "how does retrying work" and found nothing; '
        "use recall to search by meaning, and keyword search for exact strings."
    )
    [again] = check(search(tool="grep", query="how does retrying work", results=4))
    assert "and found 4;" in again.message
    assert check(search(query="how does retrying work")) == []


def test_a_search_without_a_session_is_found_by_its_tool() -> None:
    first, second = search(session_id=None), search("s2", 1, session_id="")
    other = search("s3", 2, session_id=None, tool="rg", query="TODO")
    recall, rg = check(second, other, first)
    assert (recall.code, recall.severity, recall.ids) == (
        "search_without_session", Severity.ERROR, ("s1", "s2"),
    )  # fmt: skip
    assert recall.message.startswith('"recall" logged 2 searches without a session id')
    assert rg.ids == ("s3",)
    assert rg.message.startswith('"rg" logged 1 search without')


def test_items_opened_without_a_session() -> None:
    [found] = check(access("m2", 3, None), access("m1", 1, None), access("m2", 0, None), search())
    assert (found.code, found.severity) == ("access_without_session", Severity.ERROR)
    assert found.ids == ("m2", "m1")
    assert found.message.startswith("3 items were opened without a session id")
    [one] = check(access("m1", 1, None))
    assert one.message.startswith("1 item was opened")


def test_a_session_that_opens_and_never_asks() -> None:
    elsewhere = search(session_id="other")
    [found] = check(elsewhere, access("m2"), access("m1", 2), access("m2", 3))
    assert (found.code, found.severity) == ("access_without_search", Severity.WARNING)
    assert found.ids == ("run", "m2", "m1")
    assert found.message.startswith('Session "run" opened 3 items without a search;')


def test_a_session_that_opens_before_it_asks() -> None:
    [found] = check(search(minute=2), access("m1", 1.999), access("m2", 2), access("m3", 3))
    assert (found.code, found.severity) == ("access_before_search", Severity.INFO)
    assert found.ids == ("run", "m1")
    assert found.message.startswith('Session "run" opened 1 item before its first search;')
    assert check(search(minute=2), access("m2", 2)) == []


@pytest.mark.parametrize(
    ("quiet", "found"),
    [
        (HOUR, False),
        (2 * HOUR - timedelta(microseconds=1), False),
        (2 * HOUR, True),
        (-HOUR, False),
    ],
)
def test_a_session_that_never_ended(quiet: timedelta, *, found: bool) -> None:
    findings = check(session(), now=NOON + quiet, hours=2)
    assert [one.code for one in findings] == ["session_not_ended"] * found
    assert check(session(end=NOON), now=NOON + quiet, hours=2) == []


def test_a_session_is_quiet_since_its_last_search_or_access() -> None:
    now = NOON + 3 * HOUR
    assert check(session(), search(minute=61), now=now, hours=2) == []
    assert check(session(), search(), access(minute=61), now=now, hours=2) == []
    [found] = check(session(), search(minute=30), access(minute=60), now=now, hours=2)
    assert (found.severity, found.ids) == (Severity.WARNING, ("run",))
    assert '"run" of "claude" has not ended and was inactive for 2 h' in found.message
    assert len(check(session(), search(minute=61, session_id="other"), now=now, hours=2)) == 1


def test_a_day_is_long_enough_unless_another_time_is_given() -> None:
    nearly = timedelta(hours=24) - timedelta(microseconds=1)
    assert findings.audit_findings([], [], [session()], NOON + nearly) == []
    assert len(findings.audit_findings([], [], [session()], NOON + 24 * HOUR)) == 1


def test_a_query_of_eighty_characters_is_shown_whole() -> None:
    query = "how does it work " + "x" * 63
    [found] = check(search(tool="grep", query=query))
    assert f'"{query}"' in found.message
    [cut] = check(search(tool="grep", query=query + "x"))
    assert f'"{query[:79]}…"' in cut.message


def test_the_worst_comes_first() -> None:
    log: list[LoggedSearch | LoggedAccess | LoggedSession] = [
        session("old", NOON - 48 * HOUR),
        search("s9", 9, session_id="late"),
        access("m1", 1, "late"),
        search("s1", tool="grep", query="how does it work"),
        access("m2", 1, "blind"),
        search("s2", session_id=None),
        access("m3", 1, None),
    ]
    assert [one.code for one in check(*log)] == [
        "access_without_session",
        "search_without_session",
        "access_without_search",
        "keyword_for_concept",
        "session_not_ended",
        "access_before_search",
    ]


def test_a_hostile_log_makes_messages_of_one_line() -> None:
    evil = "how\nis \x1bthis\u202e \0 " + "x" * 1_000
    log: list[LoggedSearch | LoggedAccess | LoggedSession] = [
        search(tool="evil\n.grep", query=evil),
        access("m", -60 * 30, "a\nb"),
        session("a\nb", NOON - 99 * HOUR),
    ]
    found = check(*log, search("s2", session_id=None, tool=evil))
    assert len(found) == 4
    for one in found:
        assert one.message.isprintable()
        assert len(one.message) < 400


names = st.sampled_from(["a", "b", None, ""])
instants = st.integers(0, 5).map(lambda minute: NOON + minute * MINUTE)
searches = st.builds(
    LoggedSearch,
    id=st.uuids().map(str),
    session_id=names,
    tool=st.sampled_from(["grep", "recall"]),
    query=st.sampled_from(["how does it work", "why?", "TODO", "what is in a.py then"]),
    at=instants,
    results=st.integers(0, 3),
)
accesses = st.builds(LoggedAccess, st.sampled_from("xyz"), names, instants)
sessions = st.builds(LoggedSession, st.sampled_from("abc"), st.just("claude"), instants, st.none())


@given(st.lists(st.one_of(searches, accesses, sessions), max_size=12), st.data())
def test_order_and_redelivery_change_nothing(
    log: list[LoggedSearch | LoggedAccess | LoggedSession], data: st.DataObject
) -> None:
    now = NOON + 3 * MINUTE
    again = data.draw(st.permutations([*log, *log[:3]]))
    found = check(*log, now=now, hours=0.02)
    assert check(*again, now=now, hours=0.02) == found
    homeless = [one.id for one in log if isinstance(one, LoggedSearch) and not one.session_id]
    reported = [i for one in found if one.code == "search_without_session" for i in one.ids]
    assert sorted(reported) == sorted(homeless)
    assert {one.session_id for one in log if isinstance(one, LoggedAccess) and one.session_id} >= {
        one.ids[0] for one in found if one.code.startswith("access_") and one.severity != "error"
    }
