"""The log of searches and sessions: written behind, once, with what each search returned."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from graphmem import AsOf, Handle, RecallPolicy
from graphmem.client.log_queue import MAX_LOG, AccessLog
from graphmem.errors import NotFoundError
from graphmem.model import Tier
from graphmem.rules import identity
from graphmem.settings import Settings
from graphmem.testing import FrozenClock
from graphmem.usage import quality_stats
from graphmem.usage.access_log import AccessEntry, SessionStart
from tests.plugins.clients import Door, on_tenant
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

in_both_clients = pytest.mark.usefixtures("both_clients")
MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)


def logged(look: Look, tenant: str) -> list[dict[str, Any]]:
    """What was logged, in order."""
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) "
        "WHERE e.type IN ['SEARCH', 'ACCESS', 'SESSION_START', 'SESSION_END'] "
        "RETURN e.type AS type, e.id AS id, e.actor AS actor, e.payload AS payload, "
        "  e.position AS position, e.scope AS scope, "
        "  [(e)-[r:RETURNED]->(n) | [r.rank, labels(n)[0], n.id, r.similarity, r.content_hash]] "
        "  AS returned, "
        "  [(e)-[:ACCESSED]->(n) | n.id] AS accessed, [(e)-[:WITHIN]->(s) | s.id] AS within "
        "ORDER BY e.occurred_at, e.type <> 'SESSION_START', e.id",
        tenant=tenant,
    )
    return [
        {**row, "payload": json.loads(row["payload"] or "{}"), "returned": sorted(row["returned"])}
        for row in rows
    ]


@in_both_clients
def test_a_search_is_logged_with_what_it_returned(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    clock = FrozenClock(MAY)
    memory = door.on(memory, clock=clock)
    first = str(memory.remember(unlike(1), at=MAY).memory_id)
    memory.remember(unlike(2), at=MAY)
    memory.believe(unlike(3), at=MAY)
    with memory.scope("alice").session("s1", agent="planner") as session:
        clock.advance(timedelta(minutes=1))
        found = session.recall(unlike(1), limit=3)
        clock.advance(timedelta(minutes=1))
        session.expand(first)
        clock.advance(timedelta(minutes=1))
        shown = session.context(unlike(2))
        assert logged(look, tenant) == []
        clock.advance(timedelta(minutes=1))
    start, search, access, context, end = logged(look, tenant)
    assert [one["type"] for one in (start, search, access, context, end)] == [
        *("SESSION_START", "SEARCH", "ACCESS", "SEARCH", "SESSION_END")
    ]
    assert (start["actor"], start["payload"]) == ("planner", {"session_id": "s1"})
    assert search["payload"] == {"tool": "recall", "query": unlike(1)}
    assert search["returned"] == [
        [rank, bite.kind.capitalize(), bite.id, bite.similarity, identity.content_hash(bite.text)]
        for rank, bite in enumerate(found.bites, 1)
    ]
    assert len(found.bites) == 3
    assert access["accessed"] == [first]
    assert context["payload"] == {"tool": "context", "query": unlike(2)}
    assert [one[2] for one in context["returned"]] == list(shown.ids)
    for one in (search, access, context):
        assert (one["actor"], one["scope"], one["within"]) == ("s1", "alice", [start["id"]])
    assert end["within"] == [start["id"]]
    assert (end["payload"], end["position"]) == ({"session_id": "s1", "logged": 3}, 1)


@in_both_clients
def test_a_session_ends_with_its_block_or_its_client_and_begins_anew(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    session = memory.session("s1")
    for _ in range(2):
        with session:
            session.recall(unlike(1))
        # One in which nothing happened leaves nothing.
        with session:
            pass
    other = door.open()
    on_tenant(other, tenant).session("s2").recall(unlike(1))
    on_tenant(other, tenant).recall(unlike(2))
    other.close()
    found = logged(look, tenant)
    names = [one["payload"]["session_id"] for one in found if one["type"] == "SESSION_START"]
    assert names == ["s1", "s1", "s2"]
    assert [one["position"] for one in found if one["type"] == "SESSION_END"] == [1, 2, 3]
    assert [len(one["within"]) for one in found if one["type"] == "SEARCH"] == [1, 1, 1, 0]


def test_what_agents_do_elsewhere_is_logged_too(memory: Handle, look: Look, tenant: str) -> None:
    known = str(memory.remember(unlike(1)).memory_id)
    belief = memory.believe(unlike(2)).belief_id
    with memory.session("s1") as session:
        session.usage.log_search(
            "def main", tool="grep", results=[("file", "a.py"), known, belief, ("symbol", "a.main")]
        )
        session.usage.log_access("file", "a.py")
        session.usage.log_access("document", "https://example.org/plan")
    _, search, *looks, _ = logged(look, tenant)
    assert search["payload"] == {"tool": "grep", "query": "def main"}
    artifacts = {
        row["ref"]: row["id"]
        for row in look.rows(
            "MATCH (n:Artifact {tenant: $tenant}) RETURN n.ref AS ref, n.id AS id", tenant=tenant
        )
    }
    assert artifacts.keys() == {"a.py", "a.main", "https://example.org/plan"}
    assert [(rank, item) for rank, _, item, _, _ in search["returned"]] == [
        (1, artifacts["a.py"]),
        (2, known),
        (3, belief),
        (4, artifacts["a.main"]),
    ]
    assert [one["accessed"] for one in looks] == [
        [artifacts["a.py"]],
        [artifacts["https://example.org/plan"]],
    ]
    assert memory.usage.rate().updates == 4
    assert {one.text for one in memory.usage.ratings(kinds=["Artifact"])} == {"a.py", "a.main"}


def test_processes_share_a_session_of_one_day(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    # The first day is not over by the clock of the server, which sets recorded_at.
    clock = FrozenClock(datetime.combine(datetime.now(UTC), time(9), UTC) + timedelta(days=1))
    log: list[Callable[[Handle], None]] = [
        lambda it: it.usage.log_search("main", tool="rg", results=[("file", "a"), ("file", "b")]),
        lambda it: it.usage.log_access("file", "a"),
    ]
    for entry in (*log, *log):  # at 9:00, at 23:00, at 13:00 of the next day, at 3:00 of the third
        # As in another process, the client does not know the session and closes.
        with door.open() as client:
            entry(door.on(on_tenant(client, tenant), clock=clock).session("s1", shared=True))
        clock.advance(timedelta(hours=14))
    found = logged(look, tenant)
    starts = [one["id"] for one in found if one["type"] == "SESSION_START"]
    assert [one["within"][0] for one in found if one["type"] in ("SEARCH", "ACCESS")] == [
        *(starts[0], starts[0], starts[1], starts[2])
    ]
    memory = door.on(memory, clock=clock)
    # Only the first day has a search and an access; that of the third is not over.
    done = memory.usage.rate()
    assert (done.abandoned, done.searches, len(set(starts))) == (2, 1, 3)


@pytest.mark.parametrize("wrong", ["m_nope", "src/app.py", "of another scope"])
def test_a_result_that_is_not_there_is_named_and_nothing_is_logged(
    memory: Handle, look: Look, tenant: str, wrong: str
) -> None:
    known = str(memory.remember(unlike(1)).memory_id)
    hidden = str(memory.scope("ben").remember(unlike(2)).memory_id)
    given = hidden if wrong == "of another scope" else wrong
    with memory.session("s1") as session:
        with pytest.raises(NotFoundError, match=f"results: no item '{given}'"):
            session.usage.log_search("def main", tool="grep", results=[("file", "a.py"), given])
        session.usage.log_search("def main", tool="grep", results=[known])
    assert [one["type"] for one in logged(look, tenant)] == [
        *("SESSION_START", "SEARCH", "SESSION_END")
    ]
    assert look.rows("MATCH (n:Artifact {tenant: $tenant}) RETURN n", tenant=tenant) == []


def test_a_long_query_is_cut_and_nothing_is_logged_when_it_is_off(
    door: Door, memory: Handle, look: Look, tenant: str, migrated: Settings
) -> None:
    memory.recall("lake " * 1_000)
    memory.usage.flush()
    [search] = logged(look, tenant)
    assert len(search["payload"]["query"]) == 2_000
    off = door.open(migrated.model_copy(update={"access_log": False}))
    with off:
        quiet = on_tenant(off, tenant)
        with quiet.session("s") as session:
            session.recall(unlike(1))
            session.usage.log_access("file", "a.py")
    assert logged(look, tenant) == [search]


def test_recall_carries_ratings_and_ranks_without_them(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    now = datetime.now(UTC)
    memory = door.on(memory, clock=FrozenClock(now))
    texts = [f"The garden has {n} red roses" for n in ("two", "three", "nine", "forty")]
    for text in texts:
        memory.remember(text)
    # BM25 scores depend on the whole index, to which other tenants write between two reads.
    by_vector = RecallPolicy(words_weight=0.0)
    before = memory.recall("red roses in the garden", policy=by_vector)
    assert {bite.rating for bite in before.bites} == {None}
    last = before.bites[-1].id
    for n in range(4):
        with memory.session(f"s{n}") as session:
            session.recall("red roses in the garden")
            session.expand(last)
    assert memory.usage.rate().sessions == 4
    after = memory.recall("red roses in the garden", policy=by_vector)
    assert [(bite.id, bite.score) for bite in after.bites] == [
        (bite.id, bite.score) for bite in before.bites
    ]
    ratings = {bite.id: bite.rating for bite in after.bites}
    assert ratings == {one.id: one.rating for one in memory.usage.ratings()}
    assert ratings[last].tier is Tier.MEDIUM  # type: ignore[union-attr]
    assert {one.tier for item, one in ratings.items() if one and item != last} == {Tier.LOW}
    stats = quality_stats(after)
    assert (stats.results, stats.rated, stats.high_in_top_five) == (4, 4, 0.0)
    assert stats.tiers == {Tier.HIGH: 0, Tier.MEDIUM: 1, Tier.LOW: 3, Tier.VERY_LOW: 0}
    assert stats.mean_elo == pytest.approx(1200, abs=1e-6)
    assert quality_stats([]).mean_elo is None
    then = memory.recall("red roses in the garden", as_of=AsOf(valid=now))
    assert {bite.rating for bite in then.bites} == {None}


def test_beginnings_and_ends_outlast_what_is_given_up() -> None:
    log = AccessLog()
    start = SessionStart("t", "e0", "global", MAY, "s", None)
    for n in range(1, MAX_LOG + 51):
        log.add(AccessEntry("t", f"e{n}", "global", "Memory", "m", MAY, "s", "e0"), start)
    assert log.lost == 51
    log.end(start, MAY)
    log.end(start, MAY)
    waiting = log.waiting()
    assert waiting[0] == start
    assert isinstance(waiting[-1], SessionStart)
    assert (waiting[-1].within, waiting[-1].logged) == ("e0", MAX_LOG + 50)
    assert len(waiting) == MAX_LOG + 1
