"""`graphmem expand` and `graphmem memory stale`, as people and programs read them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.plugins.texts import unlike

Run = Callable[..., Any]

OLD = "2025-05-05T09:00:00Z"


def added(run: Run, text: str, *options: str) -> str:
    memory_id: str = run("memory", "remember", text, "--json", *options).data["memory_id"]
    return memory_id


def test_a_memory_is_shown_with_its_events_and_neighbours(run: Run) -> None:
    old = added(run, "The limit is 100.", "--at", OLD, "--source", "hook")
    done = run("memory", "supersede", old, "The limit is 200.", "--reason", "load test", "--json")
    newer = done.data["newer_id"]
    shown = run("expand", old).out
    assert "○ The limit is 100." in shown
    assert "load test" in shown
    assert "hook" in shown
    assert f"replaced by The limit is 200. ({newer[:6]}) on" in shown
    assert "not accessed before" in shown
    assert f"replaces The limit is 100. ({old[:6]})" in run("expand", newer).out
    again = run("expand", old)
    assert "accessed 1 time before, last" in again.out
    data = run("expand", old, "--json").data
    assert (data["accesses"], data["item"]["id"]) == (2, old)
    assert [n["id"] for n in data["superseded_by"]] == [newer]
    run("memory", "restore", old)
    assert "the value came back" in run("expand", old).out


def test_a_belief_a_turn_and_an_episode_are_shown(
    run: Run, migrated: Settings, tenant: str
) -> None:
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        memory = client.tenant(tenant)
        memory.predicates.declare("lives_in", cardinality="ONE")
        with memory.session("monday") as session:
            said = [{"role": "user", "name": "Ann", "content": unlike(n)} for n in range(102)]
            added = session.add_messages(said)
            done = session.remember("Ann lives in Porto.", claims=[("ann", "lives_in", "Porto")])
            seen = session.observe(
                "ann", "lives_in", "Porto", note="at lunch", turn_id=added.turn_ids[5]
            )
        document = memory.episodes.add(
            episode_id="doc",
            summary="A short summary.",
            content="The whole of it.",
            entities=["ann"],
        )
        testified = memory.add_evidence(seen, "refuting", 0.6)

    belief = run("expand", seen.belief_id).out
    assert "● ann lives in Porto" in belief
    for words in ("EVIDENCE", "EXPLICIT", "at lunch", testified.event_id, "0.60"):
        assert words in belief
    assert f"» Ann: {unlike(5)}" in belief
    assert "in session monday of" in belief

    shown = run("expand", added.turn_ids[5]).out.splitlines()
    assert shown[0] == f"turn 5 of {session.episode_id[:7]}"
    lines = [line for line in shown if "Ann: " in line]
    assert [line.split("Ann: ")[1].split("   ")[0] for line in lines] == [
        unlike(n) for n in range(2, 9)
    ]
    assert [line.startswith("» ") for line in lines] == [n == 5 for n in range(2, 9)]

    episode = run("expand", session.episode_id).out
    assert "session monday of" in episode
    assert "102 turns" in episode
    assert f"Ann: {unlike(99)}" in episode
    assert "2 more turns" in episode
    assert unlike(100) not in episode
    papers = run("expand", document).out
    for words in ("A short summary.", "The whole of it.", "about ann", "0 turns"):
        assert words in papers

    memory_card = run("expand", str(done.memory_id)).out
    assert "asserts ● " in memory_card
    assert f"   {done.belief_ids[0][:6]}\n" in memory_card
    run("belief", "observe", "ann", "lives_in", "Lisbon", "--confidence", "1")
    card = run("expand", str(done.memory_id)).out
    assert f"beliefs no longer held: {done.belief_ids[0][:6]}\n" in card


def test_the_stale_are_listed_page_by_page(run: Run, migrated: Settings, tenant: str) -> None:
    for n in range(3):
        added(run, unlike(n), "--at", f"2025-05-0{n + 1}T09:00:00Z")
    added(run, unlike(9))
    day, stated = timedelta(days=1), datetime(2025, 5, 1, 9, tzinfo=UTC)
    before = datetime.now(UTC)
    shown = run("memory", "stale", "--limit", "2").out
    after = datetime.now(UTC)
    assert shown.index(unlike(0)) < shown.index(unlike(1))
    assert unlike(2) not in shown
    # The number changes once a day, perhaps during the call.
    ago = {(now - stated) // day for now in (before, after)}
    assert any(f"last stated 1 May 2025, {days} days ago" in shown for days in ago)
    assert "trace 0.00" in shown
    cursor = shown.split("more: --cursor ")[1].strip()
    rest = run("memory", "stale", "--limit", "2", "--cursor", cursor)
    assert unlike(2) in rest.out
    assert "more:" not in rest.out
    data = run("memory", "stale", "--json").data
    assert [one["memory"]["content"] for one in data["memories"]] == [unlike(n) for n in range(3)]
    assert data["next_cursor"] is None
    assert "No memory is that old or contradicted." in run("memory", "stale", "--days", "36500").out
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        memory = client.tenant(tenant)
        old: dict[str, Any] = {"at": datetime(2025, 1, 1, tzinfo=UTC)}
        memory.predicates.declare("is", cardinality="ONE", **old)
        memory.remember(unlike(20), claims=[("a", "is", "b")], **old)
        lost = memory.observe("a", "is", "b").belief_id
        memory.observe("a", "is", "c", confidence=1)
    assert f"beliefs no longer held: {lost[:6]}\n" in run("memory", "stale").out


def test_another_scope_is_not_expanded(run: Run) -> None:
    hers = added(run, "Alice keeps bees.", "--scope", "user:alice")
    assert run("expand", hers, "--scope", "user:alice").code == 0
    assert run("expand", hers).code == 1
