"""Rebuild the caches of a tenant, and the events that foreign memories lack."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from graphmem import catalog, stored
from graphmem.model.terms import embedding_fields
from graphmem.ports import OnProgress, Query, RequestContext, Tx
from graphmem.rules import drafts, formulas, fulltext, identity, read_options
from graphmem.upkeep import backfill
from graphmem.upkeep.backfill import UnbackedEdge, UnbackedMemory
from graphmem.upkeep.records import BackfillReport, Mismatch, SkippedNodes

if TYPE_CHECKING:
    from graphmem.model.terms import Embedding


PAGE = 500
UNTOLD = "nothing: no event of its own scope; `graphmem admin backfill` makes them"
"""Marker for memories without events: their stored state cannot be recomputed."""

MEMORIES = catalog.query("cache/memories", dict)
BELIEFS = catalog.query("cache/beliefs", dict)
REFRESH_MEMORIES = catalog.query("cache/refresh_memories", catalog.ignored)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
FACETS = catalog.query("cache/facets", dict)
REFRESH_FACETS = catalog.query("cache/refresh_facets", catalog.ignored)
REFRESH_BELIEFS = catalog.query("belief/refresh", catalog.ignored)


async def _refresh_memories(tx: Tx, context: RequestContext, ids: list[str]) -> None:
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
        _refresh_memories,
        {"trace": formulas.trace_params(formulas.STANDARD_TRACE)},
    ),
    CachedKind("belief", BELIEFS, _refresh_beliefs, {}),
)


async def lineage(context: RequestContext, *, repair: bool, on_page: OnProgress) -> list[Mismatch]:
    """Return every memory and belief of the tenant whose caches differ from its events.

    Args:
        context: request context; all scopes of the tenant are checked.
        repair: also refresh the caches that differ; memories without events stay unchanged.
        on_page: receives the kind and the number of nodes after each page.
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


BACKFILL_PAGE = 500
MAX_EVENTS = 5_000
"""Events per transaction, which keeps it below the transaction timeout."""
SHOWN = 10
"""Example ids reported per problem."""

LOOK = catalog.query("cache/backfill_find", dict)
NAMELESS = catalog.query("cache/count_nameless", dict)
WRITE = catalog.query("cache/backfill_write", catalog.ignored)
EDGES = catalog.query("cache/backfill_edges", dict)
SUPERSEDE = catalog.query("cache/backfill_supersede", lambda row: row["dated"])


@dataclass(slots=True)
class _BackfillTotals:
    """Running totals of a backfill, and the nodes that it skipped."""

    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("memories", "filled", "embedded", "edges", "events", "capped"), 0
        )
    )
    unfit: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    """Ids by kind, problem and hint."""

    def add(self, **counts: int) -> None:
        for name, n in counts.items():
            self.counts[name] += n

    def leave(self, kind: str, problem: backfill.Problem, name: str) -> None:
        self.unfit.setdefault((kind, *problem), []).append(name)

    def all(self, nameless: Sequence[SkippedNodes]) -> BackfillReport:
        left = (
            SkippedNodes(
                kind=kind, problem=problem, hint=hint, count=len(ids), ids=tuple(ids[:SHOWN])
            )
            for (kind, problem, hint), ids in self.unfit.items()
        )
        return BackfillReport(**self.counts, unfit=(*nameless, *left))


async def make_whole(context: RequestContext, on_progress: OnProgress) -> BackfillReport:
    """Create synthetic events for memories without any, and fill in missing properties.

    Args:
        context: request context; all scopes of the tenant are processed.
        on_progress: receives the kind, memory or edge, and the number checked after each part.
    """
    totals = _BackfillTotals()
    now = context.services.clock.now()
    after = ""
    while (page := await _look(context, after, now))["looked"]:
        await _memories(context, page["found"], after, now, totals)
        after = page["after"]
        on_progress("memory", page["looked"])
    await _edges(context, now, totals, on_progress)
    return totals.all(await _nameless(context))


async def _look(
    context: RequestContext, after: str, now: datetime, tx: Tx | None = None
) -> dict[str, Any]:
    """Return a page of cache/backfill_find, with its rows as `UnbackedMemory`."""

    async def work(tx: Tx) -> dict[str, Any]:
        [page] = await tx.fetch(
            LOOK,
            after=after,
            limit=BACKFILL_PAGE,
            dimension=context.model.dimension,
            **_bounds(now),
        )
        return page | {"found": [UnbackedMemory(**row) for row in page["found"]]}

    return await (work(tx) if tx else context.read(work))


def _bounds(now: datetime) -> dict[str, datetime]:
    return {"earliest": read_options.BEGINNING, "latest": now + drafts.MAX_CLOCK_SKEW}


async def _memories(
    context: RequestContext,
    found: Sequence[UnbackedMemory],
    after: str,
    now: datetime,
    totals: _BackfillTotals,
) -> None:
    most_chars = context.services.settings.max_content_chars
    fit = []
    for one in found:
        problems = one.problems(most_chars)
        for key in problems:
            totals.leave("memory", backfill.PROBLEMS[key], one.id)
        if not problems:
            fit.append(one)
    embeddings = await _vectors(context, fit)
    for part in _parts(fit):
        totals.add(**await _write(context, {one.id for one in part}, embeddings, after, now))


async def _vectors(
    context: RequestContext, found: Sequence[UnbackedMemory]
) -> dict[str, Embedding]:
    texts = {
        identity.content_hash(one.content): identity.normalise(one.content)
        for one in found
        if not one.embedded
    }
    if not texts:
        return {}
    made = await context.services.embed_documents(list(texts.values()))
    return dict(zip(texts, made, strict=True))


def _parts(found: Sequence[UnbackedMemory]) -> Iterator[list[UnbackedMemory]]:
    """Yield memories in batches whose events fit into one transaction."""
    part: list[UnbackedMemory] = []
    events = 0
    for one in found:
        its = min(one.reinforce_count or 0, backfill.MAX_EVENTS)
        if part and events + its > MAX_EVENTS:
            yield part
            part, events = [], 0
        part.append(one)
        events += its
    if part:
        yield part


async def _write(
    context: RequestContext,
    ids: set[str],
    embeddings: dict[str, Embedding],
    after: str,
    now: datetime,
) -> dict[str, int]:
    """Backfill some memories of a page, each one completely, and return the report's counts."""
    most_chars = context.services.settings.max_content_chars

    async def work(tx: Tx) -> dict[str, int]:
        await stored.lock(tx)
        page = await _look(context, after, now, tx)
        rows: dict[str, dict[str, Any]] = {}
        done: list[UnbackedMemory] = []
        for one in page["found"]:
            # The row is checked again under the lock, because another writer may have changed
            # it. A memory whose new content has no embedding yet is left to the next run.
            embedding = embeddings.get(identity.content_hash(one.content))
            lacks = not one.embedded and embedding is None
            if one.id in ids and not lacks and not one.problems(most_chars):
                row = backfill.memory_row(one, context.tenant, now)
                rows[one.id] = row | embedding_fields(None if one.embedded else embedding)
                done.append(one)
        if rows:
            await tx.fetch(WRITE, memories=list(rows.values()))
            await _refresh_memories(tx, context, list(rows))
        return {
            "memories": sum(not one.stated for one in done),
            "filled": sum(one.stated for one in done),
            "embedded": sum(not one.embedded for one in done),
            "events": sum(len(row["events"]) for row in rows.values()),
            "capped": sum(one.is_capped for one in done),
        }

    return await context.write(work)


async def _edges(
    context: RequestContext, now: datetime, totals: _BackfillTotals, on_progress: OnProgress
) -> None:
    fit: list[UnbackedEdge] = []
    after = ""
    while (page := await _edge_page(context, after, now))["looked"]:
        after = page["after"]
        for edge in (UnbackedEdge(**row) for row in page["edges"]):
            if edge.problem is None:
                fit.append(edge)
            else:
                _leave(totals, edge, edge.problem)
    done, ringed = backfill.dated_edges(fit)
    for edge in ringed:
        _leave(totals, edge, "ring")
    for part in drafts.batches(done, BACKFILL_PAGE):
        n = await _supersede(context, part)
        totals.add(edges=n, events=n)
        on_progress("edge", len(part))


def _leave(totals: _BackfillTotals, edge: UnbackedEdge, key: str) -> None:
    name = f"{edge.newer_id or '(no id)'} -> {edge.older_id}"
    totals.leave("edge", backfill.EDGE_PROBLEMS[key], name)


async def _edge_page(context: RequestContext, after: str, now: datetime) -> dict[str, Any]:
    [page] = await context.fetch(
        EDGES, after=after, limit=BACKFILL_PAGE, source=backfill.SOURCE, **_bounds(now)
    )
    return page


async def _supersede(context: RequestContext, edges: Sequence[UnbackedEdge]) -> int:
    """Create events for dated edges and return the number of edges that had none."""

    async def work(tx: Tx) -> int:
        await stored.lock(tx)
        rows = [backfill.edge_row(edge, context.tenant) for edge in edges]
        n: int
        [n] = await tx.fetch(SUPERSEDE, edges=rows)
        ids = sorted({row[end] for row in rows for end in ("newer_id", "older_id")})
        await tx.fetch(REFRESH_MEMORIES, ids=ids)
        return n

    return await context.write(work)


async def _nameless(context: RequestContext) -> list[SkippedNodes]:
    [found] = await context.fetch(NAMELESS, limit=SHOWN)
    problem, hint = backfill.PROBLEMS["id"]
    names = tuple(found["names"])
    if not names:
        return []
    return [
        SkippedNodes(kind="memory", problem=problem, hint=hint, count=found["total"], ids=names)
    ]
