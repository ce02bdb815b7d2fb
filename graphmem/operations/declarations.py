"""Declare predicate policies and aliases."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem import stored
from graphmem.errors import NotFoundError
from graphmem.graph import catalog
from graphmem.model import GLOBAL_SCOPE, Alias, EventSource, EventType, Policy, Predicate
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, identity, trust
from graphmem.rules import predicates as rules

SET_ALIAS = catalog.query("alias/set", catalog.ignored)

DECLARE = catalog.query("predicate/declare", catalog.ignored)
ALL = {"named": None, "other": None}
"""Parameters with which alias/list returns all aliases."""


async def append(
    context: RequestContext,
    row: Mapping[str, Any],
    write: Callable[[Tx], Coroutine[Any, Any, None]],
) -> None:
    """Call `write` under the tenant lock, unless the event is stored already."""

    async def work(tx: Tx) -> None:
        await stored.lock(tx, [row["id"]])
        for event in (await stored.find_existing(tx, [row["id"]]))["events"]:
            stored.check_same_request(event, row["id"], row["request_hash"])
            return
        await write(tx)

    await context.write(work)


def _alias(row: Mapping[str, Any]) -> tuple[str, str, Alias]:
    """Return the folded alias, the folded canonical name, and the `Alias` as written."""
    found = row["alias"]
    fields = ("name", "scope", "same_as", "event_id", "occurred_at")
    return found["key"], found["same_key"], Alias(**{name: found[name] for name in fields})


LIST_ALIASES = catalog.query("alias/list", _alias)


async def say(context: RequestContext, name: str, other: str | None, given: EventSource) -> Alias:
    """Make a name an alias of another in the write scope; without another, remove the alias.

    In the scope `global` it is an alias for the whole tenant.
    """
    trust.check_right("aliases", context.trust)
    now = context.services.clock.now()
    key, other_key = claims.name_key(name), None if other is None else claims.name_key(other)
    written = {"name": name, "other": other, "note": given.note}
    scope, named = context.scope, context.named(given)
    values = EventType.SAME_AS, scope, key, other_key
    row = claims.source_event(named, scope, EventType.SAME_AS, now, values, written)

    async def write(tx: Tx) -> None:
        around = {"named": key, "other": other_key}
        found = await tx.fetch(LIST_ALIASES, scopes=list(_chain(context)), **around)
        _check((key, name), (other_key, other), found, scope)
        await tx.fetch(
            SET_ALIAS,
            id=identity.declared_id("Name", scope, key),
            key=key,
            name=name.strip(),
            other_id=None if other_key is None else identity.declared_id("Name", scope, other_key),
            other_key=other_key,
            other=None if other is None else other.strip(),
            event={**row, "same_as": other_key},
        )

    await append(context, row, write)
    return Alias(
        name=name.strip(),
        scope=scope,
        same_as=None if other is None else other.strip(),
        event_id=row["id"],
        occurred_at=row["occurred_at"],
    )


def _check(
    name: tuple[str, str],
    other: tuple[str | None, str | None],
    listed: Sequence[tuple[str, str, Alias]],
    scope: str,
) -> None:
    """Check that a name can become an alias; `listed` are the aliases that decide it."""
    (key, written), (other_key, other_written) = name, other
    if other_key is not None and other_written is not None:
        claims.check_alias_chain(
            (key, written), (other_key, other_written), {k: to for k, to, _ in reversed(listed)}
        )
    elif key not in {k for k, _, alias in listed if alias.scope == scope}:
        raise NotFoundError(
            f"{written!r} is not an alias in scope {scope!r}.", hint="`aliases.list` lists them."
        )


def _chain(context: RequestContext) -> Sequence[str]:
    """Return the scopes whose declarations apply to what a handle writes, the nearest first."""
    tenant_wide = (GLOBAL_SCOPE,) if GLOBAL_SCOPE in context.read_scopes else ()
    return tuple(dict.fromkeys((context.scope, *tenant_wide)))


async def aliases(context: RequestContext) -> list[Alias]:
    """Return the aliases in the scopes that the handle reads, sorted by name."""
    return [alias for _, _, alias in await context.fetch(LIST_ALIASES, **ALL)]


async def canonical(context: RequestContext) -> Mapping[str, str]:
    """Return the canonical names, as written, for what the handle writes, by folded alias."""
    found = await context.fetch(LIST_ALIASES, scopes=list(_chain(context)), **ALL)
    # The list begins with the aliases of the write scope.
    return {key: alias.same_as for key, _, alias in reversed(found) if alias.same_as is not None}


def _predicate(row: Mapping[str, Any]) -> Predicate:
    found = row["policy"]
    names = ("name", "scope", "template", "valid_from", "event_id", "occurred_at", "recorded_at")
    return Predicate(**{name: found[name] for name in names}, policy=rules.parse_policy(found))


LIST_PREDICATES = catalog.query("predicate/list", _predicate)


async def declare(
    context: RequestContext,
    name: str,
    policy: Policy,
    *,
    template: str | None,
    valid_from: datetime | None,
    given: EventSource,
) -> Predicate:
    """Set a predicate's policy in the write scope and return the one in force there.

    In the scope `global` it holds for the whole tenant, except where a nearer one is declared.
    Reads as of an earlier known time keep using the policy known then.
    """
    trust.check_right("predicates.declare", context.trust)
    now = context.services.clock.now()
    scope, named = context.scope, context.named(given)
    draft = rules.PolicyDraft(name, policy, template, valid_from)
    made = rules.declaration(draft, named, now, scope=scope, writer=context.trust)

    async def write(tx: Tx) -> None:
        await tx.fetch(DECLARE, **made)

    await append(context, made["event"], write)
    found = await context.fetch(LIST_PREDICATES, scopes=[scope])
    # Without another one, a declaration that was retracted before it came leaves none.
    own = made["event"] | {"name": made["name"], "template": template, "recorded_at": now}
    same = (one for one in found if claims.predicate_key(one.name) == made["key"])
    return next(same, _predicate({"policy": own | {"event_id": own["id"]}}))


async def predicates(context: RequestContext) -> list[Predicate]:
    """Return the predicates declared in the scopes that the handle reads, sorted by name."""
    return await context.fetch(LIST_PREDICATES)
