"""Erase items, scopes and tenants, or report what would be erased."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphmem import catalog
from graphmem.errors import ForeignScopeError, NotFoundError
from graphmem.model import ErasureReport, ErasureTarget
from graphmem.operations.erasing import guard, removing, targets
from graphmem.operations.erasing.targets import ErasureSet
from graphmem.ports import OnPart, RequestContext, Tx
from graphmem.rules import erasure, identity

ITEMS = 100
"""Memories, or beliefs, whose events are erased together."""
ALL = 10_000_000
"""Maximum number of memories, beliefs or episodes of a scope whose ids are searched elsewhere."""
PAUSE_S = 0.05

FOUND = catalog.query("erase/target", dict)
REFUSED = catalog.query("erase/find_tombstones", dict)
RUNNING = catalog.query("schema/running", lambda row: row["id"])
LABELS = {
    ErasureTarget.MEMORY: "Memory",
    ErasureTarget.BELIEF: "Belief",
    ErasureTarget.EPISODE: "Episode",
}


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """Arguments of an erasure."""

    what: ErasureTarget
    id: str
    apply: bool
    on_part: OnPart
    digests: Sequence[Path] = ()
    """Digest files that may contain lines about an episode."""


async def forget(to: RequestContext, request: ErasureRequest) -> ErasureReport:
    """Erase data, or report what would be erased.

    The tombstone is written first, so that concurrent writes are refused. The requested node is
    erased last, so that an interrupted run can find the rest again.

    Raises:
        NotFoundError: nothing visible has this id.
        ForeignScopeError: the item, scope or tenant is not the handle's own.
    """
    if request.what in LABELS:
        return await _item(to, request)
    return await _part(to, request)


async def _item(to: RequestContext, request: ErasureRequest) -> ErasureReport:
    texts = await _texts(to, request)
    roots = targets.alone(request.what, request.id)
    if texts is None:
        return await _erase_rest(to, request, roots)
    if request.apply:
        await _close(to, _root_key(to, request))
    erased = await targets.whole(to, roots)
    going = await targets.all_events(to, erased)
    counts = await targets.held(to, erased) + Counter(Event=len(going))
    lines = await removing.remove(to, request.digests, erased.episodes, apply=request.apply)
    ids = targets.MentionedIds(erased.mentioned, request.id, going)
    named = await targets.remove(to, ids, request.on_part, apply=request.apply)
    done = _report(request, counts).model_copy(update={"unmentioned": named, "digest_lines": lines})
    if not request.apply:
        return done
    await _remove(to, erased, request.on_part, roots)
    late, left = await _look_again(to, request, erased, replace(ids, events=frozenset()))
    found = await targets.elsewhere(to, texts, request.on_part)
    return done.model_copy(update={"unmentioned": named + late, "left": left, "elsewhere": found})


async def _erase_rest(
    to: RequestContext, request: ErasureRequest, roots: ErasureSet
) -> ErasureReport:
    """Erase what remains of an item that was erased before."""
    ids = targets.MentionedIds(roots.mentioned, request.id)
    late, left = 0, (await targets.held(to, roots)).total()
    if not request.apply:
        left += await targets.remove(to, ids, request.on_part, apply=False)
    else:
        if left:
            await _remove(to, roots, request.on_part, roots)
        late, left = await _look_again(to, request, roots, ids)
    report = _report(request, Counter(), repeated=True, left=left)
    return report.model_copy(update={"unmentioned": late})


async def _look_again(
    to: RequestContext, request: ErasureRequest, erased: ErasureSet, ids: targets.MentionedIds
) -> tuple[int, int]:
    """Redact ids mentioned since; return the number redacted and the number remaining.

    A transaction that read the item before its erasure may still mention it. So this waits for
    open transactions; later ones cannot read the item.
    """
    await _wait(to)
    late = left = await targets.remove(to, ids, request.on_part, apply=True)
    if late:
        left = await targets.remove(to, ids, request.on_part, apply=False)
    left += (await targets.held(to, erased)).total() + len(await targets.all_events(to, erased))
    return late, left


async def _part(to: RequestContext, request: ErasureRequest) -> ErasureReport:
    scope = request.id if request.what is ErasureTarget.SCOPE else None
    tenant = to.wall.tenant
    if request.id != (tenant if scope is None else to.wall.scope):
        raise ForeignScopeError(
            f"A {request.what} must be erased by a handle on it.",
            hint=f"Open one: `.{request.what}(…)`.",
        )
    key = erasure.tenant_key(tenant) if scope is None else erasure.scope_key(tenant, scope)
    counts = await targets.census(to, scope)
    if not counts:
        if not await _refused(to, key):
            raise NotFoundError(f"No data in {request.what} {request.id!r}.")
        return _report(request, counts, repeated=True, left=0)
    if not request.apply:
        return _report(request, counts)
    await _close(to, key)
    lines = 0
    whole = ErasureSet() if scope is None else await targets.some_of_scope(to, scope, ALL)
    ids = targets.MentionedIds(whole.mentioned, scope=scope)
    named = await targets.remove(to, ids, request.on_part, apply=True)
    while scope is not None:
        some = await targets.some_of_scope(to, scope, ITEMS)
        if not some:
            break
        lines += await removing.remove(to, request.digests, some.episodes, apply=True)
        await _remove(to, some, request.on_part, ErasureSet())
    await removing.events_of_scope(to, scope, request.on_part)
    await removing.sweep(to, scope, request.on_part)
    await _wait(to)
    named += await targets.remove(to, ids, request.on_part, apply=True)
    left = (await targets.census(to, scope)).total()
    done = _report(request, counts, left=left)
    return done.model_copy(update={"unmentioned": named, "digest_lines": lines})


async def _remove(
    to: RequestContext, erased: ErasureSet, on_part: OnPart, roots: ErasureSet
) -> None:
    """Erase beliefs, then memories, then episodes, so that the requested node comes last.

    Events of the requested node get tombstones. Nodes derived from it may be created again from
    other sources, because consolidated beliefs have ids derived from their text.
    """
    for some in targets.pages(erased.beliefs, ITEMS):
        part = ErasureSet(beliefs=tuple(some))
        await removing.items(to, part, on_part, refused=bool(roots.beliefs))
    for some in targets.pages(erased.memories, ITEMS):
        part = ErasureSet(memories=tuple(some))
        await removing.items(to, part, on_part, refused=bool(roots.memories))
    if erased.episodes:
        part = ErasureSet(episodes=erased.episodes)
        await removing.episodes(to, part, on_part, refused=bool(roots.episodes))


async def _texts(to: RequestContext, request: ErasureRequest) -> list[str] | None:
    """Return the texts of an item; None if it was erased."""
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            FOUND,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            label=LABELS[request.what],
            id=request.id,
        )
    )
    if not rows:
        former = erasure.former_key(to.wall.tenant, request.id)
        if await _refused(to, _root_key(to, request), former):
            return None
        raise NotFoundError(f"No {request.what} {request.id!r}.")
    [row] = rows
    if row["scope"] != to.wall.scope:
        raise ForeignScopeError(
            f"{LABELS[request.what]} {request.id!r} belongs to scope {row['scope']!r}."
        )
    return list(row["texts"])


async def _refused(to: RequestContext, *keys: str) -> bool:
    owner = identity.tenant_key(to.wall.tenant)
    [found] = await to.world.graph.read(lambda tx: tx.fetch(REFUSED, tenant=owner, keys=keys))
    return bool(found["keys"])


def _root_key(to: RequestContext, request: ErasureRequest) -> str:
    return erasure.key(to.wall.tenant, LABELS[request.what], request.id, to.wall.scope)


async def _close(to: RequestContext, key: str) -> None:
    """Write a tombstone, and wait for the writes that may not have seen it."""

    async def work(tx: Tx) -> None:
        await removing.refuse(tx, to, [key])

    await to.world.graph.write(work)
    await to.world.clock.sleep(guard.TRUST_S)
    await _wait(to)


async def _wait(to: RequestContext) -> None:
    """Wait for the open transactions, at most as long as one may take."""
    began = await to.world.graph.read(_running)
    waited = 0.0
    while began and waited <= to.world.settings.transaction_timeout_s:
        await to.world.clock.sleep(PAUSE_S)
        waited += PAUSE_S
        began &= await to.world.graph.read(_running)


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
