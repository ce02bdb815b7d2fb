"""Graphs and models that fail, are slow, or run a callback at a given point."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from graphmem.errors import GraphUnavailableError, ModelUnavailableError
from graphmem.ports import Graph, Query, Role, Tx
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from graphmem.ports import Matrix

T = TypeVar("T")
Work = Callable[[Tx], Coroutine[Any, Any, T]]


class LostError(Exception):
    """Ends a transaction that is rolled back."""


class Through:
    """A graph that forwards all calls."""

    def __init__(self, inner: Graph) -> None:
        self.inner = inner

    async def read(self, work: Work[T]) -> T:
        return await self.inner.read(work)

    async def write(self, work: Work[T]) -> T:
        return await self.inner.write(work)

    def use(self, generation: int) -> None:
        self.inner.use(generation)

    async def schema(self, query: Query[Any], /, **params: object) -> list[Any]:
        return await self.inner.schema(query, **params)

    async def verify(self) -> None:
        await self.inner.verify()

    def stay_down(self) -> None:
        self.inner.stay_down()

    async def close(self) -> None:
        await self.inner.close()


class Untouchable:
    """A graph that fails the test on any access."""

    async def _asked(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the graph was asked")

    read = write = schema = verify = close = _asked

    def stay_down(self) -> None:
        pass

    def use(self, generation: int) -> None:
        raise AssertionError(f"the graph was given generation {generation}")


class Retrying(Through):
    """Runs each write transaction twice and rolls the first one back, as the driver may."""

    async def write(self, work: Work[T]) -> T:
        async def lost(tx: Tx) -> None:
            await work(tx)
            raise LostError

        with pytest.raises(LostError):
            await self.inner.write(lost)
        return await self.inner.write(work)


class Unacknowledged(Through):
    """Commits its n-th write transaction and raises as if it had failed."""

    def __init__(self, inner: Graph, nth: int) -> None:
        super().__init__(inner)
        self.left = nth

    async def write(self, work: Work[T]) -> T:
        done = await self.inner.write(work)
        self.left -= 1
        if self.left == 0:
            raise GraphUnavailableError("The connection broke.")
        return done


class Dying(Through):
    """Fails from the n-th write on, before or after it is committed."""

    def __init__(self, inner: Graph, nth: int, *, late: bool) -> None:
        super().__init__(inner)
        self.left = nth
        self.late = late

    async def write(self, work: Work[T]) -> T:
        self.left -= 1
        if self.left < 0 or (self.left == 0 and not self.late):
            raise GraphUnavailableError
        done = await self.inner.write(work)
        if self.left == 0:
            raise GraphUnavailableError
        return done


class Breaking(Through):
    """Fails at the n-th query inside write transactions."""

    def __init__(self, inner: Graph, nth: int) -> None:
        super().__init__(inner)
        self.left = nth

    async def write(self, work: Work[T]) -> T:
        async def broken(tx: Tx) -> T:
            return await work(BreakingTx(tx, self))

        return await self.inner.write(broken)


class BreakingTx(Tx):
    """A transaction of `Breaking`."""

    def __init__(self, inner: Tx, graph: Breaking) -> None:
        self.inner = inner
        self.graph = graph

    async def fetch(self, query: Query[T], /, **params: object) -> list[T]:
        self.graph.left -= 1
        if self.graph.left == 0:
            raise LostError
        return await self.inner.fetch(query, **params)


class Holding(Through):
    """Runs a callback inside a write transaction, after a query and before the commit."""

    def __init__(self, inner: Graph, after: str, happens: Callable[[], object]) -> None:
        super().__init__(inner)
        self.after = after
        self.happens = happens

    async def write(self, work: Work[T]) -> T:
        async def held(tx: Tx) -> T:
            return await work(HoldingTx(tx, self))

        return await self.inner.write(held)


class HoldingTx(Tx):
    """A transaction of `Holding`."""

    def __init__(self, inner: Tx, graph: Holding) -> None:
        self.inner = inner
        self.graph = graph

    async def fetch(self, query: Query[T], /, **params: object) -> list[T]:
        rows = await self.inner.fetch(query, **params)
        if query.name == self.graph.after:
            self.graph.happens()
        return rows


class OnlyTenants(Through):
    """Finds a few tenants only, so that work on all of them leaves those of other tests alone."""

    def __init__(self, inner: Graph, *tenants: str) -> None:
        super().__init__(inner)
        self.tenants = tenants

    async def read(self, work: Work[T]) -> T:
        async def narrowed(tx: Tx) -> T:
            return await work(OnlyTenantsTx(tx, self.tenants))

        return await self.inner.read(narrowed)


class OnlyTenantsTx(Tx):
    """A transaction of `OnlyTenants`."""

    def __init__(self, inner: Tx, tenants: Sequence[str]) -> None:
        self.inner = inner
        self.tenants = tenants

    async def fetch(self, query: Query[T], /, **params: object) -> list[T]:
        if query.name == "schema/next_tenant":
            later = [name for name in self.tenants if name > str(params["after"])]
            # Names are random, so none lies between a name and all of it but its last character.
            params["after"] = min(later)[:-1] if later else chr(sys.maxunicode)
        return await self.inner.fetch(query, **params)


class Between(Through):
    """Runs a callback once, after its n-th read."""

    def __init__(self, inner: Graph, happens: Callable[[], object], nth: int = 1) -> None:
        super().__init__(inner)
        self.happens = happens
        self.left = nth

    async def read(self, work: Work[T]) -> T:
        result = await self.inner.read(work)
        self.left -= 1
        if self.left == 0:
            self.happens()
        return result


class Listing(Through):
    """Notes the names of the queries of each transaction."""

    def __init__(self, inner: Graph) -> None:
        super().__init__(inner)
        self.transactions: list[list[str]] = []

    async def read(self, work: Work[T]) -> T:
        return await self.inner.read(self._listed(work))

    async def write(self, work: Work[T]) -> T:
        return await self.inner.write(self._listed(work))

    def _listed(self, work: Work[T]) -> Work[T]:
        names: list[str] = []
        self.transactions.append(names)
        return lambda tx: work(ListingTx(tx, names))


class ListingTx(Tx):
    """A transaction of `Listing`."""

    def __init__(self, inner: Tx, names: list[str]) -> None:
        self.inner = inner
        self.names = names

    async def fetch(self, query: Query[T], /, **params: object) -> list[T]:
        self.names.append(query.name)
        return await self.inner.fetch(query, **params)


class Embedding(HashEmbedder):
    """Runs a callback while it embeds for the first time."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self.happens: Callable[[], object] | None = happens
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        self.asked += texts
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()
        return await super().embed(texts, role)


class Interrupted(HashEmbedder):
    """An embedder that cannot be reached while `down` is set."""

    down = False
    missed = 0
    """Number of requests without an answer."""

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        if self.down:
            self.missed += 1
            raise ModelUnavailableError("The embedding service cannot be reached.")
        return await super().embed(texts, role)


class Failing(HashEmbedder):
    """An embedder that always fails."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:  # noqa: ARG002
        raise self.error
