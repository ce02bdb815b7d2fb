"""Put beliefs in the place of others: revise one, split one, merge several."""

from __future__ import annotations

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
from graphmem.model import EventType, Hypothesis, Replaced, Source, Wall
from graphmem.operations.evidence import writing
from graphmem.ports import Binding, Tx
from graphmem.rules import claims, drafts, identity

LOCK = catalog.query("commit/lock", catalog.ignored)
REPLACE = catalog.query("belief/replace", lambda row: row["written"])


async def replace(
    to: Binding,
    kind: EventType,
    older_ids: Sequence[str],
    thoughts: Sequence[Hypothesis],
    given: Source,
) -> Replaced:
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
    newer = [
        claims.hypothesised(_part(thought, given, event_id), to.wall.scope, now)
        for thought in thoughts
    ]
    newer_ids = list(dict.fromkeys(draft.claim.id for draft in newer))
    older_ids = list(dict.fromkeys(older_ids))
    if set(newer_ids) & set(older_ids):
        raise SelfSupersessionError(
            "A belief cannot take its own place.",
            hint="Give a wording that differs from what it replaces.",
        )
    newer, vectors = await writing.worded(to, newer, embed=True)
    done = Replaced(event_id=event_id, newer_ids=tuple(newer_ids), older_ids=tuple(older_ids))
    row: dict[str, Any] = {
        "id": event_id,
        "scope": to.wall.scope,
        "type": kind,
        "occurred_at": at,
        "request_hash": drafts.request_hash(
            kind,
            *older_ids,
            "by",
            *(part for d in newer for part in (d.claim.id, str(d.fields["confidence"]))),
            given.at,
            given.actor,
            given.note,
        ),
        "source": given.source,
        "actor": given.actor,
        "payload": json.dumps(
            done.model_dump(include={"newer_ids", "older_ids"})
            | ({"note": given.note} if given.note else {}),
            ensure_ascii=False,
        ),
    }

    async def work(tx: Tx) -> Replaced:
        await tx.fetch(LOCK, tenant=to.wall.tenant)
        found = await writing.look(tx, to, [event_id], older_ids)
        for event in found["events"]:
            writing.same(event, row["request_hash"])
            return done.model_copy(update={"repeated": True})
        _replaceable(found["beliefs"], older_ids, to.wall)
        await writing.write(tx, to, newer, vectors, ())
        await tx.fetch(REPLACE, tenant=to.wall.tenant, event=row, newer=newer_ids, older=older_ids)
        return done

    return await to.world.graph.write(work)


def _part(thought: Hypothesis, given: Source, event_id: str) -> Hypothesis:
    """Return a new belief as stated by the event that replaces, under an id made from it."""
    body = thought.statement or f"{thought.subject}|{thought.predicate}|{thought.object}"
    stated = {
        "id": "believe_" + identity.digest(event_id, body)[:32],
        "at": given.at,
        "source": given.source,
        "actor": given.actor,
    }
    return thought.model_copy(update=stated)


def _replaceable(rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], wall: Wall) -> None:
    there = {row["id"]: row for row in rows}
    for belief_id in wanted:
        if belief_id not in there:
            raise NotFoundError(f"No belief {belief_id!r}.")
        row = there[belief_id]
        if row["scope"] != wall.scope:
            raise ForeignScopeError(f"Belief {belief_id!r} belongs to scope {row['scope']!r}.")
        if row["status"] == "superseded":
            raise SupersededBeliefError(f"Belief {belief_id!r} was superseded already.")
