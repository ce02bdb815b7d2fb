"""Supersede, deprecate and restore memories."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from graphmem import stored
from graphmem.errors import (
    ContentRefusedError,
    ForkedChainError,
    RejectedError,
    SelfSupersessionError,
)
from graphmem.graph import catalog
from graphmem.model import (
    CommitOutcome,
    EventSource,
    EventType,
    NewMemory,
    Outcome,
    Status,
    Supersession,
)
from graphmem.model.terms import Embedding
from graphmem.ports import RequestContext, Tx
from graphmem.rules import drafts, formulas, identity, read_options, rejections
from graphmem.rules.drafts import TextDraft
from graphmem.rules.hygiene import Rule

FIND_EXISTING = catalog.query("lineage/find_existing", dict)
MARK = catalog.query("lineage/mark", lambda row: row["written"])
COMMIT_FIND_EXISTING = catalog.query("commit/find_existing", dict)
COMMIT_WRITE = catalog.query("commit/write", dict)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
SUPERSEDE = catalog.query("lineage/supersede", lambda row: row["written"])


async def mark(context: RequestContext, memory_id: str, kind: EventType, by: EventSource) -> str:
    """Deprecate or restore a memory and return the event's id; the note of `by` is the reason."""
    now = context.services.clock.now()
    event_id = context.named(by).event_id or identity.event_id(now)
    payload = {"reason": by.note} if by.note else {}
    at, asked = drafts.event_time(by.at, now), (memory_id, by.note, by.at, by.actor)
    event = drafts.event(event_id, context.scope, kind, at, (context.scope, kind, *asked), payload)
    row = {**event, **drafts.origin_fields(by), "about": memory_id, "label": "Memory"}

    async def work(tx: Tx) -> None:
        found = await _locked(tx, context, memory_id, event_id)
        event = found["event"]
        if event is None:
            if kind is EventType.RESTORE and found["memory"]["status"] == Status.REJECTED:
                raise RejectedError(f"A person rejected memory {memory_id!r}.")
            await tx.fetch(MARK, events=[row])
        else:
            stored.check_same_request(event, event_id, row["request_hash"])

    await context.write(work)
    return event_id


async def supersede(
    context: RequestContext,
    older_id: str,
    wish: NewMemory,
    reason: str | None,
    rules: Sequence[Rule],
    *,
    fork: bool = False,
) -> tuple[Supersession, CommitOutcome | None]:
    """Supersede the head of a memory's chain by a text; return both ids, and the text's outcome.

    The outcome is None if the event had been recorded before, so that nothing was committed.

    With `fork` the memory itself is superseded, also if it was superseded before. The text is
    stored verbatim: only a memory with exactly this content is reused, and it becomes current again
    if it was hidden. Everything is written in one transaction.
    """
    now = context.services.clock.now()
    draft = drafts.draft(wish, context.tenant_scope, now, rules)
    # The caller's id is that of the SUPERSEDE event; the new memory's event has its own.
    draft = replace(draft, event_id=identity.event_id(now))
    if draft.reasons:
        raise ContentRefusedError(f"The text was refused: {', '.join(draft.reasons)}.")
    [embedding] = await context.services.embed_documents([identity.normalise(wish.content)])
    forked = ("fork",) if fork else ()
    asked = drafts.request_hash(draft.request_hash, older_id, reason, wish.actor, *forked)
    event_id = context.named(wish).event_id or identity.event_id(now)

    async def work(tx: Tx) -> tuple[Supersession, CommitOutcome | None]:
        found = await _locked(tx, context, older_id, event_id)
        if (event := found["event"]) is not None:
            stored.check_same_request(event, event_id, asked)
            return Supersession(**json.loads(event["payload"])), None
        older = found["memory"] if fork else _head(found)
        if older["content_hash"] == draft.content_hash:
            raise SelfSupersessionError
        own = _after(draft, older["corrected_at"])
        outcome = await _keep(tx, context, own, embedding)
        newer_id = own.memory_id
        done = Supersession(
            newer_id=newer_id,
            older_id=older["id"],
            event_id=event_id,
            reason=reason,
            requested_id=None if older["id"] == older_id else older_id,
        )
        row = drafts.event_row(
            own, context.tenant_scope, EventType.SUPERSEDE, done.model_dump()
        ) | {"id": event_id, "request_hash": asked}
        await tx.fetch(SUPERSEDE, event=row, newer_id=newer_id, older_id=older["id"])
        return done, outcome

    return await context.write(work)


async def replace_with(
    tx: Tx,
    context: RequestContext,
    proposal_id: str,
    ends: Mapping[str, str],
    given: EventSource,
    now: datetime,
) -> str | None:
    """Let an existing memory supersede the head of another's chain, and return the event's id.

    Return None if it supersedes the other memory already. The transaction must hold the lock.

    Args:
        proposal_id: id of the accepted proposal, from which that of the event is derived.
        ends: `newer_id` and `older_id`.
    """
    event_id = "supersede_" + identity.digest(proposal_id)[:32]
    newer = (await _locked(tx, context, ends["newer_id"], event_id))["memory"]
    older = _head(await _locked(tx, context, ends["older_id"], event_id))
    if older["id"] == newer["id"]:
        return None
    if newer["status"] == Status.REJECTED:
        raise RejectedError(f"A person rejected memory {newer['id']!r}.")
    at = drafts.event_time(given.at, now)
    if given.at is None and older["corrected_at"] is not None:
        at = max(at, read_options.next_instant(older["corrected_at"]))
    done = {"newer_id": newer["id"], "older_id": older["id"], "event_id": event_id}
    scope, kind = context.scope, EventType.SUPERSEDE
    payload = done | {"reason": given.note, "proposal_id": proposal_id}
    event = drafts.event(event_id, scope, kind, at, (scope, kind, *done.values()), payload)
    row = {**event, **drafts.origin_fields(given), "content_hash": newer["content_hash"]}
    await tx.fetch(SUPERSEDE, event=row, newer_id=newer["id"], older_id=older["id"])
    return event_id


async def _locked(
    tx: Tx, context: RequestContext, memory_id: str, event_id: str
) -> Mapping[str, Any]:
    """Return the event with an id and a memory with its heads, under the tenant lock."""
    await stored.lock(tx)
    [found] = await tx.fetch(FIND_EXISTING, event_id=event_id, memory_id=memory_id)
    stored.own(found["memory"], "Memory", memory_id, context.scope)
    return found


def _after(draft: TextDraft, corrected_at: datetime | None) -> TextDraft:
    """Return a draft without a given time with a time after an earlier correction.

    Of two concurrent corrections, the second may have been drafted first.
    """
    if draft.memory.at is not None or corrected_at is None or draft.occurred_at > corrected_at:
        return draft
    return replace(draft, occurred_at=read_options.next_instant(corrected_at))


def _head(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the only head of the chain of a memory, or the memory if it is current."""
    memory, heads = found["memory"], found["heads"]
    if len(heads) > 1:
        raise ForkedChainError(
            f"The chain of memory {memory['id']!r} has {len(heads)} heads.",
            hint=f"Give one of {', '.join(head['id'] for head in heads[:5])}, or `fork=True`.",
        )
    head: Mapping[str, Any] = heads[0] if heads else memory
    return head


async def _keep(
    tx: Tx, context: RequestContext, draft: TextDraft, embedding: Embedding
) -> CommitOutcome:
    """Create the memory of a text in the writer's own scope, or add an event to an existing one."""
    own = {
        "event_id": draft.event_id,
        "exact_ids": [draft.memory_id],
        "value_key": drafts.value_key(draft, context.tenant_scope),
        "embedding": None,
    }
    found = await tx.fetch(COMMIT_FIND_EXISTING, rows=[own], candidates=1, min_score=1.0)
    if found and found[0]["rejection"]:
        raise rejections.error("The text", found[0]["rejection"])
    exact = found[0]["exact"] if found else None
    tags = sorted({*(exact["tags"] if exact else ()), *draft.memory.tags})
    kind = EventType.REINFORCE_EXACT if exact else EventType.ADD
    result = Outcome.EXACT_DUPE if exact else Outcome.INSERTED_NEW
    became = {"outcome": result, "memory_id": draft.memory_id}
    event = drafts.event_row(draft, context.tenant_scope, kind, became) | {
        "memory_id": draft.memory_id,
        "memory": None if exact else drafts.memory_row(draft, context.tenant_scope, embedding),
        "episode_id": draft.memory.episode_id,
        "turn_id": draft.memory.turn_id,
        **drafts.facet_fields(draft, context.tenant_scope, tags),
    }
    await tx.fetch(COMMIT_WRITE, events=[event])
    if exact:
        again = formulas.retrace_params({draft.memory_id: [draft.event_id]})
        await tx.fetch(RETRACE, **again)
    settings = context.services.settings
    return CommitOutcome(
        outcome=result,
        event_id=draft.event_id,
        memory_id=draft.memory_id,
        matched_memory_id=draft.memory_id if exact else None,
        content_hash=draft.content_hash,
        thresholds={
            "near": settings.near_duplicate_threshold,
            "update": settings.update_threshold,
        },
        occurred_at=draft.occurred_at,
        source=draft.memory.source,
        tags=draft.memory.tags,
        artifact_ref=draft.memory.artifact_ref,
    )
