"""Number of database hits of a call, summed over the profiles of all its queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from graphmem.graph.catalog import LANGUAGE
from graphmem.graph.driver import BlockingTx, checked, packed, plain
from graphmem.ports import Tx
from tests.plugins.faults import Through
from tests.plugins.plans import operators

if TYPE_CHECKING:
    import neo4j

    from graphmem import Handle
    from graphmem.ports import Graph, Query, R

T = TypeVar("T")
Work = Callable[[Tx], Coroutine[Any, Any, T]]
PROFILED = LANGUAGE.rstrip() + " PROFILE\n"
REPLANNED = LANGUAGE.rstrip() + " replan=force PROFILE\n"
"""For the first query of a name: a server keeps plans of an empty database for some seconds."""


class ProfiledTx(Tx):
    """A transaction that adds the hits of each query."""

    def __init__(self, inner: BlockingTx, hits: Counter[str]) -> None:
        self._inner = inner
        self._hits = hits

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        text = checked(query, params, self._inner.generation)
        first = query.name not in self._hits
        profiled = (REPLANNED if first else PROFILED) + text.removeprefix(LANGUAGE)
        result = self._inner.tx.run(cast("Any", profiled), packed(query, params))
        rows = [query.decode(plain(record)) for record in result]
        self._hits[query.name] += hits_of(result.consume())
        return rows


class Profiler(Through):
    """A graph that profiles its queries while it is counting."""

    def __init__(self, inner: Graph) -> None:
        super().__init__(inner)
        self._hits: Counter[str] | None = None

    @contextmanager
    def counting(self) -> Iterator[Counter[str]]:
        """Yield the hits by query, which grow in the block."""
        self._hits = Counter()
        try:
            yield self._hits
        finally:
            self._hits = None

    async def read(self, work: Work[T]) -> T:
        """Run `work` in one managed read transaction."""
        return await self.inner.read(self._profiled(work))

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one managed write transaction."""
        return await self.inner.write(self._profiled(work))

    def _profiled(self, work: Work[T]) -> Work[T]:
        hits = self._hits
        if hits is None:
            return work
        return lambda tx: work(ProfiledTx(cast("BlockingTx", tx), hits))


def profiler(client: Handle) -> Profiler:
    """Return the profiler of a blocking client; from now on all its queries pass through it."""
    guard = cast("Any", client._state.context.services.graph)
    guard._inner = Profiler(guard._inner)
    return cast("Profiler", guard._inner)


def hits_of(summary: neo4j.ResultSummary) -> int:
    """Return the database hits of a profiled statement."""
    plan: Mapping[str, Any] = summary.profile or {}
    return sum(int(one.get("dbHits", 0)) for one in operators(plan))
