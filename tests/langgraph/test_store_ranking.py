"""Vector search: the ranking of LangGraph's own store, in small and large graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
from langgraph.store.base import PutOp

from graphmem import Handle
from graphmem.items import operations
from graphmem.ports import Graph, Query, Tx
from tests.langgraph.conftest import Reference, Store, Stores
from tests.langgraph.test_store_machine import ROUNDING
from tests.plugins.clients import Door, on_tenant
from tests.plugins.faults import Through
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike
from tests.plugins.waiting import eventually

T = TypeVar("T")
R = TypeVar("R")


class Noting(Through):
    """A graph that records the names of its queries."""

    def __init__(self, inner: Graph) -> None:
        super().__init__(inner)
        self.names: list[str] = []

    async def read(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        async def noted(tx: Tx) -> T:
            return await work(NotingTx(tx, self.names))

        return await self.inner.read(noted)


class NotingTx(Tx):
    """A transaction of such a graph."""

    def __init__(self, inner: Tx, names: list[str]) -> None:
        self.inner = inner
        self.names = names

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        self.names.append(query.name)
        return await self.inner.fetch(query, **params)


def filled(store: Any, count: int) -> None:
    for start in range(0, count, 100):
        store.batch(
            [
                PutOp((f"n{n % 7}", "x"), str(n), {"text": unlike(n), "even": n % 2 == 0})
                for n in range(start, min(start + 100, count))
            ]
        )


def ranked(found: list[Any]) -> list[tuple[str, float]]:
    return [(one.key, one.score) for one in found]


@pytest.mark.parametrize("exact", [operations.EXACT, -1], ids=["compared", "by index"])
@pytest.mark.parametrize("prefix", [(), ("n3",), ("n3", "x")], ids=str)
def test_the_same_embedder_ranks_the_same_up_to_ties(
    store: Store, monkeypatch: pytest.MonkeyPatch, exact: int, prefix: tuple[str, ...]
) -> None:
    monkeypatch.setattr(operations, "EXACT", exact)
    theirs = Reference()
    filled(theirs, 200)
    filled(store, 200)
    every: Any = {"query": unlike(3), "limit": 200}
    # The index shows what is new a little later.
    best = pytest.approx([one.score for one in theirs.search(prefix, **every)], abs=ROUNDING)
    eventually(lambda: [one.score for one in store.search(prefix, **every)] == best)
    for wanted in (None, {"even": True}, {"even": {"$ne": True}, "text": {"$ne": unlike(3)}}):
        for limit, offset in ((10, 0), (5, 7), (100, 90)):
            how: Any = {"filter": wanted, "limit": limit, "offset": offset, "query": unlike(3)}
            one, other = ranked(theirs.search(prefix, **how)), ranked(store.search(prefix, **how))
            scores = dict(ranked(theirs.search(prefix, **(how | {"limit": 999, "offset": 0}))))
            assert [s for _, s in other] == pytest.approx([s for _, s in one], abs=ROUNDING)
            assert all(s == pytest.approx(scores[key], abs=ROUNDING) for key, s in other)


def test_the_index_filters_inside_its_search(
    stores: Stores, door: Door, memory: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It filters by tenant, scope and namespace, so that a small tenant finds all its items."""
    monkeypatch.setattr(operations, "EXACT", -1)
    monkeypatch.setattr(operations, "POOL", 8)
    crowd = stores(on_tenant(memory, fresh_tenant()), fields=["text"])
    crowded = stores(memory, fields=["text"])
    for store, namespace in ((crowd, ("mine", "deep")), (crowded, ("theirs",))):
        store.batch([PutOp(namespace, str(n), {"text": "green tea"}) for n in range(400)])
    noting = Noting(memory._state.context.services.graph)
    small = stores(door.on(memory, graph=noting), fields=["text"])
    texts = ("green tea with milk", "a bicycle", "the night train")
    small.batch([PutOp(("mine", "deep"), text, {"text": text}) for text in texts])
    deadline = time.monotonic() + 300
    while True:
        noting.names.clear()
        found = small.search(("mine",), query="green tea", limit=3)
        assert {one.key for one in found} == set(texts)
        assert found[0].key == texts[0]
        if "item/rank" not in noting.names:
            break
        assert time.monotonic() < deadline, "the index never gave enough"
    assert noting.names == ["item/count_texts", "item/near"]


def test_few_texts_are_compared_one_by_one(
    stores: Stores, door: Door, memory: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New items are found before the index contains them."""
    monkeypatch.setattr(operations, "EXACT", 3)
    noting = Noting(memory._state.context.services.graph)
    store = stores(door.on(memory, graph=noting), fields=["text"])
    for n in range(4):
        store.put(("a",), str(n), {"text": f"green tea {n}"})
        noting.names.clear()
        assert len(store.search((), query="green tea")) == n + 1
        assert ("item/near" in noting.names) is (n == 3)


def test_all_texts_are_compared_if_the_index_returns_too_few(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its nearest texts all belong to one item, or to items that a filter excludes."""
    monkeypatch.setattr(operations, "EXACT", -1)
    monkeypatch.setattr(operations, "POOL", 4)
    store.put(("a",), "many", {"more": [f"green tea {n}" for n in range(20)], "n": 1})
    store.put(("a",), "far", {"text": "a bicycle", "n": 2})
    # The index shows what is new a little later.
    asked: Any = {"query": "green tea", "limit": 2}
    eventually(lambda: [one.key for one in store.search((), **asked)] == ["many", "far"])
    wanted = {"n": {"$gt": 1}}
    assert [one.key for one in store.search((), query="green tea", limit=1, filter=wanted)] == [
        "far"
    ]
