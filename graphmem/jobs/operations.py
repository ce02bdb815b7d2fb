"""Long calls of a server's clients as operations: recorded, leased, resumed, cancelled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import Field

from graphmem.errors import EventConflictError, LeaseLostError
from graphmem.graph import catalog
from graphmem.model.terms import Instant, Record, Trust
from graphmem.ports import RequestContext, Services
from graphmem.rules import identity, read_options

PREFIX = "op_"
LEASE_S = 20
"""Duration of a lease, seconds: after it, another process continues the call of a killed one."""
KEEP_DAYS = 7
"""Days for which an operation is shown after its end."""
OK, CANCELLED = "ok", "cancelled"

ASK = catalog.query("operation/ask", lambda row: row["digest"])
DUE = catalog.query("schema/due_operations", lambda row: row["tenant"])
CLAIM = catalog.query("operation/claim", lambda row: row["operation"])
KEEP = catalog.query("operation/keep", lambda row: row["cancelled"])
FINISH = catalog.query("operation/finish", catalog.ignored)
CANCEL = catalog.query("operation/cancel", catalog.ignored)
LIST = catalog.query("operation/list", lambda row: row["operation"])


class OperationStatus(Record):
    """State of a long call."""

    id: str
    method: str
    """Method of the client, as in the table of routes."""
    scope: str
    """Scope that it writes to."""
    state: Literal["waiting", "running", "cancelling", "succeeded", "failed", "cancelled"]
    asked_at: Instant
    started_at: Instant | None = None
    finished_at: Instant | None = None
    progress: dict[str, int] = Field(default_factory=dict)
    """Kind of unit, and how many of it are done since the call started or was resumed."""
    result: dict[str, Any] | None = None
    """Counts of the result; lists are counted, texts left out."""
    error: str | None = None
    """Code of the error of a call that failed."""


class OperationPage(Record):
    """One page of operations, by id."""

    operations: tuple[OperationStatus, ...]
    next_cursor: str | None = None
    """None on the last page."""


class Asked(Record):
    """A long call as it is asked for."""

    id: str
    method: str
    arguments: str
    """JSON."""
    key_id: str | None = None
    """Id of the client's key."""


class Lease(NamedTuple):
    """The right to run a long call."""

    id: str
    method: str
    scope: str
    scopes: tuple[str, ...]
    """Read scopes."""
    trust: Trust
    arguments: str
    owner: str
    resumed: int
    """Number of processes that ran it before."""


class Granted(NamedTuple):
    """Scopes whose operations a client is shown."""

    scopes: Sequence[str]
    prefixes: Sequence[str]


async def ask(context: RequestContext, asked: Asked) -> None:
    """Record a long call; a process takes it.

    Raises:
        EventConflictError: another call is recorded under this id.
    """
    digest = identity.digest(asked.method, asked.arguments, context.scope)
    values = asked.model_dump() | {"digest": digest, "trust": context.trust, "keep_days": KEEP_DAYS}
    if await context.fetch(ASK, **values) != [digest]:
        raise EventConflictError("Another call has this Idempotency-Key.")


async def due(services: Services, tenants: Sequence[str]) -> list[str]:
    """Return those of the tenants that have a call which no process runs."""
    return await services.fetch(DUE, tenants=list(tenants))


async def claim(context: RequestContext, owner: str) -> Lease | None:
    """Return the lease of the tenant's oldest call that no process runs; None if there is none."""
    found = await context.fetch(CLAIM, owner=owner, seconds=LEASE_S)
    if not found:
        return None
    row = found[0]
    return Lease(
        row["id"],
        row["unit"],
        row["scope"],
        tuple(row["scopes"]),
        row["trust"],
        row["arguments"],
        owner,
        row["failures"],
    )


async def keep(
    context: RequestContext, lease: Lease, progress: Mapping[str, int], *, seconds: int = LEASE_S
) -> bool:
    """Extend a lease and record the progress; return whether a client wants the call to end.

    Args:
        context: context of the tenant.
        lease: lease of the call.
        progress: kind of unit, and how many are done.
        seconds: seconds until another process may take the call.

    Raises:
        LeaseLostError: another process has it.
    """
    given = {"id": lease.id, "owner": lease.owner, "progress": json.dumps(dict(progress))}
    found = await context.fetch(KEEP, **given, seconds=seconds)
    if not found:
        raise LeaseLostError("Another process has taken over this call.")
    return bool(found[0])


async def finish(
    context: RequestContext,
    lease: Lease,
    progress: Mapping[str, int],
    outcome: str,
    result: Mapping[str, Any] | None,
) -> None:
    """Record the end of a call."""
    await context.fetch(
        FINISH,
        id=lease.id,
        owner=lease.owner,
        progress=json.dumps(dict(progress)),
        outcome=outcome,
        result=None if result is None else json.dumps(result),
    )


async def cancel(context: RequestContext, operation_id: str) -> None:
    """Ask for the end of a call; what it has done stays."""
    await context.fetch(CANCEL, id=operation_id)


async def page(
    context: RequestContext,
    granted: Granted,
    *,
    cursor: str | None = None,
    limit: int = 50,
    one: str | None = None,
) -> OperationPage:
    """Return a page of the operations that a client is shown.

    Args:
        context: context of a tenant.
        granted: scopes of the operations.
        cursor: `next_cursor` of the previous page; None for the first page.
        limit: maximum number of operations.
        one: id of the only operation to return.

    Raises:
        InvalidInputError: the cursor is invalid.
    """
    [after] = read_options.parse_key_cursor(cursor, 1)
    rows = await context.fetch(
        LIST,
        granted=list(granted.scopes),
        prefixes=list(granted.prefixes),
        one=one,
        after_id=after,
        limit=limit,
    )
    more = read_options.key_cursor(rows[-1]["id"]) if len(rows) == limit else None
    return OperationPage(operations=tuple(map(_status, rows)), next_cursor=more)


def _status(row: Mapping[str, Any]) -> OperationStatus:
    outcome = row["outcome"]
    state: Any = "waiting" if row["owner"] is None else "running"
    if outcome is not None:
        state = {OK: "succeeded", CANCELLED: "cancelled"}.get(outcome, "failed")
    elif row["cancelled_at"] is not None:
        state = "cancelling"
    return OperationStatus(
        id=row["id"],
        method=row["unit"],
        scope=row["scope"],
        state=state,
        asked_at=row["asked_at"],
        started_at=row["served_at"],
        finished_at=row["finished_at"],
        progress=json.loads(row["progress"] or "{}"),
        result=None if row["result"] is None else json.loads(row["result"]),
        error=outcome if state == "failed" else None,
    )
