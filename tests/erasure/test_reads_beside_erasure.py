"""Reads beside deletion: the answer as before or after, or a passing error, and never a raw one.

A node that another transaction deletes after it was matched has no properties when they are read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import count
from operator import eq
from pathlib import Path
from typing import Any, TypeVar

import pytest
from neo4j import exceptions

from graphmem import AsOf, Handle, Recollection
from graphmem.erasure import guard
from graphmem.erasure.guard import ErasureGuard
from graphmem.errors import (
    ErasedError,
    GraphQueryError,
    InvalidInputError,
    NotFoundError,
    ReadConflictError,
    UnavailableError,
)
from graphmem.graph.driver import translated
from graphmem.items import GetItem, PutItem, SearchItems
from graphmem.ports import Query, Tx
from tests.isolation.calls import READS, Call
from tests.plugins.clients import on, on_tenant
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import write_everything
from tests.plugins.examples import examples
from tests.plugins.faults import Through, Work
from tests.plugins.graph import fresh_tenant
from tests.plugins.histories import clocked
from tests.plugins.texts import unlike

T = TypeVar("T")
NO_READ = {"admin.export_to"}
"""It takes its file in again: see below."""
NTH = examples(2, 4, 1_000)
"""How many of the reads of one call meet a deletion, each in a call of its own."""
CALLS: dict[str, Call] = {name: call for name, call in READS.items() if name not in NO_READ} | {
    "recall as of": lambda m, known: m.recall(unlike(1), as_of=known["now"]),
    "list as of": lambda m, known: m.memories.list(as_of=known["now"]),
    "chain as of": lambda m, known: m.memories.chain(known["memory"], as_of=known["now"]),
    "items": lambda m, _: m.items.batch(
        [GetItem(namespace=("a", "b"), key="k"), SearchItems(), SearchItems(query=unlike(1))]
    ),
}


def emptied(value: Any) -> Any:
    """Return what is read when every node in it is being deleted: of each its id is left."""
    if isinstance(value, Mapping):
        is_node = "id" in value
        return {name: left_of(name, found, is_node=is_node) for name, found in value.items()}
    return [emptied(one) for one in value] if isinstance(value, list) else value


def left_of(name: str, value: Any, *, is_node: bool) -> Any:
    if name == "properties":  # All of a node at once, as an export takes it.
        return {}
    if name == "id":
        return value
    return None if is_node and simple(value) else emptied(value)


def simple(value: Any) -> bool:
    return not isinstance(value, Mapping | list)


class Deleting(Through):
    """Reads of a node no more than its id, in some of its transactions."""

    def __init__(self, inner: Any, which: Callable[[int], bool]) -> None:
        super().__init__(inner)
        self.which = which
        self.number = 0
        self.emptied = 0
        """Rows."""

    async def read(self, work: Work[T]) -> T:
        self.number += 1
        if not self.which(self.number):
            return await self.inner.read(work)
        return await self.inner.read(lambda tx: work(DeletingTx(tx, self)))


class DeletingTx(Tx):
    """A transaction of such a graph."""

    def __init__(self, inner: Tx, graph: Deleting) -> None:
        self.inner = inner
        self.graph = graph

    async def fetch(self, query: Query[T], /, **params: object) -> list[T]:
        def row(found: Mapping[str, Any]) -> T:
            without = emptied(found)
            self.graph.emptied += without != found
            return query.decode(without)

        return await self.inner.fetch(replace(query, row=row), **params)


def beside(memory: Handle, which: Callable[[int], bool]) -> tuple[Handle, Deleting]:
    guarded = memory._state.context.services.graph
    assert isinstance(guarded, ErasureGuard)
    deleting = Deleting(guarded._inner, which)
    return on(memory, graph=ErasureGuard(deleting, time.monotonic)), deleting


def ranked(found: Any) -> Any:
    """Return what was found, but of a recall only what and in which order.

    Its scores depend on all that the index of words holds, and other tests write to it.
    """
    return [bite.id for bite in found.bites] if isinstance(found, Recollection) else found


@pytest.fixture(scope="module")
def everything(client: Handle) -> tuple[Handle, dict[str, Any]]:
    memory = on_tenant(client, fresh_tenant())
    known: dict[str, Any] = write_everything(memory)
    now = datetime.now(UTC)
    return clocked(memory, now), known | {"now": AsOf(valid=now, known=now)}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_read_that_meets_a_deletion_is_made_again(
    everything: tuple[Handle, dict[str, Any]], name: str
) -> None:
    memory, known = everything
    call = CALLS[name]
    # Entries that other reads left waiting would change an audit between two of its reads.
    memory.usage.flush()
    wanted = call(memory, known)
    nth, reads = 1, 1
    while nth <= min(reads, NTH):
        met, deleting = beside(memory, partial(eq, nth))
        assert ranked(call(met, known)) == ranked(wanted)
        nth, reads = nth + 1, deleting.number


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_read_that_never_settles_fails_with_a_passing_error(
    everything: tuple[Handle, dict[str, Any]], name: str
) -> None:
    """Or it answers: some reads ask for nothing but an id, or say how many there are."""
    memory, known = everything
    met, deleting = beside(memory, lambda _: True)
    with suppress(ReadConflictError, NotFoundError):
        CALLS[name](met, known)
    assert deleting.number


def test_a_read_that_never_settles_is_not_made_for_ever(
    everything: tuple[Handle, dict[str, Any]],
) -> None:
    memory, known = everything
    met, deleting = beside(memory, lambda _: True)
    with pytest.raises(ReadConflictError) as failed:
        met.memories.get(known["memory"])
    assert isinstance(failed.value, UnavailableError)
    assert failed.value.code == "read_conflict"
    assert deleting.number == guard.MAX_ATTEMPTS


def test_an_export_beside_a_deletion_is_whole(
    everything: tuple[Handle, dict[str, Any]], tmp_path: Path
) -> None:
    memory, _ = everything
    memory.admin.export_to(tmp_path / "0.jsonl")
    wanted = without_checks(tmp_path / "0.jsonl")
    nth, reads = 1, 1
    while nth <= min(reads, 2 * NTH):
        met, deleting = beside(memory, partial(eq, nth))
        met.admin.export_to(tmp_path / f"{nth}.jsonl")
        assert without_checks(tmp_path / f"{nth}.jsonl") == wanted
        nth, reads = nth + 1, deleting.number


def without_checks(file: Path) -> list[str]:
    """The records of an export. Its head says when it was made, and its checks rest on that."""
    lines = file.read_text("utf-8").splitlines()[1:]
    return [line[: line.rindex(',"check"')] for line in lines]


def test_consolidation_beside_a_deletion_says_the_same(plain: Handle) -> None:
    said = []
    nth, reads = 0, 1
    while nth <= reads and nth < 4:
        memory = on_tenant(plain, fresh_tenant())
        tell(memory, SWIMS)
        met, deleting = beside(memory, partial(eq, nth))
        met.consolidate(policy=FEW, extractive=True)
        said.append({one.statement for one in memory.beliefs.list().beliefs})
        nth, reads = nth + 1, deleting.number
    assert said[0]
    assert all(one == said[0] for one in said)


def test_a_node_that_is_gone_fails_a_query_in_passing() -> None:
    refused = exceptions.Neo4jError._hydrate_neo4j(
        code="Neo.ClientError.Statement.EntityNotFound", message="Node with id 1"
    )
    with pytest.raises(ReadConflictError), translated():
        raise refused
    with pytest.raises(GraphQueryError), translated():
        raise exceptions.Neo4jError._hydrate_neo4j(
            code="Neo.ClientError.Statement.SyntaxError", message=""
        )


class Failing(Through):
    """Fails its first transactions."""

    def __init__(self, inner: Any, *errors: Exception) -> None:
        super().__init__(inner)
        self.errors = list(errors)

    async def read(self, work: Work[T]) -> T:
        if self.errors:
            raise self.errors.pop(0)
        return await self.inner.read(work)

    async def write(self, work: Work[T]) -> T:
        async def failing(tx: Tx) -> T:
            done = await work(tx)
            if self.errors:
                raise self.errors.pop(0)
            return done

        return await self.inner.write(failing)


def test_what_failed_in_passing_is_done_again_and_once(plain: Handle) -> None:
    guarded = plain._state.context.services.graph
    assert isinstance(guarded, ErasureGuard)

    def failing(*errors: Exception) -> Handle:
        return on(plain, graph=ErasureGuard(Failing(guarded._inner, *errors), time.monotonic))

    passing = ReadConflictError(), ReadConflictError()
    failing(*passing).observe("alice", "works_on", "Atlas")
    [candidate] = failing(*passing).current("alice", "works_on").candidates
    assert candidate.events == 1
    with pytest.raises(ReadConflictError):
        failing(*[ReadConflictError()] * guard.MAX_ATTEMPTS).current("alice", "works_on")
    # What graphmem says itself is said at once.
    with pytest.raises(InvalidInputError):
        failing(InvalidInputError("no")).current("alice", "works_on")


def writes(memory: Handle, number: int) -> None:
    name = f"{threading.get_ident()}-{number}"
    with memory.session(name) as session:
        session.add_messages([{"role": "user", "content": f"I swim in lake {name}."}])
        for n in range(4):
            session.remember(f"Lake {name} is deep {n}.", claims=[("lake", "depth", str(n))])
    memory.forget("episode", session.episode_id, dry_run=False)


def deletes(memory: Handle, number: int) -> None:
    keys = [str(n) for n in range(20)]
    for value in ({"n": number}, None):
        memory.items.batch([PutItem(namespace=("a",), key=key, value=value) for key in keys])


def reads(memory: Handle, _: int) -> None:
    memory.recall("how deep is the lake", limit=50, include_hidden=True)
    memory.items.batch([SearchItems(prefix=("a",), limit=100)])
    memory.beliefs.slots()
    memory.current("lake", "depth")
    for one in memory.memories.list(limit=5).memories:
        memory.memories.history(one.id)
        memory.expand(one.id)


def until(end: float, work: Callable[[Handle, int], None], memory: Handle) -> int:
    """Do something again and again; return how often nothing was in its way."""
    done = 0
    for number in count():
        if time.monotonic() > end:
            return done
        with suppress(NotFoundError, ErasedError, ReadConflictError):
            work(memory, number)
            done += 1
    raise AssertionError


@pytest.mark.system
def test_readers_beside_writers_and_erasers(plain: Handle) -> None:
    works = (writes, writes, deletes, reads, reads, reads)
    end = time.monotonic() + 20
    with ThreadPoolExecutor(len(works)) as pool:
        done = [pool.submit(until, end, work, plain) for work in works]
    counts = [one.result() for one in done]
    assert min(counts[:3]) > 0
    # On a busy machine one reader may meet a deletion each time.
    assert sum(counts[3:]) > 0
