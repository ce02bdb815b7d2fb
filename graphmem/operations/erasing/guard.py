"""A graph in which nothing that was erased is written again."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

from graphmem import catalog
from graphmem.errors import ErasedError, NotFoundError
from graphmem.ports import Graph, Mode, Query, R, ServerAddress, Tx
from graphmem.rules import erasure, identity
from graphmem.rules.conflicts import settled
from graphmem.rules.erasure import NamedItem

T = TypeVar("T")
Given = Sequence[tuple[Query[Any], Mapping[str, object]]]
"""Queries and their parameters."""

OWN = "erase/"
"""What erases speaks of what was erased."""

REFUSED = catalog.query("erase/refused", dict)
PLACES = catalog.query("erase/places", dict)
UNMENTION = catalog.query("erase/unmention", catalog.ignored)

TRUST_S = 1.0
"""So long after a look nobody looks again into a tenant of which nothing was ever erased. Whoever
erases waits as long after the tombstone, so every write is either refused or erased."""


class ErasureGuard:
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

    async def move(self, find: Callable[[], ServerAddress]) -> None:
        """Go on at the address that `find` gives."""
        await self._inner.move(find)

    async def read(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        """Run `work` in one managed read transaction.

        Raises:
            ReadConflictError: each time something that it read was deleted meanwhile.
        """
        return await settled(lambda: self._inner.read(work))

    async def write(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        """Run `work` in one managed write transaction.

        Raises:
            ErasedError: it names what was erased; nothing is written.
            ReadConflictError: see `read`; nothing is written.
        """

        async def guarded(tx: Tx) -> T:
            watched = _GuardedTx(tx, self)
            try:
                done = await work(watched)
            except NotFoundError:
                # Perhaps it is missing because it was erased.
                await watched.refuse()
                raise
            await watched.refuse()
            return done

        return await settled(lambda: self._inner.write(guarded))

    async def schema(self, query: Query[R], /, **params: object) -> list[R]:
        """Run one schema command in a managed transaction of its own."""
        return await self._inner.schema(query, **params)

    async def close(self) -> None:
        """Give the connections back."""
        await self._inner.close()


class _GuardedTx:
    """A transaction that remembers what its writes were given."""

    def __init__(self, inner: Tx, guard: ErasureGuard) -> None:
        self._inner = inner
        self._guard = guard
        self._given: dict[str, list[tuple[Query[Any], Mapping[str, object]]]] = {}
        """By tenant: queries and their parameters."""

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        tenant = params.get("tenant")
        if query.mode is Mode.WRITE and isinstance(tenant, str) and not query.name.startswith(OWN):
            self._given.setdefault(tenant, []).append((query, params))
        return await self._inner.fetch(query, **params)

    async def refuse(self) -> None:
        """Look whether what was written was erased; take mentions of it out of payloads.

        Raises:
            ErasedError: it was.
        """
        for tenant, given in self._given.items():
            if not self._guard.trusts(tenant):
                await _TombstoneCheck(self._inner, self._guard, tenant).take(given)


class _TombstoneCheck:
    """A look at the tombstones of a tenant, from inside a transaction that has written."""

    def __init__(self, tx: Tx, guard: ErasureGuard, tenant: str) -> None:
        self._tx = tx
        self._guard = guard
        self._tenant = tenant

    async def take(self, given: Given) -> None:
        """Refuse what is written, and what it refers to; take the rest out of payloads.

        Raises:
            ErasedError: see `_GuardedTx.refuse`.
        """
        tenant = self._tenant
        scopes = {one for _, params in given for one in erasure.scopes(params)}
        places: dict[str, str | None] = {erasure.tenant_key(tenant): None}
        places |= {erasure.scope_key(tenant, one): one for one in scopes}
        named = {one for query, params in given for one in erasure.named(query.ids, params)}
        named |= await self._episodes_of(named)
        payloads = {one for _, params in given for one in erasure.payloads(params)}
        mentioned = {one for _, payload in payloads for one in erasure.mentions(payload)}
        keys = _by_key(tenant, named)
        marks = _by_key(tenant, {NamedItem(*one) for one in mentioned})
        found = await self._guard.refused(self._tx, tenant, [*places, *keys.keys() | marks])
        if gone := frozenset((tenant, places[key]) for key in found if key in places):
            raise ErasedError("Its scope or its tenant was forgotten.", places=gone)
        if refused := await self._refused(_in(keys, found)):
            ids = frozenset(one for item in refused for one in (item.id, item.turn) if one)
            raise ErasedError(f"Forgotten: {min(ids)!r}.", ids=ids)
        await self._blot(payloads, frozenset((one.label, one.id) for one, _ in _in(marks, found)))

    async def _episodes_of(self, named: AbstractSet[NamedItem]) -> set[NamedItem]:
        """Return the episodes of turns: a turn goes with its episode."""
        turns = sorted({one.id for one in named if one.label == "Turn"})
        return {
            NamedItem(
                "Episode", row["episode"], frozenset((row["scope"],)), own=True, turn=row["id"]
            )
            for row in (await self._placed(turns=turns) if turns else ())
        }

    async def _refused(self, found: Sequence[tuple[NamedItem, str | None]]) -> list[NamedItem]:
        """Return what was really erased: not what another scope has under a chosen id."""
        refers = [one for one, scope in found if scope is not None and not one.own]
        ids = {label: [one.id for one in refers if one.label == label] for label in erasure.CHOSEN}
        rows = await self._placed(episodes=ids["Episode"], events=ids["Event"]) if refers else ()
        there = {(row["label"], row["id"]): row["scope"] for row in rows}
        return [
            one
            for one, scope in found
            if scope is None or one.own or there.get((one.label, one.id), scope) == scope
        ]

    async def _placed(self, **ids: Sequence[str]) -> list[dict[str, Any]]:
        asked = {"turns": (), "episodes": (), "events": ()} | ids
        return await self._tx.fetch(PLACES, tenant=self._tenant, **asked)

    async def _blot(self, payloads: AbstractSet[tuple[str, str]], gone: erasure.Gone) -> None:
        """Take what was erased out of the payloads that were just written."""
        events = [
            {"id": event_id, "payload": erasure.without(payload, gone)}
            for event_id, payload in payloads
            if gone and erasure.names(payload, gone)
        ]
        if events:
            written = {"events": events, "replies": [], "removed": []}
            await self._tx.fetch(UNMENTION, tenant=self._tenant, **written)


def _by_key(tenant: str, named: AbstractSet[NamedItem]) -> dict[str, tuple[NamedItem, str | None]]:
    """Return things by the digests that may refuse them, each with the scope of its digest."""
    found: dict[str, tuple[NamedItem, str | None]] = {}
    # What is written counts before what only refers to it.
    for one in sorted(named, key=lambda one: one.own):
        found |= {key: (one, scope) for key, scope in one.keys(tenant)}
        found[erasure.former_key(tenant, one.id)] = one, None
    return found


def _in(keys: Mapping[str, T], found: Sequence[str]) -> list[T]:
    return [keys[key] for key in found if key in keys]
