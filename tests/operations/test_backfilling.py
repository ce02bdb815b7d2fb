"""Memories that came without events: what they are given, and why some are left as they are."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import AsOf, Handle, MemoryBite
from graphmem.errors import NotFoundError
from graphmem.model import MemoryReasons
from graphmem.ports import Role, run_now
from graphmem.rules import identity
from graphmem.testing import HashEmbedder
from graphmem.upkeep import BackfillReport, backfill, caches
from tests.oracles import tracerank
from tests.plugins.clients import on, on_tenant
from tests.plugins.examples import examples
from tests.plugins.faults import (
    Holding,
)
from tests.plugins.foreign import change, draw, nodes, put, statuses, whole
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
EXAMPLES = examples(8, 60, 300)
NOTHING = BackfillReport(
    memories=0, filled=0, embedded=0, edges=0, events=0, capped=0, unfit=()
).model_dump()

few = hypothesis.settings(max_examples=EXAMPLES)


def test_a_node_that_has_only_what_is_required_is_made_whole(
    memory: Handle, look: Look, tenant: str
) -> None:
    put(look, tenant, "old-1", content="Alice  deploys from Borealis")
    before = datetime.now(UTC)
    done = memory.admin.backfill()
    after = datetime.now(UTC)
    assert done.model_dump() == {**NOTHING, "memories": 1, "embedded": 1, "events": 1}

    [props] = nodes(look, tenant).values()
    assert props["tenant_key"] == identity.tenant_key(tenant)
    assert props["scope_key"] == identity.scope_key(tenant, "global")
    assert props["content_hash"] == identity.content_hash("Alice deploys from Borealis")
    one = memory.memories.get("old-1")
    assert (one.status, one.tags, one.reinforce_count) == ("current", (), 0)
    assert before <= one.created_at == one.last_seen_at <= after
    [event] = memory.memories.history("old-1")
    assert (event.type, event.source, event.payload) == ("ADD", "backfill", {"synthetic": True})
    assert one.recorded_at == event.recorded_at
    assert memory.admin.verify().wrong == ()
    assert memory.memories.get("old-1", as_of=AsOf(known=event.recorded_at)).content == one.content


def test_it_is_found_by_meaning_and_by_words(memory: Handle, look: Look, tenant: str) -> None:
    put(look, tenant, "old-1", content="Alice deploys from Borealis")
    memory.admin.backfill()
    [bite] = memory.recall("Alice deploys from Borealis").bites
    assert isinstance(bite, MemoryBite)
    assert (bite.memory.id, bite.vector_rank, bite.bm25_rank) == ("old-1", 1, 1)
    again = memory.remember("Alice deploys from Borealis")
    assert (again.outcome, again.memory_id) == ("NEAR_DUPE", "old-1")


memories = st.lists(
    st.tuples(
        st.none() | st.integers(0, 30),
        st.none() | st.integers(0, 10**7),
        st.none() | st.integers(0, 5 * 10**12),
        st.sampled_from(["global", "alice"]),
        st.sampled_from([None, "current", "deprecated"]),
    ),
    min_size=1,
    max_size=6,
)


@few
@given(rows=memories)
def test_reads_say_what_was_stored(plain: Handle, look: Look, rows: list[Any]) -> None:
    tenant = fresh_tenant()
    memory = on_tenant(plain, tenant)
    handles = {"global": memory, "alice": memory.scope("alice")}
    said: dict[str, tuple[str, list[datetime], str | None]] = {}
    for n, (count, start, width, scope, status) in enumerate(rows):
        created = None if start is None else MAY + timedelta(microseconds=start)
        last = None if width is None else MAY + 11 * DAY + timedelta(microseconds=width)
        put(
            look,
            tenant,
            f"m{n}",
            scope=scope,
            created_at=created,
            last_seen_at=last,
            reinforce_count=count,
            status=status,
        )
        first = created or last
        if first:
            until = last if count and last else first
            times = [first, *backfill.spaced_times(first, until, count or 0)]
            said[f"m{n}"] = (scope, times, status)

    assert memory.admin.backfill().memories == len(rows)

    now = MAY + 100 * DAY
    for name, (scope, times, status) in said.items():
        handle = handles[scope]
        one = handle.memories.get(name)
        assert (one.created_at, one.last_seen_at) == (times[0], times[-1])
        assert one.reinforce_count == len(times) - 1
        assert one.status == (status or "current")
        then = handle.memories.get(name, as_of=AsOf(valid=now))
        shown = then.created_at, then.last_seen_at, then.reinforce_count, then.status
        assert shown == (times[0], times[-1], len(times) - 1, "current")
        why = handle.why(name, as_of=AsOf(valid=now))
        assert isinstance(why, MemoryReasons)
        assert why.trace.trace == pytest.approx(tracerank.trace(times, now), abs=1e-9)
        with pytest.raises(NotFoundError):
            handle.memories.get(name, as_of=AsOf(valid=times[0] - timedelta(microseconds=1)))
    assert memory.admin.verify().wrong == ()
    before = whole(look, tenant)
    assert memory.admin.backfill().model_dump() == NOTHING
    assert whole(look, tenant) == before


def test_what_is_known_stays_as_it_is(memory: Handle, look: Look, tenant: str) -> None:
    vector = HashEmbedder()
    [own] = run_now(vector.embed(["something else"], Role.DOCUMENT))
    recorded = MAY + DAY
    put(
        look,
        tenant,
        "old-1",
        tags=["deploy", "b"],
        created_at=MAY,
        recorded_at=recorded,
        embedding=[float(x) for x in own],
        author="Bob",
        tenant_key="wrong",
        scope_key="wrong",
        content_hash="wrong",
        trace="much",
    )
    done = memory.admin.backfill()
    assert done.embedded == 0
    [props] = nodes(look, tenant).values()
    assert props["author"] == "Bob"
    assert np.allclose(props["embedding"], own)
    assert props["tenant_key"] == identity.tenant_key(tenant)
    assert props["scope_key"] == identity.scope_key(tenant, "global")
    assert props["content_hash"] == identity.content_hash(props["content"])
    assert props["trace"] == 1.0
    one = memory.memories.get("old-1")
    assert (one.tags, one.created_at, one.recorded_at) == (("deploy", "b"), MAY, recorded)


def test_instants_of_other_zones_and_of_nanoseconds_are_kept_as_others_are(
    memory: Handle, look: Look, tenant: str
) -> None:
    put(look, tenant, "old-1")
    change(
        look,
        "MATCH (m:Memory {tenant: $tenant, id: 'old-1'}) "
        "SET m.created_at = datetime('2025-05-05T03:00:00.123456789+02:00')",
        tenant=tenant,
    )
    memory.admin.backfill()
    at = datetime(2025, 5, 5, 1, 0, 0, 123456, tzinfo=UTC)
    assert memory.memories.get("old-1").created_at == at
    [kept] = look.rows(
        "MATCH (m:Memory {tenant: $tenant, id: 'old-1'}) RETURN toString(m.created_at) AS at",
        tenant=tenant,
    )
    assert kept["at"] == "2025-05-05T01:00:00.123456Z"


def test_what_was_recorded_later_than_its_events_was_recorded_with_them(
    memory: Handle, look: Look, tenant: str
) -> None:
    put(look, tenant, "old-1", recorded_at=datetime.now(UTC) + timedelta(minutes=4))
    memory.admin.backfill()
    [event] = memory.memories.history("old-1")
    assert memory.memories.get("old-1").recorded_at == event.recorded_at


@pytest.mark.parametrize(
    "embedding",
    [[1.0, 2.0], [0.0] * 256, [float("nan")] * 256, [1e308] * 256, "x" * 256, [1] * 256],
    ids=["length", "zero", "nan", "infinite", "text", "integers"],
)
def test_an_embedding_that_cannot_be_searched_is_made_anew(
    plain: Handle, look: Look, tenant: str, embedding: Any
) -> None:
    put(look, tenant, "old-1", embedding=embedding, content="Alice deploys")
    assert plain.admin.backfill().embedded == 1
    [bite] = plain.recall("Alice deploys").bites
    assert bite.vector_rank == 1


LACKS: dict[str, tuple[LiteralString, str]] = {
    "scope-none": ("REMOVE m.scope", "scope"),
    "scope-empty": ("SET m.scope = ''", "scope"),
    "scope-long": ("SET m.scope = reduce(s = '', i IN range(1, 201) | s + 'x')", "scope"),
    "scope-number": ("SET m.scope = 5", "scope"),
    "content-none": ("REMOVE m.content", "content"),
    "content-list": ("SET m.content = ['a']", "content"),
    "content-blank": ("SET m.content = ' \n'", "blank"),
    "content-long": ("SET m.content = reduce(s = '', i IN range(1, 8001) | s + 'x')", "long"),
    "created-text": ("SET m.created_at = '2025-05-05T00:00:00Z'", "created_at"),
    "created-number": ("SET m.created_at = 1746403200", "created_at"),
    "created-local": ("SET m.created_at = localdatetime('2025-05-05T00:00')", "created_at"),
    "created-future": ("SET m.created_at = datetime('2999-01-01T00:00Z')", "created_at"),
    "created-far": ("SET m.created_at = datetime('+99999-01-01T00:00Z')", "created_at"),
    "created-early": ("SET m.created_at = datetime('-0044-03-15T00:00Z')", "created_at"),
    "recorded-date": ("SET m.recorded_at = date('2025-05-05')", "recorded_at"),
    "recorded-future": ("SET m.recorded_at = datetime('2999-01-01T00:00Z')", "recorded_at"),
    "seen-text": ("SET m.last_seen_at = 'yesterday'", "last_seen_at"),
    "seen-before": ("SET m.last_seen_at = datetime('2020-01-01T00:00Z')", "order"),
    "tags-text": ("SET m.tags = 'deploy'", "tags"),
    "tags-numbers": ("SET m.tags = [1, 2]", "tags"),
    "status-other": ("SET m.status = 'active'", "status"),
    "status-number": ("SET m.status = 5", "status"),
    "status-alone": ("SET m.status = 'superseded'", "unreplaced"),
    "count-less": ("SET m.reinforce_count = -1", "reinforce_count"),
    "count-text": ("SET m.reinforce_count = '3'", "reinforce_count"),
    "count-float": ("SET m.reinforce_count = 2.5", "reinforce_count"),
}


@pytest.mark.parametrize(("how", "problem"), LACKS.values(), ids=LACKS)
def test_what_cannot_be_made_whole_is_reported_and_left_alone(
    plain: Handle, look: Look, tenant: str, how: LiteralString, problem: str
) -> None:
    put(look, tenant, "bad", created_at=MAY)
    put(look, tenant, "good")
    change(look, "MATCH (m:Memory {tenant: $tenant, id: 'bad'}) " + how, tenant=tenant)
    before = nodes(look, tenant)["bad"]
    for made in (1, 0):
        done = plain.admin.backfill()
        assert (done.memories, done.events) == (made, made)
        [unfit] = done.unfit
        assert (unfit.kind, unfit.problem, unfit.hint) == ("memory", *backfill.PROBLEMS[problem])
        assert (unfit.count, unfit.ids) == (1, ("bad",))
    assert nodes(look, tenant)["bad"] == before
    assert len(look.events(tenant)) == 1
    # A rebuild has nothing to go by either, and does not touch what is all that is known.
    [wrong] = plain.admin.rebuild().wrong
    assert (wrong.id, "admin backfill" in wrong.found) == ("bad", True)
    assert nodes(look, tenant)["bad"] == before


def test_a_rebuild_leaves_alone_what_has_no_events(
    memory: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "BACKFILL_PAGE", 2)
    for name in "abc":
        put(look, tenant, name, status="deprecated", trace="much", created_at=MAY)
    spoilt = str(memory.remember("Alice deploys from Borealis").memory_id)
    change(
        look,
        "MATCH (m:Memory {tenant: $tenant, id: $id}) SET m.status = 'deprecated'",
        tenant=tenant,
        id=spoilt,
    )
    before = nodes(look, tenant)
    for found in (memory.admin.verify(), memory.admin.rebuild()):
        assert [wrong.id for wrong in found.wrong] == ["a", "b", "c", spoilt]
        assert ["admin backfill" in wrong.found for wrong in found.wrong] == [True] * 3 + [False]
    after = nodes(look, tenant)
    assert {name: after[name] for name in "abc"} == {name: before[name] for name in "abc"}
    assert after[spoilt]["status"] == "current"
    memory.admin.backfill()
    assert statuses(memory) == {**dict.fromkeys("abc", "deprecated"), spoilt: "current"}
    assert memory.admin.verify().wrong == ()


def test_every_problem_is_reported_and_many_of_a_kind_at_once(
    plain: Handle, look: Look, tenant: str
) -> None:
    for n in range(12):
        put(look, tenant, f"m{n:02}", tags="one", status="active")
    done = plain.admin.backfill()
    assert {u.problem for u in done.unfit} == {backfill.PROBLEMS[k][0] for k in ("tags", "status")}
    for unfit in done.unfit:
        assert (unfit.count, unfit.ids) == (12, tuple(f"m{n:02}" for n in range(10)))


def test_what_the_hint_says_makes_it_whole(plain: Handle, look: Look, tenant: str) -> None:
    put(look, tenant, "bad", created_at="2025-05-05T00:00:00Z")
    assert plain.admin.backfill().memories == 0
    change(
        look,
        "MATCH (m:Memory {tenant: $tenant, id: 'bad'}) SET m.created_at = datetime(m.created_at)",
        tenant=tenant,
    )
    assert plain.admin.backfill().model_dump() == {
        **NOTHING,
        "memories": 1,
        "embedded": 1,
        "events": 1,
    }
    assert plain.memories.get("bad").created_at == MAY


def test_memories_without_an_id_are_counted_and_named(
    memory: Handle, look: Look, tenant: str
) -> None:
    for given_id in (None, "", 7, ["a"]):
        change(
            look,
            "CREATE (m:Memory {tenant: $tenant, scope: 'global', content: 'x'}) "
            "SET m.id = $given_id",
            tenant=tenant,
            given_id=given_id,
        )
    elements = {
        row["name"]
        for row in look.rows(
            "MATCH (m:Memory {tenant: $tenant}) RETURN elementId(m) AS name", tenant=tenant
        )
    }
    done = memory.admin.backfill()
    [unfit] = done.unfit
    assert (unfit.kind, unfit.count, set(unfit.ids)) == ("memory", 4, elements)
    assert unfit.problem == backfill.PROBLEMS["id"][0]
    assert done.model_copy(update={"unfit": ()}).model_dump() == NOTHING


def test_other_tenants_and_nodes_of_nobody_are_left_alone(
    memory: Handle, look: Look, tenant: str
) -> None:
    other = fresh_tenant()
    put(look, other, "m")
    change(
        look,
        "CREATE (:Memory {id: $id, scope: 'global', content: 'x', mark: $id})",
        id=other,
    )
    put(look, tenant, "m")
    before = nodes(look, other)
    assert memory.admin.backfill().memories == 1
    assert nodes(look, other) == before
    assert look.events(other) == {}
    [nobody] = look.rows("MATCH (m:Memory {mark: $id}) RETURN properties(m) AS props", id=other)
    assert len(nobody["props"]) == 4
    change(look, "MATCH (m:Memory {mark: $id}) DELETE m", id=other)


def test_an_event_of_another_scope_is_none_of_its_own(
    memory: Handle, look: Look, tenant: str
) -> None:
    put(look, tenant, "old-1", content="Alice deploys from Borealis", created_at=MAY)
    memory.admin.backfill()
    memory.scope("alice").remember("Alice deploys from Borealis", at=MAY + DAY)
    change(
        look,
        "MATCH (m:Memory {tenant: $tenant, id: 'old-1'})<-[r]-(:Event {scope: 'global'}) DELETE r",
        tenant=tenant,
    )
    assert memory.admin.backfill().memories == 1
    assert memory.memories.get("old-1").created_at == MAY
    assert memory.admin.verify().wrong == ()
    assert memory.scope("alice").memories.get("old-1").reinforce_count == 1


def test_a_memory_that_has_events_is_filled_in_and_gets_no_more(
    memory: Handle, look: Look, tenant: str
) -> None:
    done = memory.remember("Alice deploys from Borealis", at=MAY, tags=["a"])
    name = str(done.memory_id)
    sound = nodes(look, tenant)[name]
    events = look.events(tenant)
    change(
        look,
        "MATCH (m:Memory {tenant: $tenant, id: $id}) REMOVE m.created_at, m.recorded_at, "
        "m.status, m.content_hash, m.tenant_key, m.scope_key, m.embedding, m.trace "
        "SET m.reinforce_count = 'much', m.last_seen_at = 5",
        tenant=tenant,
        id=name,
    )
    filled = memory.admin.backfill()
    assert filled.model_dump() == {**NOTHING, "filled": 1, "embedded": 1}
    kept = nodes(look, tenant)[name]
    assert {k: v for k, v in kept.items() if k not in ("reinforce_count", "last_seen_at")} == {
        **sound,
        "recorded_at": events[done.event_id]["recorded_at"],
    }
    assert look.events(tenant) == events
    assert memory.admin.backfill().model_dump() == NOTHING


@pytest.mark.parametrize(
    "name",
    [
        *("created_at", "recorded_at", "status", "tags", "embedding"),
        *("content_hash", "tenant_key", "scope_key"),
    ],
)
def test_whatever_lacks_alone_is_noticed(plain: Handle, look: Look, tenant: str, name: str) -> None:
    plain.remember("Alice deploys from Borealis", at=MAY)
    [(memory_id, sound)] = nodes(look, tenant).items()
    change(
        look,
        "MATCH (m:Memory {tenant: $tenant, id: $id}) SET m[$name] = null",
        tenant=tenant,
        id=memory_id,
        name=name,
    )
    assert plain.admin.backfill().filled == 1
    assert nodes(look, tenant)[memory_id].keys() == sound.keys()
    assert plain.admin.backfill().model_dump() == NOTHING


def test_what_is_whole_already_is_left_alone(memory: Handle, look: Look, tenant: str) -> None:
    old = memory.remember("Alice deploys from Borealis", at=MAY)
    memory.supersede(str(old.memory_id), "Alice deploys from Atlas")
    memory.scope("bob").remember("Bob reads", at=datetime.now(UTC) + timedelta(minutes=4))
    before = whole(look, tenant)
    assert memory.admin.backfill().model_dump() == NOTHING
    assert whole(look, tenant) == before


def test_only_so_many_events_are_made_for_one_memory(
    plain: Handle, look: Look, tenant: str
) -> None:
    last = MAY + 100 * DAY
    put(
        look,
        tenant,
        "m",
        created_at=MAY,
        last_seen_at=last,
        reinforce_count=backfill.MAX_EVENTS + 7,
    )
    put(look, tenant, "n", created_at=MAY, reinforce_count=1)
    done = plain.admin.backfill()
    assert (done.memories, done.capped, done.events) == (2, 1, 2 + backfill.MAX_EVENTS + 1)
    one = plain.memories.get("m")
    assert (one.reinforce_count, one.last_seen_at) == (backfill.MAX_EVENTS, last)
    [add] = [
        event
        for event in look.events(tenant).values()
        if event["type"] == "ADD" and ["REINFORCES", "Memory", "m"] in event["edges"]
    ]
    assert json.loads(add["payload"])["reinforce_count"] == backfill.MAX_EVENTS + 7
    assert plain.admin.verify().wrong == ()


def test_many_events_are_more_than_one_transaction(
    plain: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "MAX_EVENTS", 10)
    for n, count in enumerate((4, 6, 1, 30, 0, 2)):
        put(look, tenant, f"m{n}", created_at=MAY, reinforce_count=count)
    parts: list[int] = []
    handle = on(
        plain,
        graph=Holding(
            plain._state.context.services.graph,
            "cache/backfill_write",
            lambda: parts.append(len(look.events(tenant))),
        ),
    )
    assert handle.admin.backfill().events == 43 + 6
    # What the transactions before had committed: 4 + 6, 1, 30, and 0 + 2 said again.
    assert parts == [0, 12, 14, 45]


def test_pages_are_walked_to_the_end_and_told(
    memory: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "BACKFILL_PAGE", 2)
    for n in range(5):
        put(look, tenant, f"m{n}")
    for n in range(3):
        draw(look, tenant, f"m{n + 1}", f"m{n}")
    told: list[tuple[str, int]] = []
    done = memory.admin.backfill(lambda kind, count: told.append((kind, count)))
    assert (done.memories, done.edges) == (5, 3)
    assert told == [("memory", 2), ("memory", 2), ("memory", 1), ("edge", 2), ("edge", 1)]
    assert memory.admin.verify().wrong == ()
