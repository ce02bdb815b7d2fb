"""Store items under namespaces and search them: one read and one write transaction per batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from graphmem.graph import catalog
from graphmem.items import rules
from graphmem.items.records import (
    FoundItem,
    GetItem,
    ItemAnswer,
    ItemCall,
    ListNamespaces,
    PutItem,
    SearchItems,
    StoredItem,
)
from graphmem.ports import Query, RequestContext, Role, Tx
from graphmem.rules import scoring

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

EXACT = 1_000
"""Maximum number of texts compared exactly, which includes recent writes and texts that an
approximate index misses; above it, the index is used. (1,000 texts take about 30 ms.)"""
POOL = 200
PAGE = 1_000
"""Items that a filter reads first; each further page is four times as long."""
SWEPT = 1_000

GET = catalog.query("item/get", dict)
SEARCH = catalog.query("item/search", dict)
RANK = catalog.query("item/rank", dict)
NEAR = catalog.query("item/near", dict)
COUNT_TEXTS = catalog.query("item/count_texts", lambda row: row["texts"])
NAMESPACES = {
    "prefix": catalog.query("item/namespaces", lambda row: tuple(row["namespace"])),
    "suffix": catalog.query("item/namespaces_by_suffix", lambda row: tuple(row["namespace"])),
}
EXPIRED = catalog.query("item/expired", dict)
ENTER = catalog.query("item/lock_namespaces", catalog.ignored)
PUT = catalog.query("item/put", catalog.ignored)
INDEX = catalog.query("item/index", catalog.ignored)
DELETE = catalog.query("item/delete", lambda row: row["deleted"])
REFRESH = catalog.query("item/refresh", catalog.ignored)

Row = Mapping[str, Any]


async def batch(context: RequestContext, calls: Sequence[ItemCall]) -> list[ItemAnswer]:
    """Run the calls and return their answers in order.

    Reads do not see the writes of the batch; the last of several writes to a key wins.
    """
    now = context.services.clock.now()
    writes = _writes(context.scope, [call for call in calls if isinstance(call, PutItem)], now)
    for call in calls:
        if isinstance(call, SearchItems):
            rules.check_filter(call.filter)
    questions = [call.query for call in calls if isinstance(call, SearchItems) and _asks(call)]
    vectors = await _embedded(context, questions, Role.QUERY)
    answers: list[ItemAnswer] = [None] * len(calls)
    if any(not isinstance(call, PutItem) for call in calls):
        answers, writes.refreshed = await context.read(
            lambda tx: _Reading(tx, context, now, vectors).all(calls)
        )
    texts = await _embedded(context, [row["text"] for row in writes.texts], Role.DOCUMENT)
    indexed = [
        {key: row[key] for key in ("item_id", "name", "path", "text")}
        | {"embedding": texts[row["text"]]}
        for row in writes.texts
    ]
    if not writes.is_empty():
        await context.write(lambda tx: _write(tx, now, writes, indexed))
    return answers


async def sweep(context: RequestContext) -> int:
    """Delete the expired items of the handle's scope and return their number."""
    now, swept = context.services.clock.now(), 0
    while True:
        rows = await context.fetch(EXPIRED, valid=now, limit=SWEPT)
        swept += await _swept(context, {row["id"]: row["namespace_id"] for row in rows}, now)
        if len(rows) < SWEPT:
            return swept


async def _swept(context: RequestContext, gone: Mapping[str, str], now: datetime) -> int:
    if not gone:
        return 0
    return await context.write(lambda tx: _delete(tx, gone, now))


def _asks(call: SearchItems) -> bool:
    return not _is_blank(call.query or "")


def _is_blank(text: str) -> bool:
    # Models receive the text in this form.
    return not text.replace("\0", " ").strip()


async def _embedded(
    context: RequestContext, texts: Iterable[str | None], role: Role
) -> dict[str, Vector]:
    once = list(dict.fromkeys(text for text in texts if text is not None))
    if not once:
        return {}
    return dict(zip(once, await context.services.embedder.embed(once, role), strict=True))


@dataclass(slots=True)
class _Writes:
    """Writes of a batch, as query parameters."""

    namespaces: list[dict[str, Any]]
    items: list[dict[str, Any]]
    texts: list[dict[str, Any]]
    deleted: dict[str, str]
    """Namespace ids of the deleted items, by item id."""
    refreshed: list[str]

    def is_empty(self) -> bool:
        """Return whether the batch writes nothing."""
        return not (self.items or self.deleted or self.refreshed)


def _writes(scope: str, puts: Iterable[PutItem], now: datetime) -> _Writes:
    last = {rules.item_id(scope, put.namespace, put.key): put for put in puts}
    found = _Writes([], [], [], {}, [])
    namespaces: dict[str, dict[str, Any]] = {}
    for place, (item_id, put) in enumerate(last.items()):
        row = rules.namespace_row(scope, put.namespace, place)
        namespace = namespaces.setdefault(row["id"], row)
        if put.value is None:
            found.deleted[item_id] = namespace["id"]
            continue
        found.items.append(_item_row(item_id, namespace["id"], place, put, now))
        found.texts += [
            {"item_id": item_id, "name": name, "path": namespace["path"], "text": text}
            for name, text in put.texts.items()
            if not _is_blank(text)
        ]
    # All writers lock in this order, so that none can deadlock.
    entered = {row["namespace_id"] for row in found.items}
    found.namespaces = [namespaces[namespace_id] for namespace_id in sorted(entered)]
    found.items.sort(key=lambda row: str(row["id"]))
    return found


def _item_row(
    item_id: str, namespace_id: str, place: int, put: PutItem, now: datetime
) -> dict[str, Any]:
    ttl = put.ttl_minutes
    value = rules.encode_value(put.value)
    return {
        "id": item_id,
        "namespace_id": namespace_id,
        "key": put.key,
        "value": value,
        "facets": rules.value_tokens(rules.decode_value(value)),
        "place": place,
        "ttl_minutes": ttl,
        "expires_at": None if ttl is None else now + timedelta(minutes=ttl),
    }


async def _write(tx: Tx, now: datetime, writes: _Writes, texts: Sequence[dict[str, Any]]) -> None:
    if writes.refreshed:
        await tx.fetch(REFRESH, ids=writes.refreshed, valid=now)
    if writes.items:
        await tx.fetch(ENTER, namespaces=writes.namespaces, valid=now)
        await tx.fetch(PUT, items=writes.items, valid=now)
    if texts:
        await tx.fetch(INDEX, texts=texts)
    if writes.deleted:
        await _delete(tx, writes.deleted, None)


async def _delete(tx: Tx, gone: Mapping[str, str], expired: datetime | None) -> int:
    [deleted] = await tx.fetch(
        DELETE, namespaces=sorted(set(gone.values())), ids=sorted(gone), expired=expired
    )
    return int(deleted)


@dataclass(slots=True)
class _Reading:
    """Runs the reads of a batch."""

    tx: Tx
    to: RequestContext
    now: datetime
    vectors: Mapping[str, Vector]

    async def all(self, calls: Sequence[ItemCall]) -> tuple[list[ItemAnswer], list[str]]:
        """Return the answers, None for writes, and the ids of items to refresh."""
        wanted = {self._id(call) for call in calls if isinstance(call, GetItem)}
        got = (
            {row["id"]: row for row in await self._fetch(GET, ids=sorted(wanted))} if wanted else {}
        )
        answers: list[ItemAnswer] = []
        refreshed: set[str] = set()
        for call in calls:
            rows: list[Row] = []
            if isinstance(call, GetItem):
                rows = [got[self._id(call)]] if self._id(call) in got else []
                answers.append(_stored(rows[0]) if rows else None)
            elif isinstance(call, SearchItems):
                rows = await self._search(call)
                answers.append([_found(row) for row in rows])
            elif isinstance(call, ListNamespaces):
                answers.append(await self._list(call))
            else:
                answers.append(None)
            if isinstance(call, GetItem | SearchItems) and call.refresh:
                refreshed.update(row["id"] for row in rows if row["fades"])
        return answers, sorted(refreshed)

    def _id(self, call: GetItem) -> str:
        return rules.item_id(self.to.scope, call.namespace, call.key)

    async def _fetch(self, query: Query[Any], **params: object) -> list[Any]:
        return await self.tx.fetch(query, valid=self.now, **params)

    async def _list(self, call: ListNamespaces) -> list[tuple[str, ...]]:
        end, path = rules.index_lookup(call.fits)
        return await self._fetch(
            NAMESPACES[end],
            **{end: path},
            conditions=[{"path": list(f.path), "from_end": f.end == "suffix"} for f in call.fits],
            depth=call.depth,
            skip=call.offset,
            limit=call.limit,
        )

    async def _search(self, call: SearchItems) -> list[Row]:
        if not _asks(call):
            return await self._page(SEARCH, call, call.offset, call.limit, unindexed=False)
        found = await self._nearest(call, self.vectors[str(call.query)])
        # As in LangGraph's own store, items without indexed texts fill up the page.
        left = call.limit - len(found)
        return found + await self._page(SEARCH, call, 0, left, unindexed=True)

    async def _nearest(self, call: SearchItems, vector: Vector) -> list[Row]:
        prefix = rules.namespace_path(call.prefix)
        end = call.offset + call.limit
        [texts] = await self.tx.fetch(COUNT_TEXTS, prefix=prefix, limit=EXACT + 1)
        if texts > EXACT:
            low, high = rules.path_bounds(prefix)
            pool = max(POOL, 4 * end)
            rows = await self._fetch(
                NEAR,
                low=low,
                high=high,
                embedding=vector,
                facets=rules.filter_tokens(call.filter),
                pool=pool,
                limit=pool if call.filter else end,
            )
            found = [row for row in rows if _fits(row, call)]
            if len(found) >= end:
                return found[call.offset : end]
        return await self._page(RANK, call, call.offset, call.limit, embedding=vector)

    async def _page(
        self, query: Query[Any], call: SearchItems, offset: int, limit: int, **params: object
    ) -> list[Row]:
        """Return one page of the query's results that match the filter."""
        if limit == 0:
            return []
        params |= {
            "prefix": rules.namespace_path(call.prefix),
            "facets": rules.filter_tokens(call.filter),
        }
        if not call.filter:
            return await self._fetch(query, **params, skip=offset, limit=limit)
        found: list[Row] = []
        skip, size = 0, max(PAGE, offset + limit)
        while len(found) < offset + limit:
            rows = await self._fetch(query, **params, skip=skip, limit=size)
            found += [row for row in rows if _fits(row, call)]
            if len(rows) < size:
                break
            skip, size = skip + size, size * 4
        return found[offset : offset + limit]


def _fits(row: Row, call: SearchItems) -> bool:
    return rules.matches_filter(rules.decode_value(row["value"]), call.filter)


def _fields(row: Row) -> dict[str, Any]:
    kept = ("namespace", "key", "created_at", "updated_at")
    return {name: row[name] for name in kept} | {"value": rules.decode_value(row["value"])}


def _stored(row: Row) -> StoredItem:
    return StoredItem(**_fields(row))


def _found(row: Row) -> FoundItem:
    score = row.get("score")
    return FoundItem(**_fields(row), score=None if score is None else scoring.from_neo4j(score))
