"""The store as a user of LangGraph calls it, blocking and awaited."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.store.base import GetOp, Item, PutOp, SearchItem, SearchOp

from graphmem import Handle
from graphmem.errors import InvalidInputError
from graphmem.items import PutItem, SearchItems
from graphmem.langgraph import AsyncGraphMemStore
from graphmem.testing import FrozenClock
from tests.langgraph.conftest import Store, Stores
from tests.plugins.clients import Door, on_tenant
from tests.plugins.graph import Look, fresh_tenant


def counted(look: Look, tenant: str) -> dict[str, int]:
    rows = look.rows(
        "MATCH (n:Item|Namespace|ItemText {tenant: $tenant}) "
        "RETURN labels(n)[0] AS label, count(*) AS n",
        tenant=tenant,
    )
    return {row["label"]: row["n"] for row in rows}


def test_get_returns_what_was_put(store: Store, look: Look, tenant: str) -> None:
    value = {"text": "green tea", "n": 1, "f": 1.0, "none": None, "deep": [{"a": [True, 1e-300]}]}
    assert store.get(("users", "ada"), "likes") is None
    store.put(("users", "ada"), "likes", value)
    found = store.get(("users", "ada"), "likes")
    assert type(found) is Item
    assert (found.namespace, found.key, found.value) == (("users", "ada"), "likes", value)
    assert repr(found.value) == repr(value), "the order of keys and the kinds of numbers stay too"
    assert found.created_at == found.updated_at
    assert counted(look, tenant) == {"Item": 1, "Namespace": 1, "ItemText": 1}
    store.delete(("users", "ada"), "likes")
    store.delete(("users", "ada"), "likes")
    assert store.get(("users", "ada"), "likes") is None
    assert counted(look, tenant) == {}


def test_a_second_put_replaces_the_value(
    stores: Stores, door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    clock = FrozenClock()
    store = stores(door.on(memory, clock=clock), fields=["text"])
    store.put(("a",), "k", {"text": "green tea", "old": 1})
    created_at = clock.now()
    clock.set(created_at.replace(year=2027))
    store.put(("a",), "k", {"text": "a bicycle"})
    found = store.get(("a",), "k")
    assert found.value == {"text": "a bicycle"}
    assert (found.created_at, found.updated_at) == (created_at, clock.now())
    [hit] = store.search(("a",), query="green tea")
    assert hit.score < 0.5, "the replaced text no longer matches"
    assert store.search(("a",), filter={"old": 1}) == []
    assert counted(look, tenant) == {"Item": 1, "Namespace": 1, "ItemText": 1}


def test_a_batch_reads_the_state_before_its_writes(store: Store) -> None:
    store.put(("a",), "k", {"n": 1})
    done = store.batch(
        [
            PutOp(("a",), "k", {"n": 2}),
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 3}),
            SearchOp(("a",)),
            PutOp(("a",), "gone", {"n": 4}),
            PutOp(("a",), "gone", None),
        ]
    )
    assert [type(one) for one in done] == [type(None), Item, type(None), list, *[type(None)] * 2]
    assert done[1].value == done[3][0].value == {"n": 1}
    assert store.get(("a",), "k").value == {"n": 3}
    assert store.get(("a",), "gone") is None
    assert store.batch([]) == []


def test_items_are_listed_in_the_order_of_creation(store: Store) -> None:
    def order() -> list[str]:
        return [one.key for one in store.search(())]

    store.batch([PutOp(("b",), key, {}) for key in "zyx"])
    store.batch([PutOp(("a", "c"), "q", {}), PutOp(("b",), "a", {}), PutOp(("a",), "p", {})])
    assert order() == [*"zyxaqp"]
    store.put(("b",), "z", {"again": True})
    store.put(("a", "c"), "q", {"again": True})
    assert order() == [*"zyxaqp"], "an item keeps its place"
    store.delete(("b",), "z")
    store.put(("b",), "z", {})
    assert order() == [*"yxazqp"], "one that was gone comes last, its namespace keeps its place"
    store.delete(("a", "c"), "q")
    store.put(("a", "c"), "q", {})
    assert order() == [*"yxazpq"], "so does a namespace that was gone"
    assert [one.key for one in store.search((), limit=2, offset=3)] == ["z", "p"]


def test_indexed_fields(store: Store, stores: Stores, memory: Handle) -> None:
    store.put(("a",), "default", {"text": "green tea", "title": "a bicycle"})
    store.put(("a",), "other", {"text": "milk", "title": "green tea"}, index=["title"])
    store.put(("a",), "none", {"text": "green tea"}, index=False)
    store.put(("a",), "blank", {"text": " \0 "})
    found = store.search(("a",), query="green tea")
    assert [type(one) for one in found] == [SearchItem] * 4
    assert [(one.key, one.score) for one in found] == [
        ("default", pytest.approx(1.0)),
        ("other", pytest.approx(1.0)),
        ("none", None),
        ("blank", None),
    ]
    assert [one.score for one in store.search(("a",), query=" ")] == [None] * 4

    whole = stores(memory.scope("whole"))
    whole.put(("a",), "k", {"title": "green tea"})
    whole.put(("a",), "l", {"title": "green tea"}, index=["$"])
    scores = [one.score for one in whole.search((), query='{"title": "green tea"}')]
    assert scores == [pytest.approx(1.0)] * 2

    unsearched = stores(memory.scope("unsearched"), fields=None)
    unsearched.put(("a",), "k", {"text": "green tea"}, index=["text"])
    assert [one.score for one in unsearched.search((), query="green tea")] == [None]


def test_an_item_is_ranked_by_its_nearest_text(store: Store) -> None:
    store.put(("a",), "many", {"text": "nothing of it", "more": ["a bicycle", "green tea"]})
    store.put(("a",), "one", {"text": "green coffee"})
    first, second = store.search(("a",), query="green tea")
    assert (first.key, first.score) == ("many", pytest.approx(1.0))
    assert second.key == "one"


def test_scopes_and_tenants_have_the_same_names(stores: Stores, memory: Handle) -> None:
    handles = [memory, memory.scope("alice"), on_tenant(memory, fresh_tenant())]
    apart = [stores(handle, fields=["text"]) for handle in handles]
    for n, store in enumerate(apart):
        store.put(("a", "b"), "k", {"text": "green tea", "n": n})
    apart[1].put(("c",), "k", {"text": "green tea", "n": 9})
    for n, store in enumerate(apart):
        assert store.get(("a", "b"), "k").value["n"] == n
        assert {one.value["n"] for one in store.search((), query="green tea")} == (
            {1, 9} if n == 1 else {n}
        )
        assert store.search((), filter={"n": (n + 1) % 3}) == []
        assert (("c",) in store.list_namespaces()) is (n == 1)
    apart[0].delete(("a", "b"), "k")
    assert [store.get(("a", "b"), "k") is None for store in apart] == [True, False, False]


def test_items_are_not_memories(store: Store, memory: Handle) -> None:
    store.put(("a",), "k", {"text": "ok"})
    store.put(("a",), "l", {"text": "The password is hunter2hunter2."})
    assert memory.memories.list().memories == ()
    assert memory.recall("ok").bites == ()


def test_puts_can_also_be_remembered(stores: Stores, memory: Handle) -> None:
    store = stores(memory, remember=["text", "notes[*]"])
    store.put(("a",), "k", {"text": "Ada drinks green tea.", "notes": ["Bo rides a bicycle."]})
    store.put(("a",), "l", {"other": "This sentence is not remembered."})
    store.put(("a",), "m", {"text": ""})
    store.delete(("a",), "k")
    found = memory.memories.list(source="langgraph").memories
    assert {one.content for one in found} == {"Ada drinks green tea.", "Bo rides a bicycle."}
    assert {type(one) for one in store.search(("a",))} == {SearchItem}


@pytest.mark.parametrize("field", ["fields", "remember"])
def test_a_single_field_is_refused(stores: Stores, memory: Handle, field: str) -> None:
    with pytest.raises(InvalidInputError, match=field):
        stores(memory, **{field: "text"})


def test_the_handle_returns_the_same_items(memory: Handle) -> None:
    """Without LangGraph, with the records of the handle."""
    put = PutItem(namespace=("a",), key="k", value={"n": 1}, texts={"text": "green tea"})
    [nothing, found] = memory.items.batch([put, SearchItems()])
    assert (nothing, found) == (None, [])
    [[item]] = memory.items.batch([SearchItems(query="green tea")])  # type: ignore[misc]
    assert (item.value, item.score) == ({"n": 1}, pytest.approx(1.0))  # type: ignore[union-attr]
    wrong: Any = [put, {"namespace": ["a"], "key": "k"}]
    with pytest.raises(InvalidInputError, match=r"calls\[1\]"):
        memory.items.batch(wrong)


def test_each_store_can_be_called_the_other_way(store: Store, runner: asyncio.Runner) -> None:
    """Blocking calls of the awaited store from other threads, and awaited calls of the other."""
    store.put(("a",), "k", {"n": 1})
    if store.door.name == "blocking":
        found: Any = runner.run(store.inner.aget(("a",), "k"))
    else:

        async def threaded() -> Any:
            return await asyncio.to_thread(store.inner.get, ("a",), "k")

        found = runner.run(threaded())
    assert found.value == {"n": 1}


def test_a_blocking_call_on_the_loop_is_refused(store: Store, runner: asyncio.Runner) -> None:
    if not isinstance(store.inner, AsyncGraphMemStore):
        return

    async def on_the_loop() -> None:
        store.inner.get(("a",), "k")

    with pytest.raises(InvalidInputError, match="Await aget"):
        runner.run(on_the_loop())
