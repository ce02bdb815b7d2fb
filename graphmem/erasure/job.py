"""Erase items, scopes and tenants, or report what would be erased."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from graphmem import catalog
from graphmem.erasure import ErasureReport, ErasureTarget, guard, removal, rules, targets
from graphmem.erasure.targets import ErasureSet
from graphmem.errors import ForeignScopeError, NotFoundError
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import drafts, identity

ITEMS = 100
"""Memories, or beliefs, whose events are erased together."""
ALL = 10_000_000
"""Maximum number of memories, beliefs or episodes of a scope whose ids are searched elsewhere."""
PAUSE_S = 0.05

FOUND = catalog.query("erase/target", dict)
REFUSED = catalog.query("erase/find_tombstones", dict)
RUNNING = catalog.query("schema/running", lambda row: row["id"])
LABELS: Mapping[str, str] = {
    ErasureTarget.MEMORY: "Memory",
    ErasureTarget.BELIEF: "Belief",
    ErasureTarget.EPISODE: "Episode",
}


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """Arguments of an erasure."""

    what: ErasureTarget | Literal["tenant"]
    id: str
    apply: bool
    on_progress: OnProgress
    digests: Sequence[Path] = ()
    """Digest files that may contain lines about an episode."""


async def forget(context: RequestContext, request: ErasureRequest) -> ErasureReport:
    """Erase an item or a scope, or report what would be erased.

    The tombstone is written first, so that concurrent writes are refused. The requested node is
    erased last, so that an interrupted run can find the rest again.

    Raises:
        NotFoundError: nothing visible has this id.
        ForeignScopeError: the item or scope is not the handle's own.
    """
    if request.what in LABELS:
        return await _item(context, request)
    if request.id != context.scope:
        raise ForeignScopeError(
            "A scope must be erased by a handle on it.", hint="Open one: `.scope(…)`."
        )
    return await _part(context, request, request.id)


async def erase_tenant(
    context: RequestContext, on_progress: OnProgress, *, apply: bool
) -> ErasureReport:
    """Erase the tenant of the context, or report what would be erased.

    Raises:
        NotFoundError: the tenant has no data.
    """
    request = ErasureRequest("tenant", context.tenant, apply, on_progress)
    return await _part(context, request, None)


async def _item(context: RequestContext, request: ErasureRequest) -> ErasureReport:
    texts = await _texts(context, request)
    roots = targets.alone(request.what, request.id)
    if texts is None:
        return await _erase_rest(context, request, roots)
    if request.apply:
        await _close(context, _root_key(context, request))
    erased = await targets.whole(context, roots)
    going = await targets.all_events(context, erased)
    counts = await targets.held(context, erased) + Counter(Event=len(going))
    lines = await removal.remove(context, request.digests, erased.episodes, apply=request.apply)
    ids = targets.MentionedIds(erased.mentioned, request.id, going)
    named = await targets.remove(context, ids, request.on_progress, apply=request.apply)
    done = _report(request, counts).model_copy(update={"unmentioned": named, "digest_lines": lines})
    if not request.apply:
        return done
    await _remove(context, erased, request.on_progress, roots)
    late, left = await _look_again(context, request, erased, replace(ids, events=frozenset()))
    found = await targets.elsewhere(context, texts, request.on_progress)
    return done.model_copy(update={"unmentioned": named + late, "left": left, "elsewhere": found})


async def _erase_rest(
    context: RequestContext, request: ErasureRequest, roots: ErasureSet
) -> ErasureReport:
    """Erase what remains of an item that was erased before."""
    ids = targets.MentionedIds(roots.mentioned, request.id)
    late, left = 0, (await targets.held(context, roots)).total()
    if not request.apply:
        left += await targets.remove(context, ids, request.on_progress, apply=False)
    else:
        if left:
            await _remove(context, roots, request.on_progress, roots)
        late, left = await _look_again(context, request, roots, ids)
    report = _report(request, Counter(), repeated=True, left=left)
    return report.model_copy(update={"unmentioned": late})


async def _look_again(
    context: RequestContext, request: ErasureRequest, erased: ErasureSet, ids: targets.MentionedIds
) -> tuple[int, int]:
    """Redact ids mentioned since; return the number redacted and the number remaining.

    A transaction that read the item before its erasure may still mention it. So this waits for
    open transactions; later ones cannot read the item.
    """
    await _wait(context)
    late = left = await targets.remove(context, ids, request.on_progress, apply=True)
    if late:
        left = await targets.remove(context, ids, request.on_progress, apply=False)
    left += (await targets.held(context, erased)).total() + len(
        await targets.all_events(context, erased)
    )
    return late, left


async def _part(
    context: RequestContext, request: ErasureRequest, scope: str | None
) -> ErasureReport:
    """Erase a scope, or the whole tenant if `scope` is None."""
    tenant = context.tenant
    key = rules.tenant_key(tenant) if scope is None else rules.scope_key(tenant, scope)
    counts = await targets.census(context, scope)
    if not counts:
        if not await _refused(context, key):
            raise NotFoundError(f"No data in {request.what} {request.id!r}.")
        return _report(request, counts, repeated=True, left=0)
    if not request.apply:
        return _report(request, counts)
    await _close(context, key)
    lines = 0
    whole = ErasureSet() if scope is None else await targets.some_of_scope(context, scope, ALL)
    ids = targets.MentionedIds(whole.mentioned, scope=scope)
    named = await targets.remove(context, ids, request.on_progress, apply=True)
    while scope is not None:
        some = await targets.some_of_scope(context, scope, ITEMS)
        if not some:
            break
        lines += await removal.remove(context, request.digests, some.episodes, apply=True)
        await _remove(context, some, request.on_progress, ErasureSet())
    await removal.events_of_scope(context, scope, request.on_progress)
    await removal.sweep(context, scope, request.on_progress)
    await _wait(context)
    named += await targets.remove(context, ids, request.on_progress, apply=True)
    left = (await targets.census(context, scope)).total()
    done = _report(request, counts, left=left)
    return done.model_copy(update={"unmentioned": named, "digest_lines": lines})


async def _remove(
    context: RequestContext, erased: ErasureSet, on_progress: OnProgress, roots: ErasureSet
) -> None:
    """Erase beliefs, then memories, then episodes, so that the requested node comes last.

    Events of the requested node get tombstones. Nodes derived from it may be created again from
    other sources, because consolidated beliefs have ids derived from their text.
    """
    for some in drafts.batches(erased.beliefs, ITEMS):
        part = ErasureSet(beliefs=tuple(some))
        await removal.items(context, part, on_progress, refused=bool(roots.beliefs))
    for some in drafts.batches(erased.memories, ITEMS):
        part = ErasureSet(memories=tuple(some))
        await removal.items(context, part, on_progress, refused=bool(roots.memories))
    if erased.episodes:
        part = ErasureSet(episodes=erased.episodes)
        await removal.episodes(context, part, on_progress, refused=bool(roots.episodes))


async def _texts(context: RequestContext, request: ErasureRequest) -> list[str] | None:
    """Return the texts of an item; None if it was erased."""
    rows = await context.fetch(FOUND, label=LABELS[request.what], id=request.id)
    if not rows:
        former = rules.former_key(context.tenant, request.id)
        if await _refused(context, _root_key(context, request), former):
            return None
        raise NotFoundError(f"No {request.what} {request.id!r}.")
    [row] = rows
    if row["scope"] != context.scope:
        raise ForeignScopeError(
            f"{LABELS[request.what]} {request.id!r} belongs to scope {row['scope']!r}."
        )
    return list(row["texts"])


async def _refused(context: RequestContext, *keys: str) -> bool:
    owner = identity.tenant_key(context.tenant)
    [found] = await context.fetch(REFUSED, tenant=owner, keys=keys)
    return bool(found["keys"])


def _root_key(context: RequestContext, request: ErasureRequest) -> str:
    return rules.key(context.tenant, LABELS[request.what], request.id, context.scope)


async def _close(context: RequestContext, key: str) -> None:
    """Write a tombstone, and wait for the writes that may not have seen it."""

    async def work(tx: Tx) -> None:
        await removal.refuse(tx, context, [key])

    await context.write(work)
    await context.services.clock.sleep(guard.TRUST_S)
    await _wait(context)


async def _wait(context: RequestContext) -> None:
    """Wait for the open transactions, at most as long as one may take."""
    began = await context.read(_running)
    waited = 0.0
    while began and waited <= context.services.settings.transaction_timeout_s:
        await context.services.clock.sleep(PAUSE_S)
        waited += PAUSE_S
        began &= await context.read(_running)


async def _running(tx: Tx) -> set[str]:
    return set(await tx.fetch(RUNNING))


def _report(
    request: ErasureRequest,
    counts: Counter[str],
    *,
    repeated: bool = False,
    left: int | None = None,
) -> ErasureReport:
    return ErasureReport(
        what=request.what,
        id=request.id,
        applied=request.apply,
        repeated=repeated,
        counts=dict(sorted(counts.items())),
        left=left,
    )
