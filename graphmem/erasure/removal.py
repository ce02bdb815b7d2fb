"""Erase items, episodes, events and the digest lines about them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from graphmem import stored
from graphmem.conversation import plans
from graphmem.erasure import rules, targets, tombstones
from graphmem.erasure.targets import ErasureSet
from graphmem.graph import catalog
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import formulas, fulltext
from graphmem.upkeep import rules as upkeep_rules

PLACES = catalog.query("erase/scopes_of", dict)
HOLD = catalog.query("erase/lock_items", catalog.ignored)
REMOVE_EVENTS = catalog.query("erase/remove_events", catalog.ignored)
REMOVE_NAMES = catalog.query("erase/remove_names", catalog.ignored)
REMOVE_ITEMS = catalog.query("erase/remove_items", dict)
REMOVE_TURNS = catalog.query("erase/remove_turns", lambda row: int(row["removed"]))
REMOVE_TURNS_ALONE = catalog.query("erase/remove_turns_alone", catalog.ignored)
REMOVE_EPISODES = catalog.query("erase/remove_episodes", catalog.ignored)
SWEEP = catalog.query("erase/remove_nodes", lambda row: int(row["removed"]))
REMOVE_REJECTIONS = catalog.query("erase/remove_rejections", lambda row: int(row["removed"]))
MEND_BELIEFS = catalog.query("erase/recompute_beliefs", catalog.ignored)
MEND_MEMORIES = catalog.query("erase/recompute_memories", catalog.ignored)
REFRESH_BELIEFS = catalog.query("belief/refresh", catalog.ignored)
REFRESH_MEMORIES = catalog.query("cache/refresh_memories", catalog.ignored)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
FACETS = catalog.query("cache/facets", dict)
REFRESH_FACETS = catalog.query("cache/refresh_facets", catalog.ignored)

Rows = Sequence[dict[str, Any]]


async def remove(
    context: RequestContext, paths: Sequence[Path], episodes: Sequence[str], *, apply: bool
) -> int:
    """Remove the lines about episodes from digest files and return their number."""
    lines = 0
    for path in paths if episodes else ():
        text = await context.services.files.read(path)
        if text is None:
            continue
        count = len(upkeep_rules.episode_lines(text, episodes, path.name))
        lines += count
        if apply and count:
            await context.services.files.revise(
                path,
                lambda now, name=path.name: upkeep_rules.remove_episodes(now or "", episodes, name),  # type: ignore[misc]
            )
    return lines


async def refuse_episodes(context: RequestContext, episode_ids: Sequence[str]) -> None:
    """Store tombstones of episodes in the scope of the context."""
    tenant, scope = context.tenant, context.scope
    keys = [rules.key(tenant, "Episode", one, scope) for one in episode_ids]

    async def work(tx: Tx) -> None:
        await tombstones.refuse(tx, context, keys)

    if keys:
        await context.write(work)


async def items(
    context: RequestContext, erased: ErasureSet, on_progress: OnProgress, *, refused: bool
) -> None:
    """Erase memories or beliefs: their events in pages, the nodes with the last page.

    A node exists as long as one of its events does, so an interrupted run finds it again.

    Args:
        on_progress: progress callback; receives `node` and the number erased.
        refused: whether each erased event gets a tombstone.
    """
    await _until_last(context, erased, on_progress, _remove_items, refused=refused)


async def episodes(
    context: RequestContext, erased: ErasureSet, on_progress: OnProgress, *, refused: bool
) -> None:
    """Erase episodes: their events in pages, then their turns, then the nodes."""
    await _until_last(context, erased, on_progress, None, refused=refused)

    async def unsealed(tx: Tx) -> None:
        await stored.lock(tx)
        await targets.unseal(tx, nodes=erased.episodes)

    await context.write(unsealed)
    removed = targets.PAGE
    while removed == targets.PAGE:
        [removed] = await context.fetch(
            REMOVE_TURNS, episodes=list(erased.episodes), limit=targets.PAGE
        )
        on_progress("node", removed)

    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await targets.unseal(tx, nodes=erased.episodes)
        places = await tx.fetch(PLACES, turns=[], episodes=list(erased.episodes), events=[])
        copies = [("Episode", row["id"], row["scope"]) for row in places]
        await tombstones.refuse_copies(tx, context, copies)
        await tx.fetch(REMOVE_EPISODES, episodes=list(erased.episodes))

    await context.write(work)
    on_progress("node", len(erased.episodes))


async def turns(
    context: RequestContext, erased: ErasureSet, on_progress: OnProgress, *, refused: bool
) -> None:
    """Erase turns of episodes that stay: their events in pages, then the turns."""
    await _until_last(context, erased, on_progress, None, refused=refused)

    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await targets.unseal(tx, nodes=erased.turns)
        await tombstones.refuse_copies(tx, context, [("Turn", one, None) for one in erased.turns])
        rows = [{"id": one, "digest": plans.erased_digest(one)} for one in erased.turns]
        await tx.fetch(REMOVE_TURNS_ALONE, turns=rows)

    await context.write(work)
    on_progress("node", len(erased.turns))


async def events_of_scope(
    context: RequestContext, scope: str | None, on_progress: OnProgress
) -> None:
    """Erase the events of a scope, or of the whole tenant."""

    async def work(tx: Tx) -> int:
        if scope is not None:
            await stored.lock(tx)
        rows = await targets.events_of_scope(tx, scope)
        if scope is not None:
            keys = [rules.key(context.tenant, "Event", row["id"], scope) for row in rows]
            await tombstones.refuse(tx, context, keys)
            await tombstones.refuse_copies(
                tx, context, [("Event", row["id"], scope) for row in rows]
            )
        await _remove(tx, context, rows, refreshes=scope is not None)
        return len(rows)

    removed = targets.PAGE
    while removed == targets.PAGE:
        removed = await context.write(work)
        on_progress("node", removed)


async def aliases(context: RequestContext, ids: Sequence[str], events: Sequence[str]) -> None:
    """Erase names by their ids, and the events that declared them as aliases or removed them."""

    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await targets.unseal(tx, events=events)
        places = await tx.fetch(PLACES, turns=[], episodes=[], events=list(events))
        await tombstones.refuse_copies(
            tx,
            context,
            [
                *(("Event", row["id"], row["scope"]) for row in places),
                *(("Name", one, None) for one in ids),
            ],
        )
        await tx.fetch(REMOVE_EVENTS, ids=list(events))
        await tx.fetch(REMOVE_NAMES, ids=list(ids))

    await context.write(work)


async def sweep(context: RequestContext, scope: str | None, on_progress: OnProgress) -> None:
    """Erase the remaining nodes of a scope or of the whole tenant."""

    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await targets.unseal(tx, scope=scope)

    async def unrule(tx: Tx) -> int:
        """Take the rulings of the scope from items of other scopes."""
        await stored.lock(tx)
        return (await tx.fetch(REMOVE_REJECTIONS, scope=scope, limit=targets.PAGE))[0]

    if scope is not None:
        await context.write(work)
        while removed := await context.write(unrule):
            on_progress("node", removed)
    removed = 1
    while removed:
        [removed] = await context.fetch(SWEEP, scope=scope, limit=targets.PAGE)
        on_progress("node", removed)


async def _until_last(
    context: RequestContext,
    erased: ErasureSet,
    on_progress: OnProgress,
    finish: Callable[[Tx, ErasureSet], Coroutine[Any, Any, None]] | None,
    *,
    refused: bool,
) -> None:
    async def work(tx: Tx) -> int:
        await stored.lock(tx)
        # The search log is written without the tenant lock.
        await tx.fetch(HOLD, ids=sorted(erased.stated))
        found = await targets.events(tx, erased)
        rows = found[: targets.PAGE]
        if refused:
            tenant = context.tenant
            keys = [rules.key(tenant, "Event", row["id"], row["scope"]) for row in rows]
            await tombstones.refuse(tx, context, keys)
        await tombstones.refuse_copies(
            tx, context, [("Event", row["id"], row["scope"]) for row in rows]
        )
        await _remove(tx, context, rows, refreshes=True)
        if finish is not None and rows == found:
            stated = [(label, one, None) for label, one in sorted(erased.mentioned)]
            await tombstones.refuse_copies(tx, context, stated)
            await finish(tx, erased)
        return len(found)

    found = targets.PAGE + 1
    while found > targets.PAGE:
        found = await context.write(work)
        on_progress("node", min(found, targets.PAGE))
    if finish is not None:
        on_progress("node", len(erased.stated))


async def _remove_items(tx: Tx, erased: ErasureSet) -> None:
    await targets.unseal(tx, nodes=erased.stated)
    [neighbors] = await tx.fetch(REMOVE_ITEMS, ids=erased.stated)
    if neighbors["memories"]:
        await tx.fetch(REFRESH_MEMORIES, ids=neighbors["memories"])
    if neighbors["beliefs"]:
        await tx.fetch(REFRESH_BELIEFS, ids=neighbors["beliefs"])


async def _remove(tx: Tx, context: RequestContext, rows: Rows, *, refreshes: bool) -> None:
    """Erase events and refresh the remaining beliefs and memories they were evidence for."""
    ids = [row["id"] for row in rows]
    await targets.unseal(tx, events=ids)
    await tx.fetch(REMOVE_EVENTS, ids=ids)
    if not refreshes:
        return
    if beliefs := sorted({one for row in rows for one in row["beliefs"]}):
        await tx.fetch(MEND_BELIEFS, ids=beliefs)
        await tx.fetch(REFRESH_BELIEFS, ids=beliefs)
    if memories := sorted({one for row in rows for one in row["memories"]}):
        await tx.fetch(MEND_MEMORIES, ids=memories)
        await tx.fetch(REFRESH_MEMORIES, ids=memories)
        traces = formulas.retrace_params(dict.fromkeys(memories))
        await tx.fetch(RETRACE, **traces)
        found = await tx.fetch(FACETS, ids=memories)
        right = [fulltext.facet_row(context.tenant, row) for row in found]
        await tx.fetch(REFRESH_FACETS, memories=right)
