"""Declare how the evidence of predicates is read; a change is an event too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphmem import catalog
from graphmem.model import EventSource, EventType, Policy, Predicate
from graphmem.operations.declaring import events
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims
from graphmem.rules.conflicts import consistent


def _predicate(row: Mapping[str, Any]) -> Predicate:
    found = row["policy"]
    names = ("name", "template", "event_id", "occurred_at", "recorded_at")
    return Predicate(**{name: found[name] for name in names}, policy=claims.policy_of(found))


DECLARE = catalog.query("predicate/declare", catalog.ignored)
LIST_PREDICATES = catalog.query("predicate/list", _predicate)


async def declare(
    to: RequestContext, name: str, policy: Policy, template: str | None, given: EventSource
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
    said = (key, *(str(value) for value in fields.values()), checked)
    written = {"predicate": name, "template": checked}
    row = events.drafted(EventType.POLICY, said, written, given, now)

    async def write(tx: Tx) -> None:
        await tx.fetch(
            DECLARE,
            tenant=to.wall.tenant,
            key=key,
            name=name.strip(),
            template=checked,
            event={**row, **fields},
        )

    await events.append(to, row, write)
    found = await predicates(to)
    return next(one for one in found if claims.folded(one.name) == key)


@consistent
async def predicates(to: RequestContext) -> list[Predicate]:
    """Return every predicate that a policy was declared for, by name."""
    return await to.world.graph.read(lambda tx: tx.fetch(LIST_PREDICATES, tenant=to.wall.tenant))
