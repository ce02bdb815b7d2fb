"""Declare how the evidence of predicates is read; a change is an event too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graphmem import catalog
from graphmem.errors import EventConflictError
from graphmem.model import GLOBAL_SCOPE, EventType, Policy, Predicate, Source
from graphmem.ports import Binding, Tx
from graphmem.rules import claims, drafts, identity


def _predicate(row: Mapping[str, Any]) -> Predicate:
    found = row["policy"]
    names = ("name", "template", "event_id", "occurred_at", "recorded_at")
    return Predicate(**{name: found[name] for name in names}, policy=claims.policy_of(found))


LOCK = catalog.query("commit/lock", catalog.ignored)
LOCK_NAMES = catalog.query("belief/lock_names", catalog.ignored)
LOOK = catalog.query("belief/look", dict)
DECLARE = catalog.query("predicate/declare", catalog.ignored)
LIST = catalog.query("predicate/list", _predicate)


async def declare(
    to: Binding, name: str, policy: Policy, template: str | None, given: Source
) -> Predicate:
    """Set a predicate's policy for the whole tenant and return the one in force.

    Reads as of an earlier instant go on using the policy that was in force then.

    Raises:
        EventConflictError: the id was used for something else.
        InvalidInputError: it lies in the future, or the template cannot be read aloud.
    """
    now = to.world.clock.now()
    fields = claims.policy_fields(policy)
    checked = None if template is None else claims.checked_template(template)
    key = claims.folded(name)
    row: dict[str, Any] = {
        "id": given.id or identity.event_id(now),
        "scope": GLOBAL_SCOPE,
        "type": EventType.POLICY,
        "occurred_at": drafts.happened(given.at, now),
        "request_hash": drafts.request_hash(
            EventType.POLICY,
            key,
            *(str(value) for value in fields.values()),
            checked,
            *claims.stated(given),
        ),
        **claims.origin(given),
        "payload": json.dumps(
            {"predicate": name, "template": checked, "note": given.note},
            ensure_ascii=False,
        ),
        **fields,
    }

    async def work(tx: Tx) -> None:
        await tx.fetch(LOCK, tenant=to.wall.tenant)
        await tx.fetch(LOCK_NAMES, tenant=to.wall.tenant, ids=[row["id"]])
        [found] = await tx.fetch(
            LOOK,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            event_ids=[row["id"]],
            belief_ids=[],
        )
        for event in found["events"]:
            if event["request_hash"] != row["request_hash"]:
                raise EventConflictError(f"The id {row['id']!r} was used for something else.")
            return
        await tx.fetch(
            DECLARE,
            tenant=to.wall.tenant,
            key=key,
            name=name.strip(),
            template=checked,
            event=row,
        )

    await to.world.graph.write(work)
    found = await listed(to)
    return next(one for one in found if claims.folded(one.name) == key)


async def listed(to: Binding) -> list[Predicate]:
    """Return every predicate that a policy was declared for, by name."""
    return await to.world.graph.read(lambda tx: tx.fetch(LIST, tenant=to.wall.tenant))
