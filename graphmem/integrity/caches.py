"""Compare the caches of a tenant with its events, and rebuild them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from graphmem import stored
from graphmem.graph import catalog
from graphmem.integrity import Mismatch, seals
from graphmem.model import EventType
from graphmem.model.memory import COMMITTED, STATING
from graphmem.ports import OnProgress, Query, RequestContext, Tx
from graphmem.rules import claims, formulas, fulltext, identity, read_options

PAGE = 500
UNTOLD = "nothing: no event of its own scope; `graphmem admin backfill` makes them"
"""Marker for memories without events: their stored state cannot be recomputed."""
FOUND = "rewired: others follow from its type, its target and its belief"
"""Description of an event whose relationships differ."""

MEMORIES = catalog.query("cache/memories", dict)
BELIEFS = catalog.query("cache/beliefs", dict)
REFRESH_MEMORIES = catalog.query("cache/refresh_memories", catalog.ignored)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
FACETS = catalog.query("cache/facets", dict)
REFRESH_FACETS = catalog.query("cache/refresh_facets", catalog.ignored)
REFRESH_BELIEFS = catalog.query("belief/refresh", catalog.ignored)
WIRING = catalog.query("cache/wiring", dict)
REWIRE = catalog.query("cache/rewire", catalog.ignored)
CHAINS = catalog.query("cache/chains", dict)
RECHAIN = catalog.query("cache/rechain", catalog.ignored)
RELINK = catalog.query("transfer/retract", catalog.ignored)
KEYS = catalog.query("cache/keys", dict)
REFRESH_KEYS = catalog.query("cache/refresh_keys", catalog.ignored)

SUPERSEDING = sorted((EventType.SUPERSEDE, EventType.REVISE, EventType.SPLIT, EventType.MERGE))
"""Types of events by which one memory or belief supersedes another."""
EVENTS_PAGE = 2_000
"""Events whose relationships are compared at a time."""
TYPES = {
    "stating": sorted(STATING),
    "committed": sorted(COMMITTED),
    "telemetry": sorted(seals.TELEMETRY),
}
"""Types of events, by what they may be related to."""

_FOUND_BY = ("tenant_key", "scope_key", "slot_id")
"""Properties by which nodes are found, and which follow from others."""

_Edge: TypeAlias = tuple[Any, ...]
EDGE = ("older", "event_id", "occurred_at", "recorded_at")
"""Values of a SUPERSEDES edge."""


async def refresh_memories(tx: Tx, context: RequestContext, ids: list[str]) -> None:
    """Recompute the caches of memories from their events."""
    await tx.fetch(REFRESH_MEMORIES, ids=ids)
    await tx.fetch(RETRACE, **formulas.retrace_params(dict.fromkeys(ids)))
    found = await tx.fetch(FACETS, ids=ids)
    right = [fulltext.facet_row(context.tenant, row) for row in found]
    await tx.fetch(REFRESH_FACETS, memories=right)


async def _refresh_beliefs(tx: Tx, _: RequestContext, ids: list[str]) -> None:
    """Recompute the caches of beliefs from their events."""
    await tx.fetch(REFRESH_BELIEFS, ids=ids)


@dataclass(frozen=True, slots=True)
class CachedKind:
    """A kind of node with cached properties."""

    kind: str
    compare: Query[dict[str, Any]]
    refresh: Callable[[Tx, RequestContext, list[str]], Awaitable[None]]
    terms: Mapping[str, Any]
    """Parameters of `compare` in addition to those of the page."""


KINDS = (
    CachedKind(
        "memory",
        MEMORIES,
        refresh_memories,
        {"trace": formulas.trace_params(formulas.STANDARD_TRACE)},
    ),
    CachedKind("belief", BELIEFS, _refresh_beliefs, {}),
)


async def lineage(context: RequestContext, *, repair: bool, on_page: OnProgress) -> list[Mismatch]:
    """Return every memory and belief of the tenant whose caches differ from its events.

    Args:
        repair: also refresh the caches that differ; memories without events stay unchanged.
    """
    wrong: list[Mismatch] = []
    for kept in KINDS:
        after = ""
        while rows := await _page(context, kept, after):
            after = rows[-1]["id"]
            found = [row for row in rows if row["wrong"]]
            with_events = {row["id"] for row in found if row.get("has_events", True)}
            wrong += (
                Mismatch(
                    kind=kept.kind,
                    id=r["id"],
                    cached=r["cached"],
                    found=r["found"] if r["id"] in with_events else UNTOLD,
                )
                for r in found
            )
            if repair and with_events:
                await _refresh(context, kept, sorted(with_events))
            on_page(kept.kind, len(rows))
    return wrong


async def keys(context: RequestContext, *, repair: bool, on_page: OnProgress) -> list[Mismatch]:
    """Return the nodes whose full-text tokens or slot do not follow from their content."""
    wrong: list[Mismatch] = []
    for label in ("Memory", "Belief", "Turn", "Episode"):
        after = ""
        while rows := await context.fetch(KEYS, label=label, after=after, limit=PAGE):
            after = rows[-1]["id"]
            right = {row["id"]: _keys(context.tenant, row) for row in rows if row["scope"]}
            found = [row for row in rows if row | right.get(row["id"], {}) != row]
            wrong += (
                Mismatch(
                    kind=label.lower(),
                    id=row["id"],
                    cached=_shown_keys(row),
                    found=_shown_keys(right[row["id"]]),
                )
                for row in found
            )
            if repair and found:
                await _rekey(context, [row | right[row["id"]] for row in found])
            on_page("keys", len(rows))
    return wrong


def _keys(tenant: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the right keys of a row of `cache/keys`."""
    scope, subject, predicate = (row[name] for name in ("scope", "subject_key", "predicate_key"))
    slot = row["id"] if row["label"] == "Belief" else None
    if slot is not None and subject is not None and predicate is not None:
        slot = claims.slot_id_of_keys(scope, subject, predicate)
    return {
        "tenant_key": None if row["hidden"] else identity.tenant_key(tenant),
        "scope_key": None if row["hidden"] else identity.scope_key(tenant, scope),
        "slot_id": slot,
    }


def _shown_keys(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {row[name]}" for name in _FOUND_BY if row[name] is not None)


async def _rekey(context: RequestContext, rows: list[dict[str, Any]]) -> None:
    given = [{name: row[name] for name in ("label", "id", *_FOUND_BY)} for row in rows]

    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await tx.fetch(REFRESH_KEYS, nodes=given)

    await context.write(work)


async def wiring(context: RequestContext, *, repair: bool, on_page: OnProgress) -> list[Mismatch]:
    """Return the events with relationships that contradict their type, target or belief.

    A seal does not cover these, because some are created later than the event.
    """
    wrong: list[Mismatch] = []
    after = ""
    while (page := await _wired(context, after))["looked"]:
        after = page["after"]
        wrong += (
            Mismatch(
                kind="event", id=row["id"], cached=f"{row['links']} relationships", found=FOUND
            )
            for row in page["wrong"]
        )
        if repair and page["wrong"]:
            await _rewire(context, [one["id"] for one in page["wrong"]])
        on_page("wiring", page["looked"])
    return wrong


async def chains(context: RequestContext, *, repair: bool, on_page: OnProgress) -> list[Mismatch]:
    """Return the memories and beliefs whose SUPERSEDES edges contradict the events about them.

    Args:
        repair: also replace the edges; `lineage` then refreshes the status of their ends.
    """
    wrong: list[Mismatch] = []
    for label in ("Memory", "Belief"):
        after = ""
        while (page := await _chained(context, label, after))["looked"]:
            after = page["after"]
            found = {row["id"]: (_edges(row), _right_edges(row)) for row in page["chains"]}
            differs = {one: right for one, (now, right) in found.items() if now != right}
            wrong += (
                Mismatch(
                    kind=label.lower(),
                    id=one,
                    cached=_superseded(found[one][0]),
                    found=f"rewired: by its events, it {_superseded(right)}",
                )
                for one, right in differs.items()
            )
            if repair and differs:
                await _rechain(context, label, differs)
            on_page("chain", page["looked"])
    return wrong


def _superseded(edges: Sequence[_Edge]) -> str:
    return f"supersedes {', '.join(str(edge[0]) for edge in edges) or 'nothing'}"


def _edges(row: Mapping[str, Any]) -> list[_Edge]:
    """Return the edges of a memory or a belief."""
    return sorted((tuple(edge[name] for name in EDGE) for edge in row["edges"]), key=repr)


def _right_edges(row: Mapping[str, Any]) -> list[_Edge]:
    """Return the edges of a memory or a belief that its events determine."""
    right: list[_Edge] = []
    for event in row["events"]:
        payload = json.loads(event["payload"] or "{}")
        newer, older = (
            payload.get(f"{side}_ids") or [payload.get(f"{side}_id")] for side in ("newer", "older")
        )
        if row["id"] not in newer:
            continue
        times = event["event_id"], event["occurred_at"], event["recorded_at"]
        right += ((one, *times) for one in older if one in event["about"])
        if not {*older} <= {*event["about"]}:
            # Of an erased memory or belief, the predecessors were linked instead.
            right += (
                edge for edge in _edges(row) if edge[1:] == times and edge[0] not in event["about"]
            )
    return sorted(right, key=repr)


async def _chained(context: RequestContext, label: str, after: str) -> dict[str, Any]:
    [page] = await context.fetch(CHAINS, label=label, types=SUPERSEDING, after=after, limit=PAGE)
    return page


async def _rechain(
    context: RequestContext, label: str, right: Mapping[str, Sequence[_Edge]]
) -> None:
    rows = [
        {"id": one, "edges": [dict(zip(EDGE, edge, strict=True)) for edge in edges]}
        for one, edges in right.items()
    ]

    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await tx.fetch(RECHAIN, label=label, chains=rows)

    await context.write(work)


async def _wired(context: RequestContext, after: str) -> dict[str, Any]:
    [page] = await context.fetch(WIRING, after=after, limit=EVENTS_PAGE, **TYPES)
    return page


async def _rewire(context: RequestContext, ids: list[str]) -> None:
    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await tx.fetch(REWIRE, ids=ids, **TYPES)
        await tx.fetch(RELINK, ids=ids)

    await context.write(work)


async def _page(context: RequestContext, kept: CachedKind, after: str) -> list[dict[str, Any]]:
    async def work(tx: Tx) -> list[dict[str, Any]]:
        rows = await tx.fetch(
            kept.compare,
            valid=read_options.FOREVER,
            known=None,
            after=after,
            limit=PAGE,
            **kept.terms,
        )
        return await _faceted(tx, context, rows) if kept.kind == "memory" else rows

    return await context.read(work)


async def _faceted(
    tx: Tx, context: RequestContext, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return memory rows, marking those with stale facets; digests are computed in Python."""
    found = await tx.fetch(FACETS, ids=[row["id"] for row in rows])
    otherwise = {row["id"] for row in found if fulltext.has_stale_facets(context.tenant, row)}
    return [
        row | {"wrong": True, "cached": row["cached"] + ", facets differ"}
        if row["id"] in otherwise
        else row
        for row in rows
    ]


async def _refresh(context: RequestContext, kept: CachedKind, ids: list[str]) -> None:
    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await kept.refresh(tx, context, ids)

    await context.write(work)
