"""A graph in which nothing that was erased is written again."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from graphmem import catalog
from graphmem.errors import ErasedError, NotFoundError
from graphmem.ports import Address, Graph, Mode, Query, R, Tx
from graphmem.rules import erasure, identity

T = TypeVar("T")

OWN = "erase/"
"""What erases speaks of what was erased."""
LOG = "attention/"
"""The search log names results by id and finds those that are there; it makes none of them."""

REFUSED = catalog.query("erase/refused", dict)

TRUST_S = 1.0
"""So long after a look nobody looks again into a tenant of which nothing was ever erased. Whoever
erases waits as long after the tombstone, so every write is either refused or erased."""


class Guarded:
    """A graph that looks, before each writing transaction ends, whether it names what was erased.

    It looks last: whoever erased meanwhile was there before, or waits until this has ended.
    """

    def __init__(self, inner: Graph, now: Callable[[], float]) -> None:
        self._inner = inner
        self._now = now
        """Seconds, ever more."""
        self._looked: dict[str, float] = {}
        """When, in seconds, nothing of a tenant had been erased."""

    def trusts(self, tenant: str) -> bool:
        """Return whether nothing of a tenant was erased, as seen a moment ago."""
        return self._now() < self._looked.get(tenant, -math.inf) + TRUST_S

    async def refused(self, tx: Tx, tenant: str, keys: Sequence[str]) -> list[str]:
        """Return those keys that have tombstones."""
        asked = self._now()
        [found] = await tx.fetch(REFUSED, tenant=identity.tenant_key(tenant), keys=keys)
        if found["ever"]:
            self._looked.pop(tenant, None)
        else:
            self._looked[tenant] = asked
        return list(found["keys"])

    async def verify(self) -> None:
        """Say at once when the server cannot be used; see `ports.Graph`."""
        await self._inner.verify()

    def use(self, generation: int) -> None:
        """Ask and write of this generation of embeddings; see `ports.Graph`."""
        self._inner.use(generation)

    async def move(self, find: Callable[[], Address]) -> None:
        """Go on at the address that `find` gives."""
        await self._inner.move(find)

    async def read(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        """Run `work` in one managed read transaction."""
        return await self._inner.read(work)

    async def write(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        """Run `work` in one managed write transaction.

        Raises:
            ErasedError: it names what was erased; nothing is written.
        """

        async def guarded(tx: Tx) -> T:
            watched = _Watched(tx, self)
            try:
                done = await work(watched)
            except NotFoundError:
                # Perhaps it is missing because it was erased.
                await watched.refuse()
                raise
            await watched.refuse()
            return done

        return await self._inner.write(guarded)

    async def schema(self, query: Query[R], /, **params: object) -> list[R]:
        """Run one schema command in a managed transaction of its own."""
        return await self._inner.schema(query, **params)

    async def close(self) -> None:
        """Give the connections back."""
        await self._inner.close()


class _Watched:
    """A transaction that remembers what its writes were given."""

    def __init__(self, inner: Tx, guard: Guarded) -> None:
        self._inner = inner
        self._guard = guard
        self._given: dict[str, list[tuple[str, Mapping[str, object]]]] = {}
        """By tenant: names of queries and their parameters."""

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        tenant = params.get("tenant")
        if query.mode is Mode.WRITE and isinstance(tenant, str) and not query.name.startswith(OWN):
            self._given.setdefault(tenant, []).append((query.name, params))
        return await self._inner.fetch(query, **params)

    async def refuse(self) -> None:
        """Look whether what was named was erased.

        Raises:
            ErasedError: it was.
        """
        for tenant, given in self._given.items():
            if not self._guard.trusts(tenant):
                await self._refuse(tenant, given)

    async def _refuse(self, tenant: str, given: Sequence[tuple[str, Mapping[str, object]]]) -> None:
        places: dict[str, str | None] = {erasure.tenant_key(tenant): None}
        parts: dict[str, str] = {}
        for name, params in given:
            places |= {erasure.scope_key(tenant, one): one for one in set(erasure.scopes(params))}
            if not name.startswith(LOG):
                parts |= {erasure.key(tenant, one): one for one in set(erasure.ids(params))}
        found = await self._guard.refused(self._inner, tenant, [*places, *parts])
        if gone := frozenset((tenant, places[key]) for key in found if key in places):
            raise ErasedError("Its scope or its tenant was forgotten.", places=gone)
        if ids := frozenset(parts[key] for key in found):
            raise ErasedError(f"Forgotten: {min(ids)!r}.", ids=ids)
