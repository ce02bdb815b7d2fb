"""Guard a graph so that erased data is not written again, nor a tenant that moves."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from graphmem.erasure import rules
from graphmem.erasure.rules import NamedItem
from graphmem.errors import (
    ErasedError,
    GraphmemError,
    NotFoundError,
    ReadConflictError,
    TenantArrivingError,
    TenantMovedError,
)
from graphmem.graph import catalog
from graphmem.ports import Graph, Mode, Query, R, RequestContext, Tx
from graphmem.rules import identity

T = TypeVar("T")
Work = Callable[[Tx], Coroutine[Any, Any, T]]
Given = Sequence[tuple[Query[Any], Mapping[str, object]]]
"""Queries and their parameters."""

OWN = "erase/"
"""Prefix of erasure queries, which necessarily mention erased ids and are exempt."""

REFUSED = catalog.query("erase/find_tombstones", dict)
PLACES = catalog.query("erase/scopes_of", dict)
UNMENTION = catalog.query("erase/redact_mentions", catalog.ignored)

TRUST_S = 1.0
"""Seconds for which a tenant without tombstones is assumed to stay that way. An erasure waits as
long after writing its tombstone, so every write is either refused or erased."""
MAX_ATTEMPTS = 5
"""Number of attempts of a transaction that meets nodes being deleted."""


class ErasureGuard:
    """Wraps a graph and checks each write transaction for erased ids before it commits.

    The check comes last: a concurrent erasure either committed before it, or waits for the commit.
    """

    def __init__(self, inner: Graph, now: Callable[[], float]) -> None:
        self._inner = inner
        self.now = now
        """Monotonic clock, in seconds."""
        self._looked: dict[str, float] = {}
        """Time of the last check that found no tombstones, in seconds, by tenant."""

    def trusts(self, tenant: str) -> bool:
        """Return whether a check within the last TRUST_S seconds found no tombstones."""
        return self.now() < self._looked.get(tenant, -math.inf) + TRUST_S

    def note(self, tenant: str, asked: float, *, has_tombstones: bool) -> None:
        """Note whether a check that started at `asked` found that the tenant has tombstones."""
        if has_tombstones:
            self._looked.pop(tenant, None)
        else:
            self._looked[tenant] = asked

    async def verify(self) -> None:
        """Check that the server can be used; see `ports.Graph`."""
        await self._inner.verify()

    def use(self, generation: int) -> None:
        """Use this embedding generation for all following queries; see `ports.Graph`."""
        self._inner.use(generation)

    def stay_down(self) -> None:
        """Start no stopped server any more; see `ports.Graph`."""
        self._inner.stay_down()

    # They return the coroutine instead of awaiting it: each call has fewer frames.

    def read(self, work: Work[T]) -> Coroutine[Any, Any, T]:
        """Run `work` in one managed read transaction.

        Raises:
            ReadConflictError: data was deleted while it was read, in every attempt.
        """
        return _attempted(self._inner.read, work)

    def write(self, work: Work[T]) -> Coroutine[Any, Any, T]:
        """Run `work` in one managed write transaction."""

        async def guarded(tx: Tx) -> T:
            watched = _GuardedTx(tx, self)
            try:
                done = await work(watched)
            except NotFoundError:
                # The node may be missing because it was erased.
                await watched.refuse()
                raise
            await watched.refuse()
            return done

        return _attempted(self._inner.write, guarded)

    async def schema(self, query: Query[R], /, **params: object) -> list[R]:
        """Run one schema command in a managed transaction of its own."""
        return await self._inner.schema(query, **params)

    async def close(self) -> None:
        """Close the connections."""
        await self._inner.close()


@dataclass(frozen=True, slots=True)
class _GuardedTx:
    """A transaction that records the parameters of its writes."""

    inner: Tx
    guard: ErasureGuard
    given: dict[str, list[tuple[Query[Any], Mapping[str, object]]]] = field(default_factory=dict)
    """Queries and their parameters, by tenant."""

    def fetch(self, query: Query[R], /, **params: object) -> Coroutine[Any, Any, list[R]]:
        """Run a catalog query and return its rows as records."""
        tenant = params.get("tenant")
        if query.mode is Mode.WRITE and isinstance(tenant, str) and not query.name.startswith(OWN):
            self.given.setdefault(tenant, []).append((query, params))
        return self.inner.fetch(query, **params)

    def fetch_each(
        self, query: Query[R], varying: Iterable[Mapping[str, object]], /, **params: object
    ) -> AsyncIterator[list[R]]:
        """Run a catalog query, which must read, for each of some further parameters; see `Tx`."""
        assert query.mode is Mode.READ  # noqa: S101 - what it writes would not be checked
        return self.inner.fetch_each(query, varying, **params)

    async def refuse(self) -> None:
        """Refuse writes of erased data and redact mentions of it in payloads."""
        for tenant, given in self.given.items():
            if not self.guard.trusts(tenant):
                await _TombstoneCheck(self.inner, self.guard, tenant).take(given)


class _TombstoneCheck:
    """Checks the tombstones of a tenant within a transaction that has written."""

    def __init__(self, tx: Tx, guard: ErasureGuard, tenant: str) -> None:
        self._tx = tx
        self._guard = guard
        self._tenant = tenant

    async def take(self, given: Given) -> None:
        """Refuse erased nodes and references to them; redact other mentions in payloads."""
        tenant = self._tenant
        scopes = [frozenset(rules.scopes(params)) for _, params in given]
        places: dict[str, str | None] = {rules.tenant_key(tenant): None}
        places |= {rules.scope_key(tenant, one): one for one in frozenset().union(*scopes)}
        named = {
            one
            for (query, params), written in zip(given, scopes, strict=True)
            for one in rules.named(query.ids, params, written)
        }
        named |= await self._episodes_of(named)
        payloads = {one for _, params in given for one in rules.payloads(params)}
        mentioned = {one for _, payload in payloads for one in rules.mentions(payload)}
        keys = _by_key(tenant, named)
        marks = _by_key(tenant, {NamedItem(*one) for one in mentioned})
        asked, hashes = self._guard.now(), [*places, *keys.keys() | marks]
        [row] = await self._tx.fetch(REFUSED, tenant=identity.tenant_key(tenant), keys=hashes)
        self._guard.note(tenant, asked, has_tombstones=row["ever"])
        if row["move"] is not None:
            raise refusal(tenant, **row["move"])
        found = list(row["keys"])
        if erased := frozenset((tenant, places[key]) for key in found if key in places):
            raise ErasedError(
                "The scope or tenant was erased.",
                hint="Nothing was written. `admin.reopen` reopens a scope.",
                places=erased,
            )
        if refused := await self._refused(_in(keys, found)):
            ids = frozenset(one for item in refused for one in (item.id, item.named) if one)
            raise ErasedError(f"Erased: {min(ids)!r}.", ids=ids)
        await self._blot(payloads, frozenset((one.label, one.id) for one, _ in _in(marks, found)))

    async def _episodes_of(self, named: AbstractSet[NamedItem]) -> set[NamedItem]:
        """Return the episodes of turns, because a turn is erased with its episode."""
        turns = sorted({one.id for one in named if one.label == "Turn"})
        return {
            NamedItem(
                "Episode", row["episode"], frozenset((row["scope"],)), own=True, named=row["id"]
            )
            for row in (await self._placed(turns=turns) if turns else ())
        }

    async def _refused(self, found: Sequence[tuple[NamedItem, str | None]]) -> list[NamedItem]:
        """Return the erased items, without nodes of another scope that share a chosen id."""
        refers = [one for one, scope in found if scope is not None and not one.own]
        ids = {label: [one.id for one in refers if one.label == label] for label in rules.CHOSEN}
        rows = await self._placed(episodes=ids["Episode"], events=ids["Event"]) if refers else ()
        scopes = {(row["label"], row["id"]): row["scope"] for row in rows}
        return [
            one
            for one, scope in found
            if scope is None or one.own or scopes.get((one.label, one.id), scope) == scope
        ]

    async def _placed(self, **ids: Sequence[str]) -> list[dict[str, Any]]:
        asked = {"turns": (), "episodes": (), "events": ()} | ids
        return await self._tx.fetch(PLACES, tenant=self._tenant, **asked)

    async def _blot(self, payloads: AbstractSet[tuple[str, str]], gone: rules.Gone) -> None:
        """Redact erased ids in the payloads just written."""
        events = [
            {"id": event_id, "payload": rules.without(payload, gone)}
            for event_id, payload in payloads
            if gone and rules.names(payload, gone)
        ]
        if events:
            written = {"events": events, "replies": [], "removed": []}
            await self._tx.fetch(UNMENTION, tenant=self._tenant, **written)


def unguarded(context: RequestContext) -> RequestContext:
    """Return a context whose writes are not checked, to copy a tenant with its tombstones."""
    graph = context.services.graph
    if not isinstance(graph, ErasureGuard):
        return context
    return replace(context, services=replace(context.services, graph=graph._inner))


def refusal(tenant: str, what: str, address: str) -> GraphmemError:
    """Return the error of a write to a tenant that moves; see `erasure.fence`."""
    if what == "moved":
        return TenantMovedError(f"Tenant {tenant!r} moved to {address}.", tenant=tenant)
    return TenantArrivingError(f"Tenant {tenant!r} is being moved here from {address}.")


async def _attempted(transact: Callable[[Work[T]], Coroutine[Any, Any, T]], work: Work[T]) -> T:
    """Run a transaction, again while it meets nodes being deleted."""
    for _ in range(MAX_ATTEMPTS - 1):
        with suppress(ReadConflictError):
            return await transact(work)
    return await transact(work)


def _by_key(tenant: str, named: AbstractSet[NamedItem]) -> dict[str, tuple[NamedItem, str | None]]:
    """Return items by tombstone key, each with the scope of its key."""
    found: dict[str, tuple[NamedItem, str | None]] = {}
    # A written item takes precedence over a reference to it.
    for one in sorted(named, key=lambda one: one.own):
        found |= {key: (one, scope) for key, scope in one.keys(tenant)}
    return found


def _in(keys: Mapping[str, T], found: Sequence[str]) -> list[T]:
    return [keys[key] for key in found if key in keys]
