"""Prune unused episodes by rating, list what was pruned, restore it, and pin episodes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from graphmem import stored
from graphmem.errors import NotFoundError
from graphmem.graph import catalog
from graphmem.model import EventType, Tier
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import drafts, identity, rating, read_options
from graphmem.rules.rating import Rating
from graphmem.upkeep import (
    PinReceipt,
    PruneAction,
    PruneCandidate,
    PrunePolicy,
    PruneRecord,
    PruneReport,
    PruneRestoreReport,
    compression,
    rules,
)
from graphmem.upkeep.compression import EPISODE, in_order

PAGE = 200
"""Ratings, or lines of a manifest, per transaction; full texts are read."""
SHOWN = 200
"""Characters of a text shown in a plan."""
SOURCE = "attention"

PRUNABLE = catalog.query("usage/prune_candidates", dict)
PRUNED = catalog.query("usage/prune_manifest", dict)
MARK = catalog.query("lineage/mark", catalog.ignored)
ARCHIVE = catalog.query("upkeep/archive", catalog.ignored)


@dataclass(slots=True)
class _PruneBatch:
    """Result of one page of ratings."""

    rated: int = 0
    kept: int = 0
    items: list[tuple[PruneCandidate, Mapping[str, Any]]] = field(default_factory=list)


async def prune(
    context: RequestContext,
    policy: PrunePolicy,
    on_progress: OnProgress,
    *,
    apply: bool,
) -> PruneReport:
    """Compress and archive the unused episodes of a scope, one page per transaction."""
    now, rule = context.services.clock.now(), rating.from_settings(context.services.settings)
    run = "prune_" + identity.event_id(now)
    items: list[PruneCandidate] = []
    rated = kept = 0
    after: tuple[float, str, str] = (-math.inf, "", "")
    while True:
        place = after

        async def work(tx: Tx, place: tuple[float, str, str] = place) -> tuple[_PruneBatch, Any]:
            if apply:
                await stored.lock(tx)
            rows = await tx.fetch(PRUNABLE, **_asked(rule, now, place))
            page = _judged(rule, rows, now, policy)
            if apply:
                await _write(context, tx, page, run, now)
            return page, rows[-1] if rows else None

        page, last = await (context.write(work) if apply else context.read(work))
        if last is None:
            break
        rated, kept = rated + page.rated, kept + page.kept
        items += [item for item, _ in page.items]
        after = (last["from_elo"], last["kind"], last["id"])
        on_progress("rating", page.rated)
    done = apply and bool(items)
    return PruneReport(
        applied=done,
        run_id=run if done else None,
        at=now,
        rated=rated,
        items=tuple(sorted(items, key=rules.prune_place)),
        kept=kept,
    )


async def pruned(context: RequestContext, run: str | None) -> list[PruneRecord]:
    """Return the prune records of the scope, of one run or of all, oldest first."""
    found: list[PruneRecord] = []
    fetch = partial(context.fetch, PRUNED, run=run)
    async for rows in read_options.pages(fetch, at="recorded_at", size=PAGE):
        found += map(_line, rows)
    if run is not None and not found:
        raise NotFoundError(f"No pruning {run!r} in scope {context.scope!r}.")
    return found


async def restore_run(
    context: RequestContext, run: str, ids: frozenset[str] | None, on_progress: OnProgress
) -> PruneRestoreReport:
    """Restore the items that a run pruned, or some of them, one page per transaction.

    The call is safe to interrupt and to repeat: items already restored are skipped.
    """
    lines = await pruned(context, run)
    if missing := sorted((ids or frozenset()) - {line.id for line in lines}):
        raise NotFoundError(f"Pruning {run!r} has no item {missing[0]!r}.")
    away = {
        (line.kind, line.id): None
        for line in lines
        if line.away and (ids is None or line.id in ids)
    }
    items = sorted(away)
    now = context.services.clock.now()
    once = identity.event_id(now)
    for some in drafts.batches(items, PAGE):
        part = [_back(context, item, once, run) for item in some]
        await context.write(lambda tx, part=part: _restore(tx, part, now))  # type: ignore[misc]
        on_progress("item", len(part))
    return PruneRestoreReport(items=len(items))


def _asked(rule: Rating, now: datetime, after: tuple[float, str, str]) -> dict[str, Any]:
    return {
        "valid": now,
        "known": None,
        "rating_decay": rating.decay_params(rule),
        "after_elo": after[0],
        "after_kind": after[1],
        "after_id": after[2],
        "limit": PAGE,
    }


def _judged(
    rule: Rating,
    rows: Sequence[Mapping[str, Any]],
    now: datetime,
    policy: PrunePolicy,
) -> _PruneBatch:
    page = _PruneBatch(rated=len(rows))
    for row in rows:
        tier, item = rating.tier(row["elo"], rule), row["item"]
        if item is None or tier not in rules.TIERS:
            continue
        case = _case(row, now, tier)
        fate, reason = rules.prune_verdict(case, policy)
        if fate is PruneAction.KEEP:
            page.kept += 1
            continue
        whole = item["content"] if item["content"] is not None else item["text"]
        one = PruneCandidate(
            kind=row["kind"],
            id=row["id"],
            text=item["text"][:SHOWN],
            elo=row["elo"],
            tier=tier,
            idle_days=case.idle_days,
            returned_days=item["returned_at"] and _days(now - item["returned_at"]),
            action=fate,
            reason=reason,
            sha256=identity.digest(whole),
        )
        page.items.append((one, row))
    return page


def _case(row: Mapping[str, Any], now: datetime, tier: Tier) -> rules.PruneCase:
    item = row["item"]
    touched = max(at for at in (item["written_at"], item["opened_at"]) if at is not None)
    return rules.PruneCase(
        kind=row["kind"],
        tier=tier,
        idle_days=_days(now - touched),
        compressed=item["compressed_at"] is not None,
        compressible=compression.shortens(item["summary"], item["content"]),
        pinned=item["pinned"],
    )


def _days(span: timedelta) -> float:
    return span / timedelta(days=1)


async def _write(
    context: RequestContext, tx: Tx, page: _PruneBatch, run: str, now: datetime
) -> None:
    shortened: list[dict[str, Any]] = []
    episodes: list[dict[str, Any]] = []
    for one, row in page.items:
        item = row["item"]
        details = {"elo": one.elo, "reason": one.reason, "sha256": one.sha256}
        origin = {"source": SOURCE, "actor": run, "occurred_at": now}
        if compression.shortens(item["summary"], item["content"]):
            event = (
                compression.episode_event(context, EventType.COMPRESS, one.kind, one.id, run)
                | origin
            )
            gist = compression.gist(item["summary"], item["content"])
            since = now - timedelta(days=one.idle_days)
            shortened.append(
                compression.put_away(event, {"id": one.id, **item}, gist, since, **details)
            )
        if one.action is PruneAction.ARCHIVE:
            event = (
                compression.episode_event(context, EventType.ARCHIVE, one.kind, one.id, run)
                | origin
            )
            episodes.append(event | {"payload": json.dumps(details)})
    for query, events in ((compression.COMPRESS, shortened), (ARCHIVE, episodes)):
        if events:
            await tx.fetch(query, events=in_order(events))


def _back(context: RequestContext, item: tuple[str, str], once: str, run: str) -> dict[str, Any]:
    event = compression.episode_event(context, EventType.RESTORE, *item, once)
    return event | {"source": SOURCE, "actor": run}


async def pin(context: RequestContext, episode_id: str, *, pinned: bool) -> PinReceipt:
    """Protect an episode from pruning, or end its protection."""
    kind = EventType.PIN if pinned else EventType.UNPIN
    now = context.services.clock.now()
    once = identity.event_id(now)
    event = compression.episode_event(context, kind, EPISODE, episode_id, once)

    async def work(tx: Tx) -> None:
        rows = await compression.found(tx, [episode_id], now)
        stored.own(next(iter(rows), None), "Episode", episode_id, context.scope)
        await tx.fetch(ARCHIVE, events=[event])

    await context.write(work)
    return PinReceipt(event_id=event["id"], episode_id=episode_id, pinned=pinned)


async def _restore(tx: Tx, events: Sequence[dict[str, Any]], now: datetime) -> None:
    await stored.lock(tx)
    episodes = {event["about"]: event for event in events if event["label"] == EPISODE}
    there = await compression.found(tx, list(episodes), now)
    back = [episodes[row["id"]] for row in there if row["archive"] is not None or row["archived"]]
    if back:
        await tx.fetch(compression.RESTORE, events=back)
    statements = [event for event in events if event["label"] != EPISODE]
    if statements:
        await tx.fetch(MARK, events=statements)


def _line(row: Mapping[str, Any]) -> PruneRecord:
    details = json.loads(row["payload"])
    return PruneRecord(
        run_id=row["run"],
        at=row["at"],
        kind=row["kind"],
        id=row["item_id"],
        text=row["text"][:SHOWN],
        action=PruneAction.ARCHIVE if row["type"] == EventType.ARCHIVE else PruneAction.COMPRESS,
        elo=details["elo"],
        reason=details["reason"],
        sha256=details["sha256"],
        away=row["away"],
    )
