"""Digests that tell of episodes which are forgotten."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphmem import catalog
from graphmem.operations.erasing import targets
from graphmem.operations.erasing.targets import ErasureSet
from graphmem.ports import OnPart, RequestContext, Tx
from graphmem.rules import erasure, formulas, identity, upkeep, words


async def remove(
    to: RequestContext, paths: Sequence[Path], episodes: Sequence[str], *, apply: bool
) -> int:
    """Take the lines of episodes out of digests, and return how many there were.

    Raises:
        DigestFileError: one cannot be read or written, or its markers do not make one section.
        DigestLockedError: another process was at one for too long.
    """
    lines = 0
    for path in paths if episodes else ():
        text = await to.world.files.read(path)
        if text is None:
            continue
        count = len(upkeep.lines_of(text, episodes, path.name))
        lines += count
        if apply and count:
            await to.world.files.revise(
                path,
                lambda now, name=path.name: upkeep.without(now or "", episodes, name),  # type: ignore[misc]
            )
    return lines


LOCK = catalog.query("commit/lock", catalog.ignored)
HOLD = catalog.query("erase/hold", catalog.ignored)
TOMBSTONE = catalog.query("erase/tombstone", catalog.ignored)
REMOVE_EVENTS = catalog.query("erase/remove_events", catalog.ignored)
REMOVE_ITEMS = catalog.query("erase/remove_items", dict)
REMOVE_TURNS = catalog.query("erase/remove_turns", lambda row: int(row["removed"]))
REMOVE_EPISODES = catalog.query("erase/remove_episodes", catalog.ignored)
SWEEP = catalog.query("erase/sweep", lambda row: int(row["removed"]))
MEND_BELIEFS = catalog.query("erase/mend_beliefs", catalog.ignored)
MEND_MEMORIES = catalog.query("erase/mend_memories", catalog.ignored)
REFRESH_BELIEFS = catalog.query("belief/refresh", catalog.ignored)
REFRESH_MEMORIES = catalog.query("cache/refresh_memories", catalog.ignored)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
FACETS = catalog.query("cache/facets", dict)
REFRESH_FACETS = catalog.query("cache/refresh_facets", catalog.ignored)

Rows = Sequence[dict[str, Any]]


async def refuse(tx: Tx, to: RequestContext, keys: Sequence[str]) -> None:
    """Keep that something was erased."""
    await tx.fetch(TOMBSTONE, tenant=identity.tenant_key(to.wall.tenant), keys=sorted(keys))


async def items(to: RequestContext, doomed: ErasureSet, on_part: OnPart, *, refused: bool) -> None:
    """Erase memories or beliefs: their events in pages, and with the last page themselves.

    So one is there as long as an event of it is, and an interrupted run finds them again.

    Args:
        to: where.
        doomed: which.
        on_part: told `node` and how many are gone.
        refused: whether each of their events gets a tombstone.
    """
    await _until_last(to, doomed, on_part, _remove_items, refused=refused)


async def episodes(
    to: RequestContext, doomed: ErasureSet, on_part: OnPart, *, refused: bool
) -> None:
    """Erase episodes, likewise; their turns go after their events."""
    await _until_last(to, doomed, on_part, None, refused=refused)
    removed = targets.PAGE
    while removed == targets.PAGE:
        removed = await to.world.graph.write(lambda tx: _turns(tx, to, doomed))
        on_part("node", removed)
    await to.world.graph.write(
        lambda tx: tx.fetch(REMOVE_EPISODES, tenant=to.wall.tenant, episodes=list(doomed.episodes))
    )
    on_part("node", len(doomed.episodes))


async def events_of_scope(to: RequestContext, scope: str | None, on_part: OnPart) -> None:
    """Erase the events of a scope, or of the whole tenant."""

    async def work(tx: Tx) -> int:
        if scope is not None:
            await tx.fetch(LOCK, tenant=to.wall.tenant)
        rows = await targets.events_of_scope(tx, to, scope)
        await _remove(tx, to, rows, mends=scope is not None)
        return len(rows)

    removed = targets.PAGE
    while removed == targets.PAGE:
        removed = await to.world.graph.write(work)
        on_part("node", removed)


async def sweep(to: RequestContext, scope: str | None, on_part: OnPart) -> None:
    """Erase what else a scope, or the whole tenant, holds."""
    removed = 1
    while removed:
        [removed] = await to.world.graph.write(
            lambda tx: tx.fetch(SWEEP, tenant=to.wall.tenant, scope=scope, limit=targets.PAGE)
        )
        on_part("node", removed)


async def _until_last(
    to: RequestContext,
    doomed: ErasureSet,
    on_part: OnPart,
    finish: Callable[[Tx, RequestContext, ErasureSet], Coroutine[Any, Any, None]] | None,
    *,
    refused: bool,
) -> None:
    async def work(tx: Tx) -> int:
        await tx.fetch(LOCK, tenant=to.wall.tenant)
        # The search log is written without the lock of the tenant.
        await tx.fetch(HOLD, tenant=to.wall.tenant, ids=sorted(doomed.stated))
        found = await targets.events(tx, to, doomed)
        rows = found[: targets.PAGE]
        if refused:
            await refuse(tx, to, [_key(to, row) for row in rows])
        await _remove(tx, to, rows, mends=True)
        if finish is not None and rows == found:
            await finish(tx, to, doomed)
        return len(found)

    found = targets.PAGE + 1
    while found > targets.PAGE:
        found = await to.world.graph.write(work)
        on_part("node", min(found, targets.PAGE))
    if finish is not None:
        on_part("node", len(doomed.stated))


def _key(to: RequestContext, row: Mapping[str, Any]) -> str:
    return erasure.key(to.wall.tenant, "Event", row["id"], row["scope"])


async def _turns(tx: Tx, to: RequestContext, doomed: ErasureSet) -> int:
    [removed] = await tx.fetch(
        REMOVE_TURNS,
        tenant=to.wall.tenant,
        episodes=list(doomed.episodes),
        limit=targets.PAGE,
    )
    return removed


async def _remove_items(tx: Tx, to: RequestContext, doomed: ErasureSet) -> None:
    [beside] = await tx.fetch(REMOVE_ITEMS, tenant=to.wall.tenant, ids=doomed.stated)
    if beside["memories"]:
        await tx.fetch(REFRESH_MEMORIES, tenant=to.wall.tenant, ids=beside["memories"])
    if beside["beliefs"]:
        await tx.fetch(REFRESH_BELIEFS, tenant=to.wall.tenant, ids=beside["beliefs"])


async def _remove(tx: Tx, to: RequestContext, rows: Rows, *, mends: bool) -> None:
    """Erase events, and bring up to date what stays of that of which they spoke."""
    tenant = to.wall.tenant
    await tx.fetch(REMOVE_EVENTS, tenant=tenant, ids=[row["id"] for row in rows])
    if not mends:
        return
    if beliefs := sorted({one for row in rows for one in row["beliefs"]}):
        await tx.fetch(MEND_BELIEFS, tenant=tenant, ids=beliefs)
        await tx.fetch(REFRESH_BELIEFS, tenant=tenant, ids=beliefs)
    if memories := sorted({one for row in rows for one in row["memories"]}):
        await tx.fetch(MEND_MEMORIES, tenant=tenant, ids=memories)
        await tx.fetch(REFRESH_MEMORIES, tenant=tenant, ids=memories)
        anew = formulas.retold(dict.fromkeys(memories))
        await tx.fetch(RETRACE, tenant=tenant, **anew)
        found = await tx.fetch(FACETS, tenant=tenant, ids=memories)
        right = [words.refreshed(tenant, row) for row in found]
        await tx.fetch(REFRESH_FACETS, tenant=tenant, memories=right)
