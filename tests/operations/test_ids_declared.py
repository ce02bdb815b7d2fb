"""Every id that a write is given is declared in the header of its query: the guard looks there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

from graphmem import Handle
from graphmem.erasure.guard import OWN, ErasureGuard
from graphmem.errors import CatalogError
from graphmem.graph import catalog
from graphmem.ports import Mode, Query, Tx
from tests.plugins.clients import on, on_tenant
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import write_everything
from tests.plugins.faults import Through, Work
from tests.plugins.graph import fresh_tenant

T = TypeVar("T")
MADE = re.compile(r"(m|b|ep|t)_[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}")
"""Ids as graphmem makes them."""
REFRESHES = "it computes anew what is there, and writes nothing else"
NO_ITEM = "it writes nothing that can be erased by itself"
UNGUARDED = "the guard does not watch the copy of a tenant that moves: tombstones are copied too"
NONE: Mapping[str, str] = {
    "usage/sessionless_searches": NO_ITEM,
    "usage/create_artifacts": NO_ITEM,
    "usage/checkpoint": NO_ITEM,
    "usage/forget_ratings": NO_ITEM,
    "usage/remove_artifacts": NO_ITEM,
    "transfer/remove": UNGUARDED,
    "transfer/write_tombstones": UNGUARDED,
    "usage/rate": "it holds what it rates: ratings go last",
    "belief/checkpoint": REFRESHES,
    "belief/drop_checkpoint": REFRESHES,
    "belief/embed": REFRESHES,
    "belief/lock_checkpoint": REFRESHES,
    "belief/lock_event_ids": NO_ITEM,
    "belief/refresh": REFRESHES,
    "cache/rechain": REFRESHES,
    "cache/refresh_facets": REFRESHES,
    "cache/refresh_keys": REFRESHES,
    "cache/refresh_memories": REFRESHES,
    "cache/retrace": REFRESHES,
    "cache/rewire": REFRESHES,
    "commit/await_lock": NO_ITEM,
    "commit/lock": NO_ITEM,
    "consolidate/begin": NO_ITEM,
    "consolidate/lease": NO_ITEM,
    "consolidate/release": NO_ITEM,
    "episode/lock": NO_ITEM,
    "extract/begin": NO_ITEM,
    "item/delete": NO_ITEM,
    "item/lock_namespaces": NO_ITEM,
    "item/index": NO_ITEM,
    "item/put": NO_ITEM,
    "item/refresh": NO_ITEM,
    "operation/ask": NO_ITEM,
    "operation/cancel": NO_ITEM,
    "operation/claim": NO_ITEM,
    "operation/finish": NO_ITEM,
    "operation/keep": NO_ITEM,
    "reject/restore": NO_ITEM,
    "reject/spread": REFRESHES,
    "seal/defer": NO_ITEM,
    "transfer/drop_checkpoints": REFRESHES,
    "transfer/merge_nodes": REFRESHES,
    "transfer/place_items": NO_ITEM,
    "transfer/retract": REFRESHES,
    "upkeep/claim_job": "a job has a name, no id",
    "upkeep/finish_job": "a job has a name, no id",
    "upkeep/lock_archives": REFRESHES,
    "upkeep/record_units": "a unit has an id of its own, which no erasure names",
}
"""Queries that declare no ids, and why they need not."""
OTHERS: Mapping[str, str] = {
    "events.within": "the beginning of a session goes with its scope alone",
    "events.claim.slot_id": "a slot is not erased",
    "nodes.slot_id": "a slot is not erased",
    "links.has.event_id": "a chain is related to what is refused itself",
    "turns.id": "a turn goes with its episode, which is declared",
}
"""Places where ids stand that are not declared, and why they need not be."""
APART = (OWN, "schema/", "vectors/")
"""Folders of what erases, and of what is of no tenant."""


def places(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield where in some parameters ids stand; texts of JSON are not entered."""
    if isinstance(value, str) and MADE.fullmatch(value):
        yield path
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from places(part, (*path, name))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from places(part, path)


class Watching(Through):
    """Notes which queries write, and where they are given ids."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.seen: dict[Query[Any], set[tuple[str, ...]]] = {}

    async def write(self, work: Work[T]) -> T:
        return await self.inner.write(lambda tx: work(WatchingTx(tx, self)))


class WatchingTx(Tx):
    """A transaction of such a graph."""

    def __init__(self, inner: Tx, graph: Watching) -> None:
        self.inner = inner
        self.graph = graph

    async def fetch(self, query: Query[T], /, **params: object) -> list[T]:
        if query.mode is Mode.WRITE:
            self.graph.seen.setdefault(query, set()).update(places(params))
        return await self.inner.fetch(query, **params)


def test_every_id_that_a_write_is_given_is_declared(plain: Handle, tmp_path: Path) -> None:
    guarded = plain._state.context.services.graph
    assert isinstance(guarded, ErasureGuard)
    watching = Watching(guarded._inner)
    memory = on(plain, graph=ErasureGuard(watching, lambda: 0.0))
    write_everything(memory)
    tell(memory, SWIMS)
    memory.consolidate(policy=FEW, extractive=True)
    memory.usage.roll_up()
    memory.admin.rebuild()
    memory.admin.export_to(tmp_path / "all.jsonl")
    on_tenant(memory, fresh_tenant()).admin.import_from(tmp_path / "all.jsonl")
    lacking = {
        (query.name, ".".join(path))
        for query, found in watching.seen.items()
        if query.name not in NONE and not query.name.startswith(APART)
        for path in found - {one.path for one in query.ids}
    }
    assert {place for _, place in lacking} == OTHERS.keys()
    assert {query.name for query in watching.seen} >= MOST


MOST = {
    *(
        "usage/log_accesses",
        "usage/log_searches",
        "belief/append",
        "belief/link_claims",
        "belief/mark",
    ),
    *("commit/write", "consolidate/end", "episode/open", "extract/propose", "lineage/supersede"),
    *("transfer/append", "transfer/link", "transfer/write", "transfer/write_auxiliary"),
}
"""Queries that must have been run, so that something was looked at."""


def test_a_query_that_writes_declares_ids_or_is_listed() -> None:
    writing = {
        name
        for name in catalog.names()
        if catalog.procedure(name).mode is Mode.WRITE and not name.startswith(APART)
    }
    assert {name for name in writing if not catalog.procedure(name).ids} == NONE.keys()


@pytest.mark.parametrize("given", ["events", "events.id", "nobody.id Event", "events.id Event of"])
def test_ids_that_cannot_be_read_are_refused(given: str) -> None:
    source = (
        "// Do it.\n// mode: write\n// rows: none\n"
        f"// writes_ids: {given}\n// params:\n//   $tenant  string  whose\n"
        "//   $events  list  maps\n// columns:\n\nRETURN $tenant, $events\n"
    )
    with pytest.raises(CatalogError, match="of `writes_ids`"):
        catalog.parse("x/y", source)
