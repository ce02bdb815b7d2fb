"""Erase items, persons, scopes and tenants, or report what would be erased."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from graphmem.erasure import (
    ErasedKind,
    ErasureReport,
    ErasureTarget,
    ReopenReceipt,
    certificates,
    guard,
    removal,
    rules,
    targets,
    tombstones,
    wording,
)
from graphmem.erasure.targets import ErasureSet
from graphmem.errors import ForeignScopeError, NotFoundError, RefusedError
from graphmem.graph import catalog
from graphmem.integrity import sealing
from graphmem.model import GLOBAL_SCOPE, EventSource, EventType
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import claims, drafts, identity

ITEMS = 100
"""Memories, or beliefs, whose events are erased together."""
ALL = 10_000_000
"""Maximum number of memories, beliefs or episodes of a scope whose ids are searched elsewhere."""

FOUND = catalog.query("erase/target", dict)
REFUSED = catalog.query("erase/find_tombstones", dict)
RECORDED = catalog.query("erase/is_recorded", lambda row: bool(row["recorded"]))
LIFT = catalog.query("erase/lift_tombstone", lambda row: row["erased_at"])
REOPEN = catalog.query("erase/reopen", catalog.ignored)
LABELS: Mapping[str, str] = {
    ErasureTarget.MEMORY: "Memory",
    ErasureTarget.BELIEF: "Belief",
    ErasureTarget.EPISODE: "Episode",
    ErasureTarget.TURN: "Turn",
}


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """Arguments of an erasure."""

    what: ErasedKind
    id: str
    apply: bool
    on_progress: OnProgress
    digests: Sequence[Path] = ()
    """Digest files that may contain lines about an episode."""
    actor: str | None = None
    """Who asks for it."""
    reason: str | None = None
    mentions: bool = False
    """Whether memories, free statements and episodes that name the person are erased too."""


async def forget(context: RequestContext, request: ErasureRequest) -> ErasureReport:
    """Erase an item or a scope, or report what would be erased.

    The tombstone is written first, so that concurrent writes are refused. The requested node is
    erased last, so that an interrupted run can find the rest again.
    """
    if request.what in LABELS:
        done = await _item(context, request)
        return await certified(context, request, done, _root_key(context, request))
    if request.id != context.scope:
        raise ForeignScopeError(
            "A scope must be erased by a handle on it.", hint="Open one: `.scope(…)`."
        )
    done = await _part(context, request, request.id)
    return await certified(context, request, done, rules.scope_key(context.tenant, request.id))


async def erase_tenant(context: RequestContext, request: ErasureRequest) -> ErasureReport:
    """Erase the tenant of the context, or report what would be erased."""
    done = await _part(context, request, None)
    return await certified(context, request, done, rules.tenant_key(context.tenant))


async def certified(
    context: RequestContext, request: ErasureRequest, done: ErasureReport, key: str
) -> ErasureReport:
    """Record an applied erasure and add its certificate, not signed yet."""
    if not done.applied:
        return done
    stated = {"actor": request.actor, "reason": request.reason}
    return done.model_copy(
        update={"certificate": await certificates.certify(context, done, key, **stated)}
    )


async def _item(context: RequestContext, request: ErasureRequest) -> ErasureReport:
    row = await _found(context, request)
    if row is None:
        return await _erase_rest(context, request, targets.alone(request.what, request.id))
    roots = targets.alone(request.what, request.id, row["episode_id"])
    search = wording.sentences(row["texts"])
    closed = await close(context, _root_key(context, request)) if request.apply else None
    # Writers that have not seen the tombstone end meanwhile.
    found = await targets.worded(context, search, request.on_progress)
    done = await erase_set(context, request, roots, closed)
    found = targets.still_worded(search, found, done.redacted)
    again = {"Reply"} if row["is_given"] else {"Reply", "Episode"}
    left = [
        one
        for one in found
        if done.ids.isdisjoint({one.id, *one.episodes})
        and not (one.label in again and one.episodes.intersection(roots.rewritten))
    ]
    # Those that its reader can see come first, and the items before their events.
    left.sort(key=lambda one: (one.scope not in context.tenant_scope.scopes, one.label == "Event"))
    return done.report.model_copy(
        update={
            "elsewhere": tuple(one.remaining for one in left[: targets.SHOWN]),
            "mentions": len(left),
        }
    )


class ErasedSet(NamedTuple):
    """The nodes of an erasure or of its plan."""

    report: ErasureReport
    ids: frozenset[str]
    """Ids of the nodes."""
    redacted: targets.Redaction


async def erase_set(
    context: RequestContext, request: ErasureRequest, roots: ErasureSet, closed: float | None
) -> ErasedSet:
    """Erase nodes and all that is derived from them, and search again.

    Args:
        closed: when `close` wrote their tombstones; None if nothing is applied.
    """
    since = None if closed is None else await _settled(context, closed)
    erased = await targets.whole(context, roots)
    going = await targets.all_events(context, erased)
    counts = await targets.held(context, erased) + Counter(Event=len(going))
    changed = [*erased.episodes, *erased.rewritten]
    lines = await removal.remove(context, request.digests, changed, apply=request.apply)
    asked = frozenset((*roots.stated, *roots.episodes))
    ids = targets.MentionedIds(erased.mentioned, asked, going)
    named = await targets.remove(context, ids, request.on_progress, apply=request.apply)
    files = await targets.digest_files(context, None, changed, request.digests)
    done = report_of(request, counts).model_copy(
        update={
            "unmentioned": named.count,
            "digest_lines": lines,
            "digest_files": files,
            "rewritten": erased.rewritten,
        }
    )
    every = going.union(erased.stated, erased.episodes, erased.turns)
    if not request.apply:
        texts = await targets.texts(context, erased)
        return ErasedSet(done.model_copy(update={"texts": texts}), every, named)
    await _remove(context, erased, request.on_progress, roots)
    again = replace(ids, events=frozenset())
    late, left = await _look_again(context, request, erased, again, since)
    await sealing.seal_waiting(context)
    named += late
    report = done.model_copy(update={"unmentioned": named.count, "left": left})
    return ErasedSet(report, every, named)


async def _erase_rest(
    context: RequestContext, request: ErasureRequest, roots: ErasureSet
) -> ErasureReport:
    """Erase what remains of an item that was erased before."""
    ids = targets.MentionedIds(roots.mentioned, frozenset((request.id,)))
    late, left = targets.Redaction(), (await targets.held(context, roots)).total()
    if not request.apply:
        left += (await targets.remove(context, ids, request.on_progress, apply=False)).count
    else:
        if left:
            await _remove(context, roots, request.on_progress, roots)
        late, left = await _look_again(context, request, roots, ids, None)
        await sealing.seal_waiting(context)
    report = report_of(request, Counter(), repeated=True, left=left)
    return report.model_copy(update={"unmentioned": late.count})


async def _look_again(
    context: RequestContext,
    request: ErasureRequest,
    erased: ErasureSet,
    ids: targets.MentionedIds,
    since: datetime | None,
) -> tuple[targets.Redaction, int]:
    """Redact ids mentioned since a time; return the redaction and the number remaining.

    A transaction that read the item before its erasure may still mention it. So this waits for
    open transactions; later ones cannot read the item.
    """
    await sealing.settled(context)
    look = partial(targets.remove, context, ids, request.on_progress, since=since)
    late = await look(apply=True)
    left = (await look(apply=False)).count if late.count else 0
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
        if not await is_refused(context, key):
            raise NotFoundError(f"No data in {request.what} {request.id!r}.")
        return report_of(request, counts, repeated=True, left=0)
    files = await targets.digest_files(context, scope, None, request.digests)
    if not request.apply:
        return report_of(request, counts).model_copy(update={"digest_files": files})
    await _settled(context, await close(context, key))
    lines = 0
    whole = ErasureSet() if scope is None else await targets.some_of_scope(context, scope, ALL)
    ids = targets.MentionedIds(whole.mentioned, scope=scope)
    named = await targets.remove(context, ids, request.on_progress, apply=True)
    while scope is not None:
        some = await targets.some_of_scope(context, scope, ITEMS)
        if not some:
            break
        lines += await removal.remove(context, request.digests, some.episodes, apply=True)
        # The ids stay refused when the scope is reopened. Texts do not: they may be stated again.
        await removal.refuse_episodes(context, some.episodes)
        await _remove(context, some, request.on_progress, some)
    await removal.events_of_scope(context, scope, request.on_progress)
    await removal.sweep(context, scope, request.on_progress)
    await sealing.settled(context)
    named += await targets.remove(context, ids, request.on_progress, apply=True)
    if scope is not None:
        await sealing.seal_waiting(context)
    left = (await targets.census(context, scope)).total()
    done = report_of(request, counts, left=left)
    found = {"unmentioned": named.count, "digest_lines": lines, "digest_files": files}
    return done.model_copy(update=found)


async def reopen(context: RequestContext, scope: str, given: EventSource) -> ReopenReceipt:
    """Reopen a forgotten scope and record that it was.

    Ids of its episodes and events stay refused; the same texts may be stated again.
    """
    key = rules.scope_key(context.tenant, scope)
    if not await is_refused(context, key):
        raise NotFoundError(f"Scope {scope!r} was not forgotten.")
    # An import recognises a file from before the erasure by its record.
    owner = identity.tenant_key(context.tenant)
    [recorded] = await context.fetch(RECORDED, tenant=owner, key=key)
    if not recorded or await targets.census(context, scope):
        raise RefusedError(
            f"The erasure of scope {scope!r} has not finished.",
            hint="Run `forget` again: it resumes the erasure.",
        )
    return await _lift(context, key, scope, given)


async def reopen_person(context: RequestContext, subject: str, given: EventSource) -> ReopenReceipt:
    """Accept facts about an erased person again and record it in the global scope, by digest."""
    key = rules.key(context.tenant, rules.PERSON, claims.name_key(subject))
    return await _lift(context, key, GLOBAL_SCOPE, given)


async def _lift(context: RequestContext, key: str, scope: str, given: EventSource) -> ReopenReceipt:
    """Remove a tombstone and append a REOPEN event to a scope."""
    now, kind = context.services.clock.now(), EventType.REOPEN
    row = (kind, key), {"digest": key}
    event = claims.source_event(context.named(given), scope, kind, now, *row)

    async def work(tx: Tx) -> ReopenReceipt:
        lifted = await tx.fetch(LIFT, tenant=identity.tenant_key(context.tenant), key=key)
        if not lifted:
            raise NotFoundError("It was not erased under this name, or was reopened.")
        await tx.fetch(REOPEN, event=event)
        return ReopenReceipt(event_id=event["id"], scope=scope, forgotten_at=lifted[0])

    return await context.write(work)


async def _remove(
    context: RequestContext, erased: ErasureSet, on_progress: OnProgress, roots: ErasureSet
) -> None:
    """Erase beliefs, then memories, then episodes and turns, so that the requested node comes last.

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
    if erased.turns:
        part = ErasureSet(turns=erased.turns)
        await removal.turns(context, part, on_progress, refused=bool(roots.turns))


async def _found(context: RequestContext, request: ErasureRequest) -> dict[str, Any] | None:
    """Return the texts of an item; None if it was erased."""
    rows = await context.fetch(FOUND, label=LABELS[request.what], id=request.id)
    if not rows:
        if await is_refused(context, _root_key(context, request)):
            return None
        raise NotFoundError(f"No {request.what} {request.id!r}.")
    [row] = rows
    if row["scope"] != context.scope:
        raise ForeignScopeError(
            f"{LABELS[request.what]} {request.id!r} belongs to scope {row['scope']!r}."
        )
    return row


async def is_refused(context: RequestContext, key: str) -> bool:
    """Return whether a key has a tombstone."""
    owner = identity.tenant_key(context.tenant)
    [found] = await context.fetch(REFUSED, tenant=owner, keys=[key])
    return bool(found["keys"])


def _root_key(context: RequestContext, request: ErasureRequest) -> str:
    return rules.key(context.tenant, LABELS[request.what], request.id, context.scope)


async def close(context: RequestContext, *keys: str) -> float:
    """Write tombstones; return when, by `Clock.ticks`."""

    async def work(tx: Tx) -> None:
        await tombstones.refuse(tx, context, keys)

    await context.write(work)
    return context.services.clock.ticks()


async def _settled(context: RequestContext, closed: float) -> datetime:
    """Wait for the writes that may not have seen the tombstones written at `closed`.

    Returns:
        A server time for which every earlier write is visible.
    """
    left = guard.TRUST_S - (context.services.clock.ticks() - closed)
    if left > 0:
        await context.services.clock.sleep(left)
    return await sealing.settled(context)


def report_of(
    request: ErasureRequest,
    counts: Counter[str],
    *,
    repeated: bool = False,
    left: int | None = None,
) -> ErasureReport:
    """Return the report of a request with counts by label."""
    return ErasureReport(
        what=request.what,
        id=request.id,
        applied=request.apply,
        repeated=repeated,
        counts=dict(sorted(counts.items())),
        left=left,
    )
