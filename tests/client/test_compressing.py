"""Compression: what nobody needed is reduced to its summary, and every archive can be restored."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import ConsolidationPolicy, GraphMem, Handle, Settings
from graphmem.errors import (
    ArchiveDamagedError,
    GraphUnavailableError,
)
from graphmem.model import Episode
from graphmem.rules import identity
from graphmem.testing import FrozenClock
from graphmem.upkeep import CompressionReport, compression, rules
from tests.plugins.clients import Door, on_tenant
from tests.plugins.examples import examples
from tests.plugins.faults import Between, Breaking, LostError, Retrying, Unacknowledged
from tests.plugins.graph import Look, fresh_tenant

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
OLD, NEW = NOW - timedelta(days=31), NOW - timedelta(days=29)
LONG = "Ann moved to Porto in May. " * 40
GIST = " ".join(["Ann moved to Porto in May."] * 11)
HOSTILE = "a\r\nb\r\tc\x00\x1e\x1f\u2028\ufeff 🙂 e\u0301 \\ ` ' \" " * 30


@pytest.fixture
def then(door: Door, memory: Handle) -> Handle:
    """A memory whose clock stands."""
    return door.on(memory, clock=FrozenClock(NOW))


def long_ago(memory: Handle, episode_id: str, **more: Any) -> str:
    return memory.episodes.add(episode_id=episode_id, **{"content": LONG, "at": OLD, **more})


def ids(done: CompressionReport) -> list[str]:
    return [one.episode_id for one in done.episodes]


def stored(look: Look, tenant: str, label: str) -> list[dict[str, Any]]:
    """Every episode or archive of a tenant, with all its properties."""
    rows = look.rows(
        "MATCH (n:Episode|Archive {tenant: $tenant}) WHERE $label IN labels(n) "
        "RETURN properties(n) AS has ORDER BY n.id",
        tenant=tenant,
        label=label,
    )
    return [{k: v for k, v in row["has"].items() if k != "locked_at"} for row in rows]


def test_old_unused_episodes_of_normal_importance_are_compressed(then: Handle) -> None:
    long_ago(then, "told nothing more")
    long_ago(then, "summed up", summary="Ann moved.", at=OLD - timedelta(days=1))
    long_ago(then, "on the day", at=NOW - timedelta(days=30), importance=0.69)
    long_ago(then, "new", at=NEW)
    long_ago(then, "important", importance=0.7)
    long_ago(then, "short", content="x" * 300)
    long_ago(then, "longer summary", content="Ann moved.", summary="Ann moved to Porto.")
    long_ago(then, "no text", content=None, summary="Ann moved.")
    long_ago(then, "looked at")
    then.scope("alice").expand("looked at")
    then.usage.flush()
    done = then.episodes.compress()
    assert done.applied
    assert ids(done) == ["summed up", "told nothing more", "on the day"]
    assert [one.kept for one in done.episodes] == ["Ann moved.", GIST, GIST]
    assert {one.characters for one in done.episodes} == {len(LONG)}
    whole = ["new", "important", "short", "longer summary", "looked at"]
    assert all(then.episodes.get(name).content for name in whole)
    assert not any(then.episodes.get(name).compressed for name in [*whole, "no text"])
    again = then.episodes.compress()
    assert (again.applied, again.episodes) == (False, ())


def test_what_is_read_of_a_compressed_episode(then: Handle) -> None:
    long_ago(then, "a", entities=["ann"])
    long_ago(then, "b", summary="Ann moved.")
    then.episodes.compress()
    for name, summary, gist in (("a", None, GIST), ("b", "Ann moved.", None)):
        card = then.expand(name).item
        assert isinstance(card, Episode)
        assert card == then.episodes.get(name)
        assert (card.summary, card.content, card.gist, card.compressed) == (
            summary,
            None,
            gist,
            True,
        )
    # The same again is the same episode, and it stays compressed.
    assert long_ago(then, "b", summary="Ann moved.") == "b"
    assert then.episodes.get("b").compressed


def test_the_text_goes_to_an_archive_and_an_event_says_so(
    then: Handle, look: Look, tenant: str
) -> None:
    long_ago(then, "a")
    [before] = stored(look, tenant, "Episode")
    then.episodes.compress()
    [after] = stored(look, tenant, "Episode")
    assert before["embedding"]
    assert after.pop("gist") == GIST
    assert {**after, "content": LONG} == before
    [archive] = stored(look, tenant, "Archive")
    assert archive.pop("recorded_at")
    assert archive == {
        "tenant": tenant,
        "id": "archive_" + identity.digest("a")[:32],
        "scope": "global",
        "episode_id": "a",
        "content": LONG,
        "sha256": identity.digest(LONG),
    }
    [event] = look.events(tenant).values()
    assert (event["type"], event["source"]) == ("COMPRESS", "consolidation")
    assert event["edges"] == [["CONCERNS", "Episode", "a"]]
    reason = "importance 0.50 is below 0.7, never used, 31 days old"
    assert json.loads(event["payload"]) == {
        "reason": reason,
        "sha256": identity.digest(LONG),
        "characters": len(LONG),
    }
    [told] = then.history("a")
    assert (told.type, told.payload["reason"]) == ("COMPRESS", reason)


@pytest.mark.parametrize("summary", [None, "", " \n", "Ann moved."])
def test_restored_it_is_what_it_was(
    then: Handle, look: Look, tenant: str, summary: str | None
) -> None:
    long_ago(then, "a", content=HOSTILE, summary=summary, entities=["ann"])
    before, seen = stored(look, tenant, "Episode"), then.episodes.get("a")
    assert ids(then.episodes.compress()) == ["a"]
    done = then.episodes.restore("a")
    assert (done.episode_id, done.changed) == ("a", True)
    assert stored(look, tenant, "Episode") == before
    assert stored(look, tenant, "Archive") == []
    assert then.episodes.get("a") == seen
    events = look.events(tenant)
    assert sorted(event["type"] for event in events.values()) == ["COMPRESS", "RESTORE"]
    assert events[str(done.event_id)]["edges"] == [["CONCERNS", "Episode", "a"]]
    # Somebody wanted it: it is left whole.
    assert then.episodes.compress().episodes == ()
    again = then.episodes.restore("a")
    assert (again.changed, again.event_id) == (False, None)
    assert look.events(tenant) == events


@settings(max_examples=examples(5, 30, 200))
@given(st.text(min_size=301, max_size=2_000))
def test_any_text_comes_back(plain: Handle, look: Look, text: str) -> None:
    tenant = fresh_tenant()
    memory = on_tenant(plain, tenant)
    memory.episodes.add(episode_id="a", content=text, at=OLD)
    [one] = memory.episodes.compress().episodes
    assert one.kept == rules.gist(text)
    memory.episodes.restore("a")
    assert memory.episodes.get("a").content == text


def test_a_dry_run_writes_nothing_and_says_what_the_run_then_does(
    then: Handle, look: Look, tenant: str
) -> None:
    long_ago(then, "a")
    long_ago(then, "b", summary="Ann moved.")
    before = look.graph(tenant)
    told = then.episodes.compress(dry_run=True)
    assert look.graph(tenant) == before
    assert not told.applied
    assert len(told.episodes) == 2
    assert then.episodes.compress().episodes == told.episodes


def test_a_page_at_a_time(then: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "BATCH", 2)
    for n in range(5):
        long_ago(then, f"e{n}", at=OLD - timedelta(days=n // 3))
    seen: list[tuple[str, int]] = []

    def told(kind: str, count: int) -> None:
        seen.append((kind, count))

    for dry_run in (True, False):
        done = then.episodes.compress(dry_run=dry_run, on_progress=told)
        assert ids(done) == ["e3", "e4", "e0", "e1", "e2"]
    assert seen == [("episode", 2), ("episode", 2), ("episode", 1)] * 2


@pytest.mark.parametrize("nth", [1, 2])
def test_a_batch_is_written_whole_or_not_at_all(
    door: Door, then: Handle, look: Look, tenant: str, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "BATCH", 1)
    for name in "ab":
        long_ago(then, name)
    graph = then._state.context.services.graph
    with pytest.raises(LostError):
        door.on(then, graph=Breaking(graph, nth)).episodes.compress()
    assert [then.episodes.get(name).compressed for name in "ab"] == [nth == 2, False]
    assert len(look.events(tenant)) == len(stored(look, tenant, "Archive")) == nth - 1
    assert ids(then.episodes.compress()) == ["a", "b"][nth - 1 :]


def test_an_unacknowledged_and_a_repeated_transaction_write_once(
    door: Door, then: Handle, look: Look, tenant: str
) -> None:
    long_ago(then, "a")
    graph = then._state.context.services.graph
    with pytest.raises(GraphUnavailableError):
        door.on(then, graph=Unacknowledged(graph, 1)).episodes.compress()
    assert then.episodes.compress().episodes == ()
    with pytest.raises(GraphUnavailableError):
        door.on(then, graph=Unacknowledged(graph, 1)).episodes.restore("a")
    assert not then.episodes.restore("a").changed
    long_ago(then, "b")
    assert ids(door.on(then, graph=Retrying(graph)).episodes.compress()) == ["b"]
    assert door.on(then, graph=Retrying(graph)).episodes.restore("b").changed
    assert then.episodes.get("b").content == LONG
    assert len(look.events(tenant)) == 4


@pytest.mark.usefixtures("both_clients")
def test_many_at_once_compress_each_once(door: Door, then: Handle, look: Look, tenant: str) -> None:
    for n in range(10):
        long_ago(then, f"e{n}")
    done = door.together(then, [lambda m: m.episodes.compress()] * 3)
    assert not [one for one in done if isinstance(one, Exception)]
    assert sorted(name for one in done for name in ids(one)) == [f"e{n}" for n in range(10)]
    assert len(look.events(tenant)) == len(stored(look, tenant, "Archive")) == 10
    done = door.together(then, [lambda m: m.episodes.restore("e0")] * 3)
    assert sorted(one.changed for one in done) == [False, False, True]


def test_what_happens_meanwhile_is_heeded(
    door: Door, then: Handle, migrated: Settings, tenant: str
) -> None:
    for name in "abc":
        long_ago(then, name)

    def happens() -> None:
        with GraphMem.open(
            settings=migrated, embedder=then._state.context.services.embedder
        ) as other:
            elsewhere = other.tenant(tenant)
            elsewhere.expand("a")
            elsewhere.usage.flush()
            elsewhere.episodes.compress()
            elsewhere.episodes.restore("c")

    graph = Between(then._state.context.services.graph, happens)
    assert door.on(then, graph=graph).episodes.compress().episodes == ()
    assert [then.episodes.get(name).compressed for name in "abc"] == [False, True, False]


def test_only_the_own_scope_is_compressed(then: Handle) -> None:
    alice = then.scope("alice")
    long_ago(then, "ours")
    long_ago(alice, "hers")
    assert ids(alice.episodes.compress()) == ["hers"]
    assert ids(then.episodes.compress()) == ["ours"]


def test_a_damaged_archive_is_not_put_back(
    plain: Handle, look: Look, tenant: str, driver: neo4j.Driver
) -> None:
    long_ago(plain, "a")
    plain.episodes.compress()
    driver.execute_query(
        "MATCH (a:Archive {tenant: $tenant}) WHERE a.id IS NOT NULL SET a.content = 'other'",
        tenant=tenant,
    )
    before = look.graph(tenant)
    with pytest.raises(ArchiveDamagedError) as caught:
        plain.episodes.restore("a")
    assert caught.value.code == "archive_damaged"
    assert look.graph(tenant) == before


def test_turns_stay_word_for_word(then: Handle) -> None:
    episode_id = identity.episode_id("global", "s")
    long_ago(then, episode_id, session_id="s")
    then.session("s").add_messages([{"role": "user", "content": LONG, "at": OLD}])
    assert ids(then.episodes.compress()) == [episode_id]
    assert [turn.text for turn in then.episodes.turns(episode_id).turns] == [LONG]


@pytest.mark.parametrize("told", ["summary", "content"])
def test_consolidation_sees_a_compressed_episode_as_before(then: Handle, told: str) -> None:
    for n in range(3):
        text = " ".join(["I swim across the cold lake before breakfast."] * (30 + n))
        long_ago(then, f"e{n}", **{told: text[:999] if told == "summary" else text})
    policy = ConsolidationPolicy(min_episodes=1)
    before = then.consolidate(dry_run=True, policy=policy)
    assert before.changes
    assert len(then.episodes.compress().episodes) == 3
    after = then.consolidate(dry_run=True, policy=policy)
    assert after.changes == before.changes
