"""Stores of two tenants and several scopes with the same hostile names: none sees another's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from langgraph.store.base import PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from graphmem import Handle
from graphmem.items import operations
from tests.langgraph.conftest import FIELDS, Store, Stores
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import fresh_tenant

SCOPES = ("global", "user:ann", "USER:ANN")
LABELS = (
    *("a", "A", "ａ", "а", "a\u200b", "\u200b", "\u202ea", "a\u0301", "á", "a ", " a"),
    *("global", "user:ann", "user:ann/a", "a/b", "/", "//", ":", "a:b", "*", "%2E", "%", "\\"),
    *("a\x1f", "\x1fa", "\x1e", "\x1es", "\n", "\x7f", "'", "`", "$tenant", "null", "-"),
    *("\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0001f600", "\U0010ffff", "\U0010ffffa"),
    "x" * 400,
)
KEYS = (*LABELS, "", ".", "a.b", "\0", "a\0b", "k" * 9_999)
TEXTS = ("green tea", "the night train to Porto")
EVERYTHING = 1_000

Place = tuple[tuple[str, ...], str]


@st.composite
def names(draw: st.DrawFn, tenants: tuple[str, ...]) -> tuple[str, ...]:
    """Return a namespace of hostile labels, among them the names of the tenants."""
    label = st.one_of(st.sampled_from(LABELS), st.sampled_from(tenants))
    found = draw(st.lists(label, min_size=1, max_size=2))
    return tuple(found)


def shown(store: Any) -> set[tuple[Place, Any]]:
    """Return everything that a store returns, by place."""
    return {
        ((one.namespace, one.key), one.value["n"]) for one in store.search((), limit=EVERYTHING)
    }


@pytest.mark.parametrize("exact", [operations.EXACT, -1], ids=["compared", "by index"])
@hypothesis.settings(max_examples=examples(2, 40, 500), deadline=None)
@hypothesis.given(data=st.data())
def test_no_store_sees_or_changes_what_another_stored(
    stores: Stores, memory: Handle, monkeypatch: pytest.MonkeyPatch, exact: int, data: st.DataObject
) -> None:
    monkeypatch.setattr(operations, "EXACT", exact)
    tenants = fresh_tenant(), fresh_tenant()
    own = [
        (stores(on_tenant(memory, tenant).scope(scope), fields=FIELDS), InMemoryStore())
        for tenant in tenants
        for scope in SCOPES
    ]
    label = names(tenants)
    # Few, so that the stores use the same ones.
    spaces = data.draw(st.lists(label, min_size=2, max_size=6, unique=True))
    keys = data.draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True))
    for n in range(data.draw(st.integers(4, 10))):
        ours, model = data.draw(st.sampled_from(own))
        wanted = st.tuples(st.sampled_from(spaces), st.sampled_from(keys))
        puts = []
        for place in data.draw(st.lists(wanted, min_size=1, max_size=4, unique=True)):
            text = data.draw(st.sampled_from(TEXTS))
            value = data.draw(st.sampled_from([{"n": n, "text": text}, {"n": n}, None]))
            puts.append(PutOp(*place, value))
        ours.batch(puts)
        model.batch(puts)
    for ours, model in own:
        same(ours, model, spaces)


def same(ours: Store, model: InMemoryStore, spaces: list[tuple[str, ...]]) -> None:
    """Compare everything that a store returns with a store of only its own items."""
    held = shown(model)
    assert shown(ours) == held
    for place, n in held:
        assert ours.get(*place).value["n"] == n
    listed = {namespace for (namespace, _), _ in held}
    assert set(ours.list_namespaces(limit=EVERYTHING)) == listed
    for prefix in ((), *spaces, *((one[0],) for one in spaces)):
        within = {one for one in held if one[0][0][: len(prefix)] == prefix}
        for query in (None, TEXTS[0]):
            assert set(found(ours, prefix, query)) == within, (prefix, query)
        for end, kept in (("prefix", prefix), ("suffix", prefix[::-1])):
            if "*" not in kept:
                fits = {one for one in listed if ends(one, end, kept)}
                assert set(ours.list_namespaces(**{end: kept}, limit=EVERYTHING)) == fits


def ends(namespace: tuple[str, ...], end: str, labels: tuple[str, ...]) -> bool:
    """Return whether a namespace begins or ends with labels."""
    if not labels:
        return True
    part = namespace[: len(labels)] if end == "prefix" else namespace[-len(labels) :]
    return part == labels


def found(store: Store, prefix: tuple[str, ...], query: str | None) -> Iterator[Any]:
    [answer] = store.batch([SearchOp(prefix, None, EVERYTHING, 0, query)])
    return (((one.namespace, one.key), one.value["n"]) for one in answer)


def test_a_store_deletes_and_sweeps_only_its_own(stores: Stores, memory: Handle) -> None:
    tenants = fresh_tenant(), fresh_tenant()
    own = [
        stores(on_tenant(memory, tenant).scope(scope), fields=FIELDS, ttl={"default_ttl": 0.0005})
        for tenant in tenants
        for scope in SCOPES
    ]
    for n, store in enumerate(own):
        store.put(("a",), "k", {"n": n}, ttl=None)
        store.put(("a",), "fades", {"n": n}, ttl=0.0001)
    first, *others = own
    first.delete(("a",), "k")
    assert first.sweep_ttl() == 1
    assert first.list_namespaces() == []
    for n, store in enumerate(others, 1):
        assert store.get(("a",), "k").value == {"n": n}
        assert store.sweep_ttl() == 1
