"""Synthetic events of memories, and the times of SUPERSEDES edges without events."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Status
from graphmem.rules import identity
from graphmem.upkeep import backfill
from graphmem.upkeep.backfill import MAX_EVENTS, PROBLEMS, TICK, UnbackedEdge, UnbackedMemory

MAY = datetime(2025, 5, 5, tzinfo=UTC)
NOW = MAY + timedelta(days=100)

instants = st.integers(0, 10**6).map(lambda n: MAY + n * TICK)
names = st.sampled_from("abcdef")


def found(**given: Any) -> UnbackedMemory:
    return UnbackedMemory(**{"id": "m", "scope": "global", "content": "Alice deploys", **given})


@given(first=instants, width=st.integers(0, 10**14), count=st.integers(1, MAX_EVENTS))
def test_reinforcements_are_spread_evenly(first: datetime, width: int, count: int) -> None:
    last = first + width * TICK
    times = backfill.spaced_times(first, last, count)
    assert (len(times), times[-1]) == (count, last)
    gaps = [b - a for a, b in zip([first, *times], times, strict=False)]
    assert min(gaps) >= timedelta(0)
    assert max(gaps) - min(gaps) <= TICK


def test_no_reinforcement_has_no_time() -> None:
    assert backfill.spaced_times(MAY, NOW, 0) == []


def kinds(row: dict[str, Any]) -> list[tuple[str, datetime]]:
    return [(event["type"], event["occurred_at"]) for event in row["events"]]


def test_a_count_is_as_many_events_from_the_first_to_the_last() -> None:
    last = MAY + timedelta(days=10)
    row = backfill.memory_row(
        found(created_at=MAY, last_seen_at=last, reinforce_count=2), "acme", NOW
    )
    assert kinds(row) == [
        ("ADD", MAY),
        ("REINFORCE_EXACT", MAY + timedelta(days=5)),
        ("REINFORCE_EXACT", last),
    ]
    assert row["created_at"] == MAY
    payloads = [json.loads(event["payload"]) for event in row["events"]]
    assert payloads == [{"synthetic": True, "reinforce_count": 2}, *[{"synthetic": True}] * 2]
    for event in row["events"]:
        assert event["source"] == "backfill"
        assert event["scope"] == "global"
        assert event["content_hash"] == identity.content_hash("Alice deploys")


def test_without_the_last_instant_all_lie_at_the_first() -> None:
    row = backfill.memory_row(found(created_at=MAY, reinforce_count=3), "acme", NOW)
    assert {at for _, at in kinds(row)} == {MAY}
    assert len(row["events"]) == 4


@pytest.mark.parametrize(
    ("known", "first"),
    [
        ({}, NOW),
        ({"last_seen_at": MAY}, MAY),
        ({"recorded_at": MAY}, MAY),
        ({"last_seen_at": NOW, "recorded_at": MAY}, MAY),
        ({"last_seen_at": MAY, "recorded_at": NOW}, MAY),
        ({"created_at": NOW, "recorded_at": MAY}, NOW),
    ],
)
def test_a_memory_began_when_it_is_first_known_of(
    known: dict[str, datetime], first: datetime
) -> None:
    row = backfill.memory_row(found(**known), "acme", NOW)
    assert kinds(row) == [("ADD", first)]
    assert row["created_at"] == first


def test_the_number_of_events_is_capped_and_the_count_is_kept() -> None:
    many = found(created_at=MAY, reinforce_count=MAX_EVENTS + 1)
    row = backfill.memory_row(many, "acme", NOW)
    assert len(row["events"]) == 1 + MAX_EVENTS
    assert json.loads(row["events"][0]["payload"])["reinforce_count"] == MAX_EVENTS + 1
    assert many.is_capped
    assert not found(reinforce_count=MAX_EVENTS).is_capped
    assert not found().is_capped


@pytest.mark.parametrize("last", [MAY, NOW + timedelta(minutes=1)])
def test_what_is_kept_as_deprecated_is_so_from_now_on(last: datetime) -> None:
    hidden = found(created_at=MAY, last_seen_at=last, reinforce_count=1, status="deprecated")
    row = backfill.memory_row(hidden, "acme", NOW)
    assert kinds(row)[-1] == ("DEPRECATE", max(NOW, last + TICK))
    marked = found(created_at=MAY, status="deprecated", marked=True)
    assert kinds(backfill.memory_row(marked, "acme", NOW)) == [("ADD", MAY)]


def test_a_memory_with_events_gets_none_and_what_it_holds_stays() -> None:
    row = backfill.memory_row(found(stated=True, tags=["a"], status="superseded"), "acme", NOW)
    assert row["events"] == []
    assert (row["created_at"], row["tags"], row["status"]) == (None, ["a"], "superseded")


def test_what_follows_from_the_rest_is_made_from_it() -> None:
    row = backfill.memory_row(found(), "acme", NOW)
    assert row["scope_key"] == identity.scope_key("acme", "global")
    assert row["content_hash"] == identity.content_hash("Alice deploys")
    assert (row["tags"], row["status"], row["recorded_at"]) == ([], Status.CURRENT, None)


def test_ids_are_the_same_each_time_and_no_two_alike() -> None:
    def ids(tenant: str, name: str) -> list[str]:
        one = found(id=name, created_at=MAY, reinforce_count=3, status="deprecated")
        return [event["id"] for event in backfill.memory_row(one, tenant, NOW)["events"]]

    assert ids("acme", "m") == ids("acme", "m")
    every = [*ids("acme", "m"), *ids("acme", "n"), *ids("other", "m")]
    assert len(set(every)) == len(every) == 15
    assert all(name.startswith(backfill.SOURCE + "_") for name in every)


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        ({}, []),
        ({"content": " \n "}, ["blank"]),
        ({"content": "x" * 11}, ["long"]),
        ({"content": "x" * 10}, []),
        ({"status": "superseded"}, ["unreplaced"]),
        ({"status": "superseded", "replaced": True}, []),
        ({"status": "superseded", "stated": True}, []),
        ({"created_at": NOW, "last_seen_at": MAY}, ["order"]),
        ({"created_at": MAY, "last_seen_at": MAY}, []),
        ({"wrong": ["scope", "tags"], "content": ""}, ["scope", "tags"]),
    ],
)
def test_what_keeps_a_memory_from_being_made_whole(
    given: dict[str, Any], problems: list[str]
) -> None:
    problems = found(**{"content": "x", **given}).problems(most_chars=10)
    assert problems == problems
    assert set(problems) <= set(PROBLEMS)


def edge(newer: str, older: str, **given: Any) -> UnbackedEdge:
    known = {"scope": "global", "dated": True, "at": MAY, "back_at": MAY}
    return UnbackedEdge(newer, older, **{**known, "apart": False, "whole": True, **given})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, None),
        ({"whole": False, "apart": True, "dated": False}, "ends"),
        ({"apart": True, "dated": False}, "apart"),
        ({"dated": False}, "undated"),
    ],
)
def test_what_keeps_an_edge_from_its_event(given: dict[str, Any], problem: str | None) -> None:
    assert edge("b", "a", **given).problem == problem
    assert problem is None or problem in backfill.EDGE_PROBLEMS


def test_an_edge_is_given_the_event_of_both_its_ends() -> None:
    row = backfill.edge_row(edge("b", "a"), "acme")
    assert (row["newer_id"], row["older_id"]) == ("b", "a")
    event = row["event"]
    assert (event["type"], event["occurred_at"], event["scope"]) == ("SUPERSEDE", MAY, "global")
    payload = json.loads(event["payload"])
    assert payload == {
        "synthetic": True,
        "newer_id": "b",
        "older_id": "a",
        "event_id": event["id"],
    }
    others = [("a", "b"), ("b", "c")]
    assert event["id"] not in {
        backfill.edge_row(edge(*ends), "acme")["event"]["id"] for ends in others
    }
    assert event["id"] != backfill.edge_row(edge("b", "a"), "other")["event"]["id"]


EDGES = st.lists(
    st.tuples(names, names, instants, st.none() | instants),
    max_size=12,
    unique_by=lambda given: given[:2],
).map(lambda rows: [edge(n, o, at=at, back_at=back) for n, o, at, back in rows])


def below(edges: list[UnbackedEdge], start: str) -> set[str]:
    """Return what can be reached from a memory, itself only by a ring."""
    seen: set[str] = set()
    ahead = [e.older_id for e in edges if e.newer_id == start]
    while ahead:
        here = ahead.pop()
        if here not in seen:
            seen.add(here)
            ahead += [e.older_id for e in edges if e.newer_id == here]
    return seen


@given(edges=EDGES)
def test_exactly_what_leads_to_no_ring_is_dated(edges: list[UnbackedEdge]) -> None:
    done, ringed = backfill.dated_edges(edges)
    on_ring = {name for name in "abcdef" if name in below(edges, name)}
    wanted = {
        (e.newer_id, e.older_id)
        for e in edges
        if not ({e.older_id} | below(edges, e.older_id)) & on_ring
    }
    assert {(e.newer_id, e.older_id) for e in done} == wanted
    assert len(done) + len(ringed) == len(edges)
    assert all(e in edges for e in ringed)


@given(edges=EDGES)
def test_an_edge_comes_after_all_that_brings_its_older_memory_back(
    edges: list[UnbackedEdge],
) -> None:
    done, _ = backfill.dated_edges(edges)
    given_at = {(e.newer_id, e.older_id): e.at for e in edges}
    for place, one in enumerate(done):
        assert one.at is not None
        own = given_at[one.newer_id, one.older_id]
        times = [e.back_at for e in edges if e.older_id == one.older_id and e.back_at]
        made = [e.at for e in done if e.newer_id == one.older_id and e.at]
        assert one.at == max([own or MAY, *(at + TICK for at in (*times, *made))])
        assert all(e in done[:place] for e in done if e.newer_id == one.older_id)


@given(edges=EDGES, data=st.data())
def test_the_order_in_which_edges_are_found_does_not_matter(
    edges: list[UnbackedEdge], data: st.DataObject
) -> None:
    other = data.draw(st.permutations(edges))
    key = str
    assert sorted(backfill.dated_edges(edges)[0], key=key) == sorted(
        backfill.dated_edges(other)[0], key=key
    )


def test_a_long_chain_is_no_matter() -> None:
    edges = [edge(str(n + 1), str(n), at=MAY - timedelta(days=n)) for n in range(5_000)]
    done, ringed = backfill.dated_edges(edges)
    assert ringed == []
    assert [e.at for e in done] == [MAY + (n + 1) * TICK for n in range(5_000)]
