"""Rows become records: those of deleted nodes are read again, and every other error is raised."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from graphmem.erasure.guard import MAX_ATTEMPTS, ErasureGuard
from graphmem.errors import ReadConflictError
from graphmem.graph import catalog
from graphmem.ports import Query, Row, Tx, run_now
from tests.plugins.faults import Through, Untouchable, Work

CARD = {"id": "m1", "scope": "a", "text": "Ada swims.", "note": None}
DELETED = {"id": "m1", "scope": None, "text": None, "note": None}


@pytest.mark.parametrize(
    "row",
    [
        DELETED,
        {"card": DELETED},
        {"card": {"id": "m2", "chain": [CARD, DELETED]}, "now": 1},
        {"cards": [CARD, DELETED]},
    ],
)
def test_a_row_of_a_deleted_node_is_no_record(row: Row) -> None:
    with pytest.raises(ReadConflictError):
        catalog.query("memory/get", dict).decode(row)


@pytest.mark.parametrize("row", [CARD, {"card": CARD}, {"card": None}, {"cards": [], "n": [1.5]}])
def test_a_row_of_nodes_is_a_record(row: Row) -> None:
    assert catalog.query("memory/get", dict).decode(row) == row


def test_a_column_that_may_be_null_is_no_deleted_node() -> None:
    values = catalog.query("reject/values", lambda row: row["statement"])
    assert values.decode({"statement": None}) is None


class Returning(Through, Tx):
    """A graph that returns given rows, one in each transaction."""

    def __init__(self, *rows: Row) -> None:
        super().__init__(Untouchable())
        self.rows = list(rows)
        self.attempts = 0

    async def read(self, work: Work[Any]) -> Any:
        self.attempts += 1
        return await work(self)

    write = read

    async def fetch(self, query: Query[Any], /, **_: object) -> list[Any]:
        return [query.decode(self.rows.pop(0))]


def fetched(graph: Returning, kind: str, row: Callable[[Row], Any]) -> Any:
    async def work(tx: Tx) -> Any:
        return await tx.fetch(catalog.query("memory/get", row))

    return run_now(getattr(ErasureGuard(graph, time.monotonic), kind)(work))


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_deleted_node_is_read_again(kind: str) -> None:
    graph = Returning({"card": DELETED}, {"card": DELETED}, {"card": CARD})
    assert fetched(graph, kind, lambda row: row["card"]["text"]) == ["Ada swims."]
    graph = Returning(*[{"card": DELETED}] * MAX_ATTEMPTS)
    with pytest.raises(ReadConflictError):
        fetched(graph, kind, dict)
    assert graph.attempts == MAX_ATTEMPTS


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize(
    ("row", "error"),
    [
        (lambda row: row["crad"], KeyError),
        (lambda row: int(row["card"]["text"]), ValueError),
        (lambda row: row["card"]["note"].strip(), AttributeError),
        (lambda row: row["card"] + 1, TypeError),
    ],
)
def test_a_wrong_column_surfaces_as_itself_and_once(
    kind: str, row: Callable[[Row], Any], error: type[Exception]
) -> None:
    graph = Returning(*[{"card": CARD}] * MAX_ATTEMPTS)
    with pytest.raises(error):
        fetched(graph, kind, row)
    assert graph.attempts == 1
