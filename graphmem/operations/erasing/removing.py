"""Erase items, episodes, events and the digest lines about them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphmem import catalog
from graphmem.operations.erasing import targets
from graphmem.operations.erasing.targets import ErasureSet
from graphmem.ports import OnPart, RequestContext, Tx
from graphmem.rules import erasure, formulas, fulltext, identity, upkeep


async def remove(
    to: RequestContext, paths: Sequence[Path], episodes: Sequence[str], *, apply: bool
) -> int:
    """Remove the lines about episodes from digest files and return their number.

    Raises:
        DigestFileError: a file cannot be read or written, or its markers do not form one section.
        DigestLockedError: another process held the lock of a file for too long.
    """
    lines = 0
    for path in paths if episodes else ():
        text = await to.world.files.read(path)
        if text is None:
            continue
        count = len(upkeep.episode_lines(text, episodes, path.name))
        lines += count
        if apply and count:
            await to.world.files.revise(
                path,
                lambda now, name=path.name: upkeep.remove_episodes(now or "", episodes, name),  # type: ignore[misc]
            )
    return lines


LOCK = catalog.query("commit/lock", catalog.ignored)
HOLD = catalog.query("erase/lock_items", catalog.ignored)
TOMBSTONE = catalog.query("erase/tombstone", catalog.ignored)
REMOVE_EVENTS = catalog.query("erase/remove_events", catalog.ignored)
REMOVE_ITEMS = catalog.query("erase/remove_items", dict)
REMOVE_TURNS = catalog.query("erase/remove_turns", lambda row: int(row["removed"]))
REMOVE_EPISODES = catalog.query("erase/remove_episodes", catalog.ignored)
SWEEP = catalog.query("erase/remove_nodes", lambda row: int(row["removed"]))
MEND_BELIEFS = catalog.query("erase/recompute_beliefs", catalog.ignored)
MEND_MEMORIES = catalog.query("erase/recompute_memories", catalog.ignored)
REFRESH_BELIEFS = catalog.query("belief/refresh", catalog.ignored)
REFRESH_MEMORIES = catalog.query("cache/refresh_memories", catalog.ignored)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
FACETS = catalog.query("cache/facets", dict)
REFRESH_FACETS = catalog.query("cache/refresh_facets", catalog.ignored)

Rows = Sequence[dict[str, Any]]


async def refuse(tx: Tx, to: RequestContext, keys: Sequence[str]) -> None:
    """Store tombstones under the given keys."""
    await tx.fetch(TOMBSTONE, tenant=identity.tenant_key(to.wall.tenant), keys=sorted(keys))


async def items(to: RequestContext, erased: ErasureSet, on_part: OnPart, *, refused: bool) -> None:
    """Erase memories or beliefs: their events in pages, the nodes with the last page.

    A node exists as long as one of its events does, so an interrupted run finds it again.

    Args:
        to: request context.
        erased: ids to erase.
        on_part: progress callback; receives `node` and the number erased.
        refused: whether each erased event gets a tombstone.
    """
    await _until_last(to, erased, on_part, _remove_items, refused=refused)


async def episodes(
    to: RequestContext, erased: ErasureSet, on_part: OnPart, *, refused: bool
) -> None:
    """Erase episodes: their events in pages, then their turns, then the nodes."""
    await _until_last(to, erased, on_part, None, refused=refused)
    removed = targets.PAGE
    while removed == targets.PAGE:
        removed = await to.world.graph.write(lambda tx: _turns(tx, to, erased))
        on_part("node", removed)
    await to.world.graph.write(
        lambda tx: tx.fetch(REMOVE_EPISODES, tenant=to.wall.tenant, episodes=list(erased.episodes))
    )
    on_part("node", len(erased.episodes))


async def events_of_scope(to: RequestContext, scope: str | None, on_part: OnPart) -> None:
    """Erase the events of a scope, or of the whole tenant."""

    async def work(tx: Tx) -> int:
        if scope is not None:
            await tx.fetch(LOCK, tenant=to.wall.tenant)
        rows = await targets.events_of_scope(tx, to, scope)
        await _remove(tx, to, rows, refreshes=scope is not None)
        return len(rows)

    removed = targets.PAGE
    while removed == targets.PAGE:
        removed = await to.world.graph.write(work)
        on_part("node", removed)


async def sweep(to: RequestContext, scope: str | None, on_part: OnPart) -> None:
    """Erase the remaining nodes of a scope or of the whole tenant."""
    removed = 1
    while removed:
        [removed] = await to.world.graph.write(
            lambda tx: tx.fetch(SWEEP, tenant=to.wall.tenant, scope=scope, limit=targets.PAGE)
        )
        on_part("node", removed)


async def _until_last(
    to: RequestContext,
    erased: ErasureSet,
    on_part: OnPart,
    finish: Callable[[Tx, RequestContext, ErasureSet], Coroutine[Any, Any, None]] | None,
    *,
    refused: bool,
) -> None:
    async def work(tx: Tx) -> int:
        await tx.fetch(LOCK, tenant=to.wall.tenant)
        # The search log is written without the tenant lock.
        await tx.fetch(HOLD, tenant=to.wall.tenant, ids=sorted(erased.stated))
        found = await targets.events(tx, to, erased)
        rows = found[: targets.PAGE]
        if refused:
            await refuse(tx, to, [_key(to, row) for row in rows])
        await _remove(tx, to, rows, refreshes=True)
        if finish is not None and rows == found:
            await finish(tx, to, erased)
        return len(found)

    found = targets.PAGE + 1
    while found > targets.PAGE:
        found = await to.world.graph.write(work)
        on_part("node", min(found, targets.PAGE))
    if finish is not None:
        on_part("node", len(erased.stated))


def _key(to: RequestContext, row: Mapping[str, Any]) -> str:
    return erasure.key(to.wall.tenant, "Event", row["id"], row["scope"])


async def _turns(tx: Tx, to: RequestContext, erased: ErasureSet) -> int:
    [removed] = await tx.fetch(
        REMOVE_TURNS,
        tenant=to.wall.tenant,
        episodes=list(erased.episodes),
        limit=targets.PAGE,
    )
    return removed


async def _remove_items(tx: Tx, to: RequestContext, erased: ErasureSet) -> None:
    [neighbors] = await tx.fetch(REMOVE_ITEMS, tenant=to.wall.tenant, ids=erased.stated)
    if neighbors["memories"]:
        await tx.fetch(REFRESH_MEMORIES, tenant=to.wall.tenant, ids=neighbors["memories"])
    if neighbors["beliefs"]:
        await tx.fetch(REFRESH_BELIEFS, tenant=to.wall.tenant, ids=neighbors["beliefs"])


async def _remove(tx: Tx, to: RequestContext, rows: Rows, *, refreshes: bool) -> None:
    """Erase events and refresh the remaining beliefs and memories they were evidence for."""
    tenant = to.wall.tenant
    await tx.fetch(REMOVE_EVENTS, tenant=tenant, ids=[row["id"] for row in rows])
    if not refreshes:
        return
    if beliefs := sorted({one for row in rows for one in row["beliefs"]}):
        await tx.fetch(MEND_BELIEFS, tenant=tenant, ids=beliefs)
        await tx.fetch(REFRESH_BELIEFS, tenant=tenant, ids=beliefs)
    if memories := sorted({one for row in rows for one in row["memories"]}):
        await tx.fetch(MEND_MEMORIES, tenant=tenant, ids=memories)
        await tx.fetch(REFRESH_MEMORIES, tenant=tenant, ids=memories)
        traces = formulas.retrace_params(dict.fromkeys(memories))
        await tx.fetch(RETRACE, tenant=tenant, **traces)
        found = await tx.fetch(FACETS, tenant=tenant, ids=memories)
        right = [fulltext.facet_row(tenant, row) for row in found]
        await tx.fetch(REFRESH_FACETS, tenant=tenant, memories=right)
