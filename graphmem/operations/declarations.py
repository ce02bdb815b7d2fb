"""Declare policies of predicates and aliases of names."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.errors import EventConflictError, NotFoundError
from graphmem.model import GLOBAL_SCOPE, Alias, EventSource, EventType, Policy, Predicate
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, identity, lineage
from graphmem.rules.conflicts import consistent

LOCK = catalog.query("commit/lock", catalog.ignored)
LOCK_NAMES = catalog.query("belief/lock_names", catalog.ignored)
LOOK = catalog.query("belief/look", dict)


def drafted(
    kind: EventType,
    said: Sequence[str | None],
    payload: Mapping[str, str | None],
    given: EventSource,
    now: datetime,
) -> dict[str, Any]:
    """Return the event's own fields but those that only its kind has.

    Args:
        kind: of event.
        said: what a repeated id is compared by, beside where the event comes from.
        payload: what is kept as it was written; the note is added.
        given: where it comes from.
        now: by the clock.

    Raises:
        InvalidInputError: it lies in the future.
    """
    return {
        "id": given.id or identity.event_id(now),
        "scope": GLOBAL_SCOPE,
        "type": kind,
        "occurred_at": drafts.happened(given.at, now),
        "request_hash": drafts.request_hash(kind, *said, *claims.stated(given)),
        **claims.origin(given),
        "payload": json.dumps({**payload, "note": given.note}, ensure_ascii=False),
    }


async def append(
    to: RequestContext, row: Mapping[str, Any], write: Callable[[Tx], Coroutine[Any, Any, None]]
) -> None:
    """Do what appends an event, under the lock of its tenant; nothing, when it is there already.

    Raises:
        EventConflictError: the id was used for something else.
    """

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
        await write(tx)

    await to.world.graph.write(work)


def _alias(row: Mapping[str, Any]) -> tuple[str, str, Alias]:
    """Return the folded name, what it stands for, folded, and the two as written."""
    found = row["alias"]
    fields = ("name", "same_as", "event_id", "occurred_at")
    return found["key"], found["same_key"], Alias(**{name: found[name] for name in fields})


SAY = catalog.query("naming/say", catalog.ignored)
LIST_ALIASES = catalog.query("naming/list", _alias)


async def say(to: RequestContext, name: str, other: str | None, given: EventSource) -> Alias:
    """Let a name stand for another one, in the whole tenant; without another, for itself again.

    Raises:
        EventConflictError: the id was used for something else.
        InvalidInputError: it lies in the future, or the names are one.
        NameChainError: one of them stands for a third, or is stood for.
        NotFoundError: it stands for itself already.
    """
    now = to.world.clock.now()
    key, other_key = claims.folded(name), None if other is None else claims.folded(other)
    written = {"name": name, "other": other}
    row = drafted(EventType.SAME_AS, (key, other_key), written, given, now)

    async def write(tx: Tx) -> None:
        _check((key, name), (other_key, other), await tx.fetch(LIST_ALIASES, tenant=to.wall.tenant))
        await tx.fetch(
            SAY,
            tenant=to.wall.tenant,
            key=key,
            name=name.strip(),
            other_key=other_key,
            other=None if other is None else other.strip(),
            event={**row, "same_as": other_key},
        )

    await append(to, row, write)
    return Alias(
        name=name.strip(),
        same_as=None if other is None else other.strip(),
        event_id=row["id"],
        occurred_at=row["occurred_at"],
    )


def _check(
    name: tuple[str, str],
    other: tuple[str | None, str | None],
    there: Sequence[tuple[str, str, Alias]],
) -> None:
    (key, written), (other_key, other_written) = name, other
    if other_key is not None and other_written is not None:
        lineage.check((key, written), (other_key, other_written), {k: to for k, to, _ in there})
    elif key not in {k for k, _, _ in there}:
        raise NotFoundError(
            f"{written!r} stands for nobody else.", hint="`names` shows which names do."
        )


@consistent
async def aliases(to: RequestContext) -> list[Alias]:
    """Return every name that stands for another one, by name."""
    return [alias for _, _, alias in await _listed(to)]


async def canonical(to: RequestContext) -> Mapping[str, str]:
    """Return canonical names as written, by the folded names that stand for them."""
    return {key: alias.same_as for key, _, alias in await _listed(to) if alias.same_as is not None}


async def _listed(to: RequestContext) -> list[tuple[str, str, Alias]]:
    return await to.world.graph.read(lambda tx: tx.fetch(LIST_ALIASES, tenant=to.wall.tenant))


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
    row = drafted(EventType.POLICY, said, written, given, now)

    async def write(tx: Tx) -> None:
        await tx.fetch(
            DECLARE,
            tenant=to.wall.tenant,
            key=key,
            name=name.strip(),
            template=checked,
            event={**row, **fields},
        )

    await append(to, row, write)
    found = await predicates(to)
    return next(one for one in found if claims.folded(one.name) == key)


@consistent
async def predicates(to: RequestContext) -> list[Predicate]:
    """Return every predicate that a policy was declared for, by name."""
    return await to.world.graph.read(lambda tx: tx.fetch(LIST_PREDICATES, tenant=to.wall.tenant))
