"""Expiry of items, by a clock that only the test advances."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from langgraph.store.base import GetOp, PutOp

from graphmem import Handle
from graphmem.errors import InvalidInputError
from graphmem.items import GetItem, PutItem, operations
from graphmem.ports import Graph, Tx
from graphmem.testing import FrozenClock
from tests.langgraph.conftest import Store, Stores
from tests.langgraph.test_store_basics import counted
from tests.plugins.clients import Door, on
from tests.plugins.faults import Through
from tests.plugins.graph import Look

T = TypeVar("T")
NAMESPACE = ("a", "b")


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def fading(stores: Stores, door: Door, memory: Handle, clock: FrozenClock) -> Store:
    return stores(door.on(memory, clock=clock), fields=["text"])


def pass_minutes(clock: FrozenClock, minutes: float) -> None:
    clock.advance(timedelta(minutes=minutes))


def test_expired_items_are_never_returned(
    fading: Store, clock: FrozenClock, look: Look, tenant: str
) -> None:
    fading.put(NAMESPACE, "fades", {"text": "green tea"}, ttl=10)
    fading.put(("a",), "stays", {"text": "green tea"})
    pass_minutes(clock, 9.99)
    assert fading.get(NAMESPACE, "fades", refresh_ttl=False)
    pass_minutes(clock, 0.01)
    assert fading.get(NAMESPACE, "fades") is None
    assert [one.key for one in fading.search(())] == ["stays"]
    assert [one.key for one in fading.search((), query="green tea")] == ["stays"]
    assert [one.key for one in fading.search((), filter={"text": "green tea"})] == ["stays"]
    assert fading.list_namespaces() == fading.list_namespaces(prefix=("a",)) == [("a",)]
    assert fading.list_namespaces(suffix=("b",)) == []
    assert counted(look, tenant) == {"Item": 2, "Namespace": 2, "ItemText": 2}

    assert fading.sweep_ttl() == 1
    assert fading.sweep_ttl() == 0
    assert counted(look, tenant) == {"Item": 1, "Namespace": 1, "ItemText": 1}


def test_the_index_returns_nothing_expired(
    fading: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "EXACT", -1)
    fading.put(NAMESPACE, "fades", {"text": "green tea"}, ttl=10)
    fading.put(NAMESPACE, "stays", {"text": "black tea"})
    pass_minutes(clock, 11)
    assert [one.key for one in fading.search((), query="green tea", limit=1)] == ["stays"]


def test_a_read_refreshes_the_ttl(fading: Store, clock: FrozenClock) -> None:
    for key in ("got", "searched", "asked", "left", "looked"):
        fading.put(NAMESPACE, key, {"text": "green tea", "key": key}, ttl=10)
    pass_minutes(clock, 9)
    fading.get(NAMESPACE, "got")
    fading.get(NAMESPACE, "left", refresh_ttl=False)
    assert len(fading.search(NAMESPACE, filter={"key": "searched"})) == 1
    assert len(fading.search(NAMESPACE, query="green tea", filter={"key": "asked"})) == 1
    fading.search(NAMESPACE, filter={"key": "looked"}, refresh_ttl=False)
    fading.list_namespaces()
    pass_minutes(clock, 9)
    assert {one.key for one in fading.search(())} == {"got", "searched", "asked"}


def test_a_write_restarts_the_ttl(fading: Store, clock: FrozenClock) -> None:
    fading.put(NAMESPACE, "again", {"n": 1}, ttl=10)
    fading.put(NAMESPACE, "kept", {"n": 1}, ttl=10)
    pass_minutes(clock, 9)
    fading.put(NAMESPACE, "again", {"n": 2}, ttl=5)
    fading.put(NAMESPACE, "kept", {"n": 2})
    pass_minutes(clock, 4)
    assert {one.key for one in fading.search((), refresh_ttl=False)} == {"again", "kept"}
    pass_minutes(clock, 1)
    assert [one.key for one in fading.search(())] == ["kept"]
    pass_minutes(clock, 10**6)
    assert [one.key for one in fading.search(())] == ["kept"], "without a TTL it stays"


def test_a_put_over_an_expired_item_creates_a_new_one(fading: Store, clock: FrozenClock) -> None:
    fading.put(NAMESPACE, "first", {"n": 1}, ttl=10)
    fading.put(NAMESPACE, "second", {"n": 2})
    pass_minutes(clock, 11)
    fading.put(NAMESPACE, "first", {"n": 3})
    assert fading.get(NAMESPACE, "first").created_at == clock.now()
    assert [one.key for one in fading.search(())] == ["second", "first"]


def test_the_store_has_a_default_ttl(
    stores: Stores, door: Door, memory: Handle, clock: FrozenClock
) -> None:
    ttl = {"default_ttl": 10, "refresh_on_read": False}
    store = stores(door.on(memory, clock=clock), fields=None, ttl=ttl)
    store.put(NAMESPACE, "default", {"n": 1})
    store.put(NAMESPACE, "longer", {"n": 1}, ttl=20)
    store.put(NAMESPACE, "stays", {"n": 1}, ttl=None)
    pass_minutes(clock, 9)
    assert store.get(NAMESPACE, "default")
    pass_minutes(clock, 1)
    assert {one.key for one in store.search(())} == {"longer", "stays"}
    assert store.inner.supports_ttl


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), 10**9, "10", True, [1]])
def test_an_invalid_ttl_is_refused(store: Store, ttl: Any) -> None:
    with pytest.raises(InvalidInputError, match="ttl_minutes"):
        store.put(NAMESPACE, "k", {"n": 1}, ttl=ttl)
    assert store.search(()) == []


class Meanwhile(Through):
    """A graph that calls a function between the reading and the writing transaction."""

    def __init__(self, inner: Graph, happens: Callable[[], object]) -> None:
        super().__init__(inner)
        self.happens = happens

    async def write(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        self.happens()
        return await super().write(work)


def test_a_concurrent_write_is_neither_swept_nor_expired(plain: Handle) -> None:
    clock = FrozenClock()

    at_once = on(plain, clock=clock)
    [old, new] = (PutItem(namespace=NAMESPACE, key="k", value={"n": n}) for n in (1, 2))

    def put_new() -> None:
        at_once.items.batch([new])

    racing = on(plain, clock=clock, graph=Meanwhile(plain._state.context.services.graph, put_new))
    at_once.items.batch([old.model_copy(update={"ttl_minutes": 10.0})])
    racing.items.batch([GetItem(namespace=NAMESPACE, key="k")])
    pass_minutes(clock, 10**6)
    [found] = at_once.items.batch([GetItem(namespace=NAMESPACE, key="k")])
    assert found is not None, "a late refresh set no TTL"

    at_once.items.batch([old.model_copy(update={"ttl_minutes": 10.0})])
    pass_minutes(clock, 11)
    assert racing.items.sweep() == 0
    assert at_once.items.batch([GetItem(namespace=NAMESPACE, key="k")]) != [None]


def test_a_long_sweep_runs_in_batches(
    fading: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, look: Look, tenant: str
) -> None:
    monkeypatch.setattr(operations, "SWEPT", 3)
    fading.batch([PutOp((f"n{n % 4}",), f"k{n}", {"n": n}, ttl=1 + n) for n in range(10)])
    pass_minutes(clock, 8.5)
    assert fading.sweep_ttl() == 8
    assert fading.batch([GetOp((f"n{n % 4}",), f"k{n}") for n in (7, 8, 9)])[0] is None
    assert counted(look, tenant) == {"Item": 2, "Namespace": 2}
