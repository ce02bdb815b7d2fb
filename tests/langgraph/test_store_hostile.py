"""Odd input is stored exactly; invalid input is refused and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from graphmem.errors import InvalidInputError
from graphmem.items import rules
from tests.langgraph.conftest import Store

ODD = [
    "*",
    "/",
    "-",
    "a b",
    " ",
    "\n",
    "'",
    '"',
    "`",
    "\\",
    "$tenant",
    "{}",
    "n) DETACH DELETE n //",
    "é",
    "e\u0301",
    "\u202e",
    "\x1f",
    "\x1e",
    "\U0001f600",
    "\uffff",
    "langgraph",
    "x" * 400,
]


def cycle() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = [value]
    return value


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_odd_labels_are_accepted(store: Store) -> None:
    """Each label is distinct from the others, as a prefix and as a suffix."""
    store.batch([PutOp(("root", label), "k", {"label": label}) for label in ODD])
    for label in ODD:
        assert store.get(("root", label), "k").value == {"label": label}, ascii(label)
        assert [one.value for one in store.search(("root", label))] == [{"label": label}]
        if label == "*":
            continue
        for one in (MatchCondition("prefix", ("root", label)), MatchCondition("suffix", (label,))):
            found = store.batch([ListNamespacesOp((one,))])
            assert found == [[("root", label)]], ascii(label)
    assert len(store.list_namespaces()) == len(ODD)


@pytest.mark.parametrize("key", [*ODD, "", "a.b", "\0", "k" * 10_000], ids=lambda k: ascii(k)[:20])
def test_odd_keys_are_accepted(store: Store, key: str) -> None:
    store.put(("a",), "k", {"n": 1})
    store.put(("a",), key, {"n": 2})
    assert store.get(("a",), key).key == key
    assert store.get(("a",), "k").value == {"n": 1}
    store.delete(("a",), key)
    assert [one.key for one in store.search(())] == ["k"]


WRONG_LABELS: list[Any] = ["", "a.b", ".", "a\0", 5, None, ["a"]]


@pytest.mark.parametrize("label", WRONG_LABELS, ids=ascii)
def test_an_invalid_label_is_refused_at_any_position(offline_store: Any, label: Any) -> None:
    """LangGraph's own stores refuse it too; this bypasses the methods that check it."""
    wrong: list[Callable[[], Any]] = [
        lambda: offline_store.put(("a", label), "k", {}),
        lambda: offline_store.get((label,), "k"),
        lambda: offline_store.search((label,)),
        lambda: offline_store.delete((label,), "k"),
        lambda: offline_store.list_namespaces(prefix=(label,)),
        lambda: offline_store.list_namespaces(suffix=("a", label)),
        lambda: offline_store.batch([PutOp(("a",), "k", {}), PutOp((label,), "k", {})]),
        lambda: offline_store.batch([PutOp(("a",), "k", {}), GetOp((label,), "k")]),
        lambda: offline_store.batch([PutOp(("a",), "k", {}), SearchOp((label,))]),
        lambda: offline_store.batch(
            [PutOp(("a",), "k", {}), ListNamespacesOp((MatchCondition("prefix", (label,)),))]
        ),
    ]
    for call in wrong:
        with pytest.raises(InvalidNamespaceError):
            call()


@pytest.mark.parametrize("namespace", [(), ("langgraph",), ("langgraph", "a")])
def test_the_reserved_root_of_langgraph_is_refused(
    offline_store: Any, namespace: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidNamespaceError):
        offline_store.put(namespace, "k", {})


@pytest.mark.parametrize("namespace", [("x" * 1_000,), ("é",) * 501, ("a",) * 101, ("\ud800",)])
def test_a_namespace_that_does_not_fit_the_index_is_refused(
    offline_store: Any, namespace: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidInputError, match="namespace"):
        offline_store.put(namespace, "k", {})


def test_the_longest_namespace_fits_the_index(store: Store) -> None:
    longest = ("\U0001f600" * 998,)
    store.put(longest, "k", {})
    assert store.list_namespaces() == [longest]


VALUES: dict[str, Any] = {
    "no map": [1],
    "text": "opensesame",
    "not a number": {"opensesame": float("nan")},
    "infinite": {"a": [{"b": float("-inf")}]},
    "bytes": {"a": b"opensesame"},
    "set": {"a": {1}},
    "instant": {"a": datetime(2025, 1, 1, tzinfo=UTC)},
    "object": {"a": object()},
    "number as key": {1: "a"},
    "inner number as key": {"a": [{2: "a"}]},
    "key in a tuple": {"a": ({None: 1},)},
    "cycle": cycle(),
    "deep": {"a": deep(100_000)},
    "just too deep": {"a": deep(100)},
    "surrogate": {"a": "\ud800"},
    "surrogate as key": {"\ud800": 1},
    "too long": {"a": "opensesame " * 400_000},
    "long number": {"a": 10**5_000},
}


@pytest.mark.parametrize("name", VALUES)
def test_a_batch_with_a_value_that_is_not_json_is_refused(offline_store: Any, name: str) -> None:
    plain = PutOp(("a",), "k", VALUES[name], False)
    for ops in ([plain], [PutOp(("a",), "ok", {}), plain], [PutOp(("a",), "k", VALUES[name])]):
        with pytest.raises(InvalidInputError) as caught:
            offline_store.batch(ops)
        assert caught.value.code == "invalid_input"
        assert "opensesame" not in str(caught.value)


def test_odd_values_are_returned_unchanged(store: Store) -> None:
    values: dict[str, dict[str, Any]] = {
        "empty": {},
        "huge": {"text": "\U0001f600 tea " * 300_000},
        "numbers": {"n": [0, -0.0, 1e-320, 1.7976931348623157e308, 2**70, -(2**63) - 1, 0.1 + 0.2]},
        "keys": {"": 1, "a.b": 2, "$gt": 3, "\0": "\0", "n": None, "\u2028": "\u2029"},
        "deep": {"a": deep(99)},
        "queries": {"text": "') DETACH DELETE n //", "more": ["${tenant}", "+tenant_key:*"]},
    }
    for key, value in values.items():
        store.put(("a",), key, value)
    for key, value in values.items():
        assert repr(store.get(("a",), key).value) == repr(value)
    store.put(("a",), "tuple", {"a": (1, 2)})
    assert store.get(("a",), "tuple").value == {"a": [1, 2]}
    store.put(("a",), "proxy", MappingProxyType({"a": 1}))
    assert store.get(("a",), "proxy").value == {"a": 1}


def test_a_number_as_a_key_becomes_text(store: Store) -> None:
    store.put(("a",), 5, {"n": 1})
    assert store.get(("a",), "5").key == "5"


FILTERS: list[Any] = [
    {"n": {"$in": [1]}},
    {"n": {"$gt": 1, "other": 2}},
    {"n": {"$gt": None}},
    {"n": {"$lt": "soon"}},
    {"n": {"$gte": [1]}},
    {"n": [{"a": {"$regex": ".*"}}]},
    ["n"],
    "n",
    {5: 1},
    {"n": deep(100)},
]


@pytest.mark.parametrize("wanted", FILTERS, ids=ascii)
def test_an_invalid_filter_is_refused(offline_store: Any, wanted: Any) -> None:
    with pytest.raises(InvalidInputError, match="filter"):
        offline_store.batch([PutOp(("a",), "k", {"n": 1}), SearchOp((), wanted)])


def test_values_that_cannot_be_compared_do_not_match(store: Store) -> None:
    values: list[Any] = [None, "soon", [2], {"a": 2}, 2, "2", True, 10**400]
    store.batch([PutOp(("a",), str(n), {"n": value}) for n, value in enumerate(values)])
    store.put(("a",), "without", {})
    found = store.search((), filter={"n": {"$gt": 1}})
    assert [one.value["n"] for one in found] == [2, "2"]
    everything = store.search((), filter={"n": {"$ne": 2}}, limit=100)
    assert len(everything) == len(values)


@pytest.mark.parametrize("count", [-1, True, 1.0, "5", None, 10**10], ids=str)
@pytest.mark.parametrize("name", ["limit", "offset"])
def test_an_invalid_count_is_refused(offline_store: Any, name: str, count: Any) -> None:
    with pytest.raises(InvalidInputError, match=name):
        offline_store.search((), **{name: count})
    with pytest.raises(InvalidInputError, match=name):
        offline_store.list_namespaces(**{name: count})


def test_a_filter_reads_several_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphmem.items import operations as operation

    monkeypatch.setattr(operation, "PAGE", 2)
    store.batch(
        [PutOp(("a",), f"{n:02}", {"n": n, "text": "green tea"}, ["text"]) for n in range(40)]
    )
    late = {"n": {"$gte": 33}}
    assert [one.value["n"] for one in store.search((), filter=late, limit=3, offset=2)] == [
        35,
        36,
        37,
    ]
    by_text = store.search((), filter=late, limit=3, offset=5, query="green tea")
    assert [one.value["n"] for one in by_text] == [38, 39]


def test_an_unknown_operation_is_refused(offline_store: Any) -> None:
    with pytest.raises(InvalidInputError, match="Unknown operation type"):
        offline_store.batch(["get"])
    with pytest.raises(InvalidInputError, match="end"):
        offline_store.batch([ListNamespacesOp((MatchCondition("middle", ("a",)),))])  # type: ignore[arg-type]


@pytest.mark.usefixtures("both_clients")
def test_each_store_refuses_and_writes_nothing(store: Store) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a",), "k", {}), PutOp(("a.b",), "k", {})])
    with pytest.raises(InvalidInputError):
        store.batch([PutOp(("a",), "k", {}), PutOp(("a",), "l", VALUES["bytes"])])
    with pytest.raises(InvalidInputError):
        store.search((), filter={"n": {"$in": [1]}})
    assert store.list_namespaces() == []


def test_the_documented_limits_hold() -> None:
    assert (rules.MAX_PATH_CHARS, rules.MAX_VALUE_CHARS) == (1_000, 4_000_000)
