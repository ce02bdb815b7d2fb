"""Put beliefs in the place of others: revise one, split one, merge several."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from graphmem import catalog
from graphmem.errors import (
    ForeignScopeError,
    NotFoundError,
    SelfSupersessionError,
    SupersededBeliefError,
)
from graphmem.model import EventSource, EventType, Hypothesis, ReplacementReceipt, TenantScope
from graphmem.operations.evidence import writing
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, identity
from graphmem.rules.claims import EvidenceDraft

REPLACE_LOCK = catalog.query("commit/lock", catalog.ignored)
REPLACE = catalog.query("belief/replace", lambda row: row["written"])


async def replace(
    to: RequestContext,
    kind: EventType,
    older_ids: Sequence[str],
    thoughts: Sequence[Hypothesis],
    given: EventSource,
) -> ReplacementReceipt:
    """Supersede beliefs by others, which are made when they are new; one transaction.

    The evidence of what is replaced stays with it. A belief that was superseded and takes the
    place of another becomes current again, so chains in force have no cycle.

    Raises:
        NotFoundError: nothing visible has one of the ids.
        ForeignScopeError: a belief belongs to another scope.
        SupersededBeliefError: one of them has been superseded already.
        SelfSupersessionError: a belief would take its own place.
        EventConflictError: the id was used for something else.
        InvalidInputError: it lies in the future.
    """
    now = to.world.clock.now()
    event_id = given.id or identity.event_id(now)
    at = drafts.happened(given.at, now)
    stated: dict[str, EvidenceDraft] = {}
    for thought in thoughts:
        draft = claims.hypothesised(thought, to.wall.scope, now)
        stated.setdefault(draft.claim.id, _under(event_id, draft))
    newer, newer_ids = list(stated.values()), list(stated)
    older_ids = list(dict.fromkeys(older_ids))
    if set(newer_ids) & set(older_ids):
        raise SelfSupersessionError(
            "A belief cannot take its own place.",
            hint="Give a wording that differs from what it replaces.",
        )
    newer, vectors = await writing.worded(to, newer, embed=True)
    done = ReplacementReceipt(event_id=event_id, newer_ids=tuple(newer_ids), older_ids=tuple(older_ids))
    row: dict[str, Any] = {
        "id": event_id,
        "scope": to.wall.scope,
        "type": kind,
        "occurred_at": at,
        "request_hash": drafts.request_hash(
            kind,
            *older_ids,
            "by",
            *(draft.request_hash for draft in newer),
            *claims.stated(given),
        ),
        **claims.origin(given),
        "payload": json.dumps(
            done.model_dump(include={"newer_ids", "older_ids"})
            | ({"note": given.note} if given.note else {}),
            ensure_ascii=False,
        ),
    }

    async def work(tx: Tx) -> tuple[ReplacementReceipt, Sequence[str]]:
        await tx.fetch(REPLACE_LOCK, tenant=to.wall.tenant)
        await tx.fetch(writing.LOCK_NAMES, tenant=to.wall.tenant, ids=[event_id])
        found = await writing.look(tx, to, [event_id], older_ids)
        for event in found["events"]:
            writing.same(event, row["request_hash"])
            return done.model_copy(update={"repeated": True}), ()
        _replaceable(found["beliefs"], older_ids, to.wall)
        written = await writing.write(tx, to, newer, vectors, ())
        await tx.fetch(REPLACE, tenant=to.wall.tenant, event=row, newer=newer_ids, older=older_ids)
        return done, written.unembedded

    replaced, unembedded = await to.world.graph.write(work)
    if unembedded:
        await writing.embed_statements(to, unembedded)
    return replaced


def _under(event_id: str, draft: EvidenceDraft) -> EvidenceDraft:
    """Return a hypothesis as part of the event that replaces, under an id made from it."""
    return dataclasses.replace(
        draft, event_id="believe_" + identity.digest(event_id, draft.claim.id)[:32]
    )


def _replaceable(rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], wall: TenantScope) -> None:
    there = {row["id"]: row for row in rows}
    for belief_id in wanted:
        if belief_id not in there:
            raise NotFoundError(f"No belief {belief_id!r}.")
        row = there[belief_id]
        if row["scope"] != wall.scope:
            raise ForeignScopeError(f"Belief {belief_id!r} belongs to scope {row['scope']!r}.")
        if row["status"] == "superseded":
            raise SupersededBeliefError(f"Belief {belief_id!r} was superseded already.")
