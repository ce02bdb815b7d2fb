"""Concurrent writers, retried transactions and lost connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import GraphUnavailableError
from graphmem.items import GetItem, ListNamespaces, PutItem, SearchItems
from tests.langgraph.test_store_basics import counted
from tests.plugins.clients import Door, on_tenant
from tests.plugins.examples import examples
from tests.plugins.faults import Breaking, LostError, Retrying, Unacknowledged
from tests.plugins.graph import Look

WRITERS = examples(8, 16, 16)
ROUNDS = examples(2, 6, 6)
Call = Callable[[Any], Any]


def put(n: int, key: str = "k", namespace: tuple[str, ...] = ("a", "b")) -> PutItem:
    return PutItem(
        namespace=namespace,
        key=key,
        value={"n": n},
        texts={"one": f"text {n}", "two": f"other {n}"},
    )


def gone(key: str = "k", namespace: tuple[str, ...] = ("a", "b")) -> PutItem:
    return PutItem(namespace=namespace, key=key, value=None)


def batch(*calls: Any) -> Call:
    return lambda memory: memory.items.batch(calls)


def whole(look: Look, tenant: str) -> None:
    """Check that every item has its namespace, no namespace is empty, and no text is left over."""
    [row] = look.rows(
        "RETURN COUNT { MATCH (i:Item {tenant: $tenant}) "
        "  WHERE COUNT { (i)-[:STANDS_IN]->(:Namespace) } <> 1 } AS homeless, "
        "COUNT { MATCH (n:Namespace {tenant: $tenant}) WHERE NOT (n)<-[:STANDS_IN]-() } AS empty, "
        "COUNT { MATCH (t:ItemText {tenant: $tenant}) WHERE NOT (t)<-[:FOUND_BY]-() } AS left",
        tenant=tenant,
    )
    assert row == {"homeless": 0, "empty": 0, "left": 0}


@pytest.mark.usefixtures("both_clients")
def test_concurrent_puts_of_a_key_make_one_item(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    for round_ in range(ROUNDS):
        key = f"k{round_}"
        done = door.together(memory, [batch(put(n, key)) for n in range(WRITERS)])
        assert done == [[None]] * WRITERS
        assert counted(look, tenant) == {
            "Item": round_ + 1,
            "Namespace": 1,
            "ItemText": 2 * (round_ + 1),
        }
        [item] = memory.items.batch([GetItem(namespace=("a", "b"), key=key)])
        n = item.value["n"]  # type: ignore[union-attr]
        [[hit, *_]] = memory.items.batch([SearchItems(query=f"text {n}")])  # type: ignore[misc]
        assert hit.score == pytest.approx(1.0), "its texts are those of its value"  # type: ignore[union-attr]
    whole(look, tenant)


def test_concurrent_batches_in_opposite_orders(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    names = [(f"n{n}",) for n in range(5)]
    calls = [
        batch(*(put(n, namespace=name) for name in (names if n % 2 else names[::-1])))
        for n in range(WRITERS)
    ]
    assert door.together(memory, calls) == [[None] * 5] * WRITERS
    found = memory.items.batch([GetItem(namespace=name, key="k") for name in names])
    assert len({item.value["n"] for item in found}) == 1, "a batch is one write"  # type: ignore[union-attr]
    whole(look, tenant)


def test_a_namespace_is_removed_with_its_last_item(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    calls = [batch(put(n)) if n % 2 else batch(gone(), put(n, "x"), gone("y")) for n in range(8)]
    calls += [batch(gone()), batch(gone("x")), batch(gone("x"), gone()), batch(put(9, "y"))] * 2
    for _ in range(ROUNDS):
        done = door.together(memory, calls)
        assert [one for one in done if isinstance(one, Exception)] == []
        whole(look, tenant)
        [names, items] = memory.items.batch([ListNamespaces(), SearchItems()])
        assert names == ([("a", "b")] if items else [])


WRITES: dict[str, Call] = {
    "new": batch(put(1, "new"), put(2, namespace=("c",))),
    "again": batch(put(2)),
    "delete": batch(gone()),
    "all": batch(put(3, "new"), gone(), GetItem(namespace=("f",), key="fades")),
    "sweep": lambda memory: memory.items.sweep(),
}


def prepared(memory: Handle) -> Handle:
    fades = put(7, "fades", ("f",)).model_copy(update={"ttl_minutes": 1e6})
    over = put(7, "over", ("o",)).model_copy(update={"ttl_minutes": 1e-6})
    memory.items.batch([put(0), fades, over])
    return memory


def state(memory: Handle) -> list[Any]:
    apart = {"created_at", "updated_at"}
    names, items, found = memory.items.batch(
        [ListNamespaces(), SearchItems(limit=100), SearchItems(query="text 2", limit=100)]
    )
    return [names, *([one.model_dump(exclude=apart) for one in some] for some in (items, found))]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", WRITES)
def test_a_retried_transaction_counts_once(
    door: Door, memory: Handle, look: Look, tenant: str, name: str
) -> None:
    straight, retried = (
        prepared(memory.scope("a")),
        prepared(on_tenant(memory, f"{tenant}-retried")),
    )
    WRITES[name](straight)
    WRITES[name](door.on(retried, graph=Retrying(retried._state.context.services.graph)))
    assert state(retried) == state(straight)
    assert counted(look, f"{tenant}-retried") == counted(look, tenant)
    whole(look, f"{tenant}-retried")


@pytest.mark.parametrize("name", WRITES)
def test_a_retry_after_a_lost_acknowledgement_counts_once(
    door: Door, memory: Handle, look: Look, tenant: str, name: str
) -> None:
    straight, broken = prepared(memory.scope("a")), prepared(on_tenant(memory, f"{tenant}-broken"))
    WRITES[name](straight)
    with pytest.raises(GraphUnavailableError):
        WRITES[name](door.on(broken, graph=Unacknowledged(broken._state.context.services.graph, 1)))
    WRITES[name](broken)
    assert state(broken) == state(straight)
    assert counted(look, f"{tenant}-broken") == counted(look, tenant)


@pytest.mark.parametrize("name", WRITES)
def test_a_failed_query_leaves_nothing_half_written(
    door: Door, memory: Handle, look: Look, tenant: str, name: str
) -> None:
    before, nodes = state(prepared(memory)), counted(look, tenant)
    inner = memory._state.context.services.graph
    for nth in range(1, 9):
        try:
            WRITES[name](door.on(memory, graph=Breaking(inner, nth)))
        except LostError:
            assert (state(memory), counted(look, tenant)) == (before, nodes)
        else:
            assert nth > 1
            return
    pytest.fail("it never came through")
