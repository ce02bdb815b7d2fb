"""Forget something: say what goes, or let it go and look again."""

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
"""Memories, or beliefs, whose events go together."""
ALL = 10_000_000
"""Memories, beliefs or episodes of a scope, whose ids are looked for elsewhere."""
PAUSE_S = 0.05

FOUND = catalog.query("erase/found", dict)
REFUSED = catalog.query("erase/refused", dict)
RUNNING = catalog.query("schema/running", lambda row: row["id"])
LABELS = {
    ErasureTarget.MEMORY: "Memory",
    ErasureTarget.BELIEF: "Belief",
    ErasureTarget.EPISODE: "Episode",
}


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """What is to be forgotten, and how."""

    what: ErasureTarget
    id: str
    apply: bool
    on_part: OnPart
    digests: Sequence[Path] = ()
    """Files that may tell of an episode."""


async def forget(to: RequestContext, wish: ErasureRequest) -> ErasureReport:
    """Say what would be erased, or erase it.

    Its tombstone is written first: what comes in between is refused. What was asked for goes last,
    so that an interrupted run finds the rest again from it.

    Raises:
        NotFoundError: nothing visible has this id.
        ForeignScopeError: it belongs to another scope, or is another scope or tenant.
    """
    if wish.what in LABELS:
        return await _item(to, wish)
    return await _part(to, wish)


async def _item(to: RequestContext, wish: ErasureRequest) -> ErasureReport:
    texts = await _texts(to, wish)
    roots = targets.alone(wish.what, wish.id)
    if texts is None:
        return await _again(to, wish, roots)
    if wish.apply:
        await _close(to, _root_key(to, wish))
    doomed = await targets.whole(to, roots)
    going = await targets.all_events(to, doomed)
    counts = await targets.held(to, doomed) + Counter(Event=len(going))
    lines = await removing.remove(to, wish.digests, doomed.episodes, apply=wish.apply)
    ids = targets.MentionedIds(doomed.mentioned, wish.id, going)
    named = await targets.remove(to, ids, wish.on_part, apply=wish.apply)
    done = _report(wish, counts).model_copy(update={"unmentioned": named, "digest_lines": lines})
    if not wish.apply:
        return done
    await _remove(to, doomed, wish.on_part, roots)
    late, left = await _look_again(to, wish, doomed, replace(ids, events=frozenset()))
    found = await targets.elsewhere(to, texts, wish.on_part)
    return done.model_copy(update={"unmentioned": named + late, "left": left, "elsewhere": found})


async def _again(to: RequestContext, wish: ErasureRequest, roots: ErasureSet) -> ErasureReport:
    """Look for what is left of something that was erased before, and erase that."""
    ids = targets.MentionedIds(roots.mentioned, wish.id)
    late, left = 0, (await targets.held(to, roots)).total()
    if not wish.apply:
        left += await targets.remove(to, ids, wish.on_part, apply=False)
    else:
        if left:
            await _remove(to, roots, wish.on_part, roots)
        late, left = await _look_again(to, wish, roots, ids)
    report = _report(wish, Counter(), repeated=True, left=left)
    return report.model_copy(update={"unmentioned": late})


async def _look_again(
    to: RequestContext, wish: ErasureRequest, doomed: ErasureSet, ids: targets.MentionedIds
) -> tuple[int, int]:
    """Take out what was named meanwhile; return how much that was, and how much is left.

    Whoever read something before it went may still write that he saw it. So this waits for what
    is under way; what begins later finds nothing to name.
    """
    await _wait(to)
    late = left = await targets.remove(to, ids, wish.on_part, apply=True)
    if late:
        left = await targets.remove(to, ids, wish.on_part, apply=False)
    left += (await targets.held(to, doomed)).total() + len(await targets.all_events(to, doomed))
    return late, left


async def _part(to: RequestContext, wish: ErasureRequest) -> ErasureReport:
    scope = wish.id if wish.what is ErasureTarget.SCOPE else None
    tenant = to.wall.tenant
    if wish.id != (tenant if scope is None else to.wall.scope):
        raise ForeignScopeError(
            f"A {wish.what} is forgotten by a handle on it.", hint=f"Open one: `.{wish.what}(…)`."
        )
    key = erasure.tenant_key(tenant) if scope is None else erasure.scope_key(tenant, scope)
    counts = await targets.census(to, scope)
    if not counts:
        if not await _refused(to, key):
            raise NotFoundError(f"Nothing is kept in {wish.what} {wish.id!r}.")
        return _report(wish, counts, repeated=True, left=0)
    if not wish.apply:
        return _report(wish, counts)
    await _close(to, key)
    lines = 0
    whole = ErasureSet() if scope is None else await targets.some_of_scope(to, scope, ALL)
    ids = targets.MentionedIds(whole.mentioned, scope=scope)
    named = await targets.remove(to, ids, wish.on_part, apply=True)
    while scope is not None:
        some = await targets.some_of_scope(to, scope, ITEMS)
        if not some:
            break
        lines += await removing.remove(to, wish.digests, some.episodes, apply=True)
        await _remove(to, some, wish.on_part, ErasureSet())
    await removing.events_of_scope(to, scope, wish.on_part)
    await removing.sweep(to, scope, wish.on_part)
    await _wait(to)
    named += await targets.remove(to, ids, wish.on_part, apply=True)
    left = (await targets.census(to, scope)).total()
    done = _report(wish, counts, left=left)
    return done.model_copy(update={"unmentioned": named, "digest_lines": lines})


async def _remove(
    to: RequestContext, doomed: ErasureSet, on_part: OnPart, roots: ErasureSet
) -> None:
    """Erase beliefs, then memories, then episodes: what is asked for comes last.

    Events of what is asked for get tombstones. What only came from it may come again from
    something else: what is consolidated has ids made of the words it rests on.
    """
    for some in targets.pages(doomed.beliefs, ITEMS):
        part = ErasureSet(beliefs=tuple(some))
        await removing.items(to, part, on_part, refused=bool(roots.beliefs))
    for some in targets.pages(doomed.memories, ITEMS):
        part = ErasureSet(memories=tuple(some))
        await removing.items(to, part, on_part, refused=bool(roots.memories))
    if doomed.episodes:
        part = ErasureSet(episodes=doomed.episodes)
        await removing.episodes(to, part, on_part, refused=bool(roots.episodes))


async def _texts(to: RequestContext, wish: ErasureRequest) -> list[str] | None:
    """Return what something says; None when it was erased."""
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            FOUND,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            label=LABELS[wish.what],
            id=wish.id,
        )
    )
    if not rows:
        former = erasure.former_key(to.wall.tenant, wish.id)
        if await _refused(to, _root_key(to, wish), former):
            return None
        raise NotFoundError(f"No {wish.what} {wish.id!r}.")
    [row] = rows
    if row["scope"] != to.wall.scope:
        raise ForeignScopeError(f"{LABELS[wish.what]} {wish.id!r} is of scope {row['scope']!r}.")
    return list(row["texts"])


async def _refused(to: RequestContext, *keys: str) -> bool:
    owner = identity.tenant_key(to.wall.tenant)
    [found] = await to.world.graph.read(lambda tx: tx.fetch(REFUSED, tenant=owner, keys=keys))
    return bool(found["keys"])


def _root_key(to: RequestContext, wish: ErasureRequest) -> str:
    return erasure.key(to.wall.tenant, LABELS[wish.what], wish.id, to.wall.scope)


async def _close(to: RequestContext, key: str) -> None:
    """Refuse something from now on, and wait for the writes that may not have seen it."""

    async def work(tx: Tx) -> None:
        await removing.refuse(tx, to, [key])

    await to.world.graph.write(work)
    await to.world.clock.sleep(guard.TRUST_S)
    await _wait(to)


async def _wait(to: RequestContext) -> None:
    """Wait for the transactions that are under way, as long as one may take."""
    began = await to.world.graph.read(_running)
    waited = 0.0
    while began and waited <= to.world.settings.transaction_timeout_s:
        await to.world.clock.sleep(PAUSE_S)
        waited += PAUSE_S
        began &= await to.world.graph.read(_running)


async def _running(tx: Tx) -> set[str]:
    return set(await tx.fetch(RUNNING))


def _report(
    wish: ErasureRequest, counts: Counter[str], *, repeated: bool = False, left: int | None = None
) -> ErasureReport:
    return ErasureReport(
        what=wish.what,
        id=wish.id,
        applied=wish.apply,
        repeated=repeated,
        counts=dict(sorted(counts.items())),
        left=left,
    )
