"""Long calls as operations: answered at once, run in the background, resumed after a restart."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from pydantic import BaseModel
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from graphmem.client import AsyncGraphMem
from graphmem.client.handle import AsyncHandle
from graphmem.errors import GraphmemError, LeaseLostError, NotFoundError, UnavailableError
from graphmem.jobs import operations, schedule
from graphmem.jobs.operations import Asked, Granted, Lease, OperationPage, OperationStatus
from graphmem.mcp.connection import MemoryConnection
from graphmem.model.calls import CALL, Call
from graphmem.rules import identity
from graphmem.serve import problems
from graphmem.serve.admission import busy
from graphmem.serve.keys import Grant, Key
from graphmem.serve.operations import BY_METHOD, Operation, arguments_of
from graphmem.serve.problems import log

BEAT_S = 2.0
"""Seconds between two records of the progress; a cancelled call ends after one."""
POLL_S = 5.0
"""Seconds between two searches for calls of killed processes."""
MAX_RUNS, MAX_OF_TENANT = 4, 2
"""Maximum numbers of calls that a process runs at once, of all tenants and of one."""
MAX_ATTEMPTS = 20
"""Number of runs after which a call that ends its process, or finds no model, has failed."""
GAVE_UP = "gave_up"
EVENTS_S = 1.0
"""Seconds between two reads of an operation whose events a client receives."""
MAX_STREAMS = 100
"""Maximum number of streams of events of a process."""
STREAM_S = 600.0
"""Maximum seconds of a stream of events; clients connect again by themselves."""


@dataclass
class Runner:
    """Runs the long calls of this process's clients, and continues those of killed processes."""

    connection: MemoryConnection
    tenants: Callable[[], Collection[str]]
    """Returns the tenants that keys open."""
    _owner: str = field(default_factory=lambda: uuid.uuid4().hex)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _running: dict[asyncio.Task[None], str] = field(default_factory=dict)
    streams: int = 0
    """Number of streams of events that clients read."""

    async def ask(
        self,
        handle: AsyncHandle,
        operation: Operation,
        arguments: Mapping[str, Any],
        *,
        grant: Grant,
        key: str | None,
    ) -> OperationStatus:
        """Record a call and return its state.

        Raises:
            EventConflictError: another call has the same idempotency key.
        """
        context = handle._state.context
        name = uuid.uuid4().hex if key is None else identity.digest(context.scope, key)[:32]
        asked = Asked(
            id=operations.PREFIX + name,
            method=operation.method,
            arguments=json.dumps(arguments, sort_keys=True),
            key_id=grant.id if isinstance(grant, Key) else None,
        )
        await operations.ask(context, asked)
        self._wake.set()
        return await self.find(handle, grant, asked.id)

    async def find(self, handle: AsyncHandle, grant: Grant, operation_id: str) -> OperationStatus:
        """Return the state of an operation.

        Raises:
            NotFoundError: the grant shows none of this id.
        """
        for one in (await self.page(handle, grant, one=operation_id)).operations:
            return one
        raise NotFoundError(f"No operation {operation_id!r}.")

    async def page(self, handle: AsyncHandle, grant: Grant, **asked: Any) -> OperationPage:
        """Return the operations of a page that a grant shows; see `operations.page`."""
        granted = Granted(grant.named, grant.prefixes)
        found = await operations.page(handle._state.context, granted, **asked)
        seen = tuple(one for one in found.operations if shows(grant, one))
        return found.model_copy(update={"operations": seen})

    async def cancel(self, handle: AsyncHandle, grant: Grant, operation_id: str) -> OperationStatus:
        """Ask for the end of an operation and return its state.

        Raises:
            NotFoundError: the grant shows none of this id.
        """
        found = await self.find(handle, grant, operation_id)
        await operations.cancel(handle._state.context, found.id)
        return await self.find(handle, grant, operation_id)

    async def run(self) -> None:
        """Run calls until the task is cancelled; those of this process are then free for others."""
        try:
            while True:
                self._wake.clear()
                try:
                    await self._take()
                except GraphmemError as error:
                    log.warning("No operations can be taken: %s", error.code)
                except Exception as error:  # noqa: BLE001 - the next attempt may succeed
                    problems.of_fault(error, "operations")
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), POLL_S)
        finally:
            for task in self._running:
                task.cancel()
            if self._running:
                await asyncio.wait(self._running)

    async def _take(self) -> None:
        """Start calls that no process runs, of the tenants that have fewest running first."""
        memory, own = await self.connection.memory(), Counter(self._running.values())
        due = await operations.due(memory._state.context.services, sorted(self.tenants()))
        for tenant in sorted(due, key=lambda name: own[name]):
            context = memory.tenant(tenant)._state.context
            while len(self._running) < MAX_RUNS and own[tenant] < MAX_OF_TENANT:
                lease = await operations.claim(context, self._owner)
                if lease is None:
                    break
                own[tenant] += 1
                task = asyncio.create_task(self._run(memory, tenant, lease))
                self._running[task] = tenant
                task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        self._wake.set()
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            problems.of_fault(error, "operations")

    async def _run(self, memory: AsyncGraphMem, tenant: str, lease: Lease) -> None:
        CALL.set(Call(lease.id))
        handle = memory.tenant(tenant, trust=lease.trust)
        handle = handle.scope(lease.scope, read_scopes=lease.scopes)
        context, progress = handle._state.context, Counter[str]()
        outcome, result = GAVE_UP, None
        try:
            if lease.resumed < MAX_ATTEMPTS:
                work = asyncio.create_task(performed(memory, handle, lease, progress))
                if await self._watch(handle, lease, work, progress):
                    outcome = operations.CANCELLED
                else:
                    result, outcome = counted(work.result()), operations.OK
        except LeaseLostError:
            return  # another process continues it
        except UnavailableError:
            wait = schedule.retry_after(lease.resumed + 1)
            await operations.keep(context, lease, progress, seconds=int(wait))
            return
        except asyncio.CancelledError:
            with suppress(GraphmemError):
                await operations.keep(context, lease, progress, seconds=0)
            raise
        except GraphmemError as error:
            outcome = error.code
        except Exception as error:  # noqa: BLE001 - its text may have content
            outcome = problems.of_fault(error, lease.method).code
        await operations.finish(context, lease, progress, outcome, result)
        log.info("operation", extra={"fields": _logged(tenant, lease, outcome)})

    async def _watch(
        self,
        handle: AsyncHandle,
        lease: Lease,
        work: asyncio.Task[Any],
        progress: Mapping[str, int],
    ) -> bool:
        """Extend the lease until the work ends; return whether a client ended it.

        Raises:
            LeaseLostError: another process has taken over the call.
        """
        try:
            while not (await asyncio.wait({work}, timeout=BEAT_S))[0]:
                with suppress(UnavailableError):
                    if await operations.keep(handle._state.context, lease, progress):
                        return True
            return False
        finally:
            if work.cancel():
                await asyncio.gather(work, return_exceptions=True)


async def performed(
    memory: AsyncGraphMem, handle: AsyncHandle, lease: Lease, progress: Counter[str]
) -> Any:
    """Return the result of a long call."""
    operation, stored = BY_METHOD[lease.method], json.loads(lease.arguments)
    given = operation.record().model_validate_json(json.dumps(stored["given"]))
    arguments = arguments_of(given) | stored["path"]
    if operation.of_client:
        return await getattr(memory, lease.method)(
            tenants=[handle._state.context.tenant], **arguments
        )
    return await attrgetter(lease.method)(handle)(
        **arguments, on_progress=lambda kind, count: progress.update({kind: count})
    )


def counted(result: object) -> dict[str, Any]:
    """Return the counts of a result: what is stored has no texts, which erasure would not find."""
    if not isinstance(result, BaseModel):
        return {"items": len(result)} if isinstance(result, list | tuple) else {}
    found = dict[str, Any]()
    for name, value in result:
        if value is None or isinstance(value, bool | int | float):
            found[name] = value
        elif isinstance(value, list | tuple | frozenset):
            found[name] = len(value)
        elif isinstance(value, BaseModel):
            found[name] = counted(value)
    return found


def shows(grant: Grant, found: OperationStatus) -> bool:
    """Return whether a grant shows an operation: it could have asked for it."""
    operation = BY_METHOD[found.method]
    whole = grant.covers_tenant or not operation.of_tenant
    return operation.right in grant.rights and whole


class EventStream(StreamingResponse):
    """Server-sent events, for a limited time: a client may never read them."""

    media_type = "text/event-stream"

    def __init__(self, runner: Runner, states: AsyncIterator[OperationStatus]) -> None:
        if runner.streams >= MAX_STREAMS:
            raise busy()
        self._runner = runner
        super().__init__(_events(states))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        self._runner.streams += 1
        try:
            async with asyncio.timeout(STREAM_S):
                await super().__call__(scope, receive, send)
        except TimeoutError:
            pass
        finally:
            self._runner.streams -= 1


async def _events(states: AsyncIterator[OperationStatus]) -> AsyncIterator[str]:
    last = ""
    async for state in states:
        text = state.model_dump_json(exclude_none=True)
        # A comment keeps the connection alive and notices that the client is gone.
        yield f"data: {text}\n\n" if text != last else ":\n\n"
        last = text


async def states(
    find: Callable[[], Any], seconds: float = EVENTS_S
) -> AsyncIterator[OperationStatus]:
    """Yield the states of an operation until it ends."""
    while True:
        found: OperationStatus = await find()
        yield found
        if found.finished_at is not None:
            return
        await asyncio.sleep(seconds)


def _logged(tenant: str, lease: Lease, outcome: str) -> dict[str, Any]:
    return {
        "request_id": lease.id,
        "method": lease.method,
        "outcome": outcome,
        "resumed": lease.resumed,
        "tenant": tenant,
    }
