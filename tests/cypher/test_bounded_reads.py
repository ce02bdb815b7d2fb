"""Calls that read no more in a large tenant than in a small one, counted in database hits."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from neo4j.vector import Vector

from bench.bare import Bare
from bench.episodes import LOAD
from bench.growth_curves import START, Place
from bench.hits import Profiler, profiler
from graphmem import GraphMem, Handle, Settings
from graphmem.client import connect
from graphmem.model import GLOBAL_SCOPE
from graphmem.ports import Role, run_now
from graphmem.rules import identity
from graphmem.testing import HashEmbedder

SMALL, LARGE = 40, 400
FEW = 60
"""Hits that are not growth: the server reads all relationships of a node that has fewer than 50."""
MOST = 1_000
"""Maximum number of hits: the server has the memories of all tests' tenants."""
DAY = timedelta(days=1)
LONG = identity.episode_id(GLOBAL_SCOPE, "long")
"""Id of a session whose length is that of the tenant."""


def fill(place: Place) -> None:
    """Write memories, facts and episodes of different times, and aliases."""
    handle, times = place.handle, [START + n * timedelta(minutes=1) for n in range(place.size)]
    for n in range(0, place.size, 10):
        place.write(place.texts(n, 10), times[n : n + 1])
    handle.observe_many(
        {"subject": f"Person {n}", "predicate": "knows", "object": f"City {n}", "at": at}
        for n, at in enumerate(times)
    )
    vector = Vector.from_numpy(run_now(HashEmbedder().embed(["x"], Role.DOCUMENT))[0])
    rows = [
        {"id": f"p{n}", "summary": f"Talk {n}", "at": at, "embedding": vector}
        for n, at in enumerate(times)
    ]
    place.bare.write(LOAD, tenant=place.tenant, scope=GLOBAL_SCOPE, rows=rows)
    handle.session("long").add_messages(
        {"role": "user", "content": f"Turn {n} about the harbour", "at": at}
        for n, at in enumerate(times)
    )
    for n in range(place.size // 10):
        handle.aliases.add(f"Countess {n}", "Ada")


def listed(**given: object) -> Callable[[Handle], object]:
    return lambda handle: handle.memories.list(limit=5, **given)  # type: ignore[arg-type]


def second_page(handle: Handle) -> object:
    first = handle.memories.list(limit=5)
    return handle.memories.list(limit=5, cursor=first.next_cursor)


CALLS: dict[str, Callable[[Handle], object]] = {
    "memories.list": listed(),
    "memories.list, second page": second_page,
    "memories.list, two statuses": listed(statuses=["current", "rejected"]),
    "memories.list, since": listed(since=START - DAY),
    "memories.list, until": listed(until=START + DAY),
    "episodes.list": lambda handle: handle.episodes.list(limit=5),
    "episodes.list, until": lambda handle: handle.episodes.list(limit=5, until=START + DAY),
    "episodes.list of a time": lambda handle: handle.episodes.list(limit=5, as_of=START + DAY),
    "episodes.turns": lambda handle: handle.episodes.turns(LONG, limit=5),
    "beliefs.slots": lambda handle: handle.beliefs.slots(limit=5),
    "beliefs.slots, subject": lambda handle: handle.beliefs.slots("Person 7"),
    "current": lambda handle: handle.current("Person 7", "knows"),
    "aliases.add": lambda handle: handle.aliases.add(f"Earl {uuid.uuid4()}", "Ada"),
}


@pytest.fixture(scope="module")
def tenants(migrated: Settings) -> Iterator[tuple[Handle, Handle, Profiler]]:
    """Handles on a small and a large tenant, and the profiler of their client."""
    with (
        GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client,
        Bare(connect.address(migrated, connect.silent)) as bare,
    ):
        handles = []
        for size in (SMALL, LARGE):
            place = Place(client, bare, f"t-{uuid.uuid4().hex}", size)
            fill(place)
            handles.append(place.handle)
        yield handles[0], handles[1], profiler(client)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_reads_no_more_in_a_larger_tenant(
    tenants: tuple[Handle, Handle, Profiler], name: str
) -> None:
    *handles, counter = tenants
    found = []
    for handle in handles:
        with counter.counting() as hits:
            CALLS[name](handle)
        found.append(hits.total())
    small, large = found
    assert 0 < large <= 1.3 * small + FEW, found
    assert large < MOST, found


def test_an_erasure_reads_only_its_own_events(tenants: tuple[Handle, Handle, Profiler]) -> None:
    *handles, counter = tenants
    for handle in handles:
        known = handle.memories.list(limit=1).memories[0].id
        with counter.counting() as hits:
            assert handle.forget("memory", known, dry_run=False).clean
        assert 0 < hits["erase/events"] < 200
