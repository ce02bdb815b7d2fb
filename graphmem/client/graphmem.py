"""Clients: open a connection, choose a tenant and a scope."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Self, TypeAlias

from pydantic import Field

from graphmem.client import connect, instrumentation, worker
from graphmem.client.arguments import Limit, file_of
from graphmem.client.at_exit import watch
from graphmem.client.handle import AsyncHandle, Handle, on_tenant
from graphmem.client.log_queue import AccessLog
from graphmem.client.namespace import blocking
from graphmem.client.state import HandleState, OnCommit
from graphmem.jobs import JobName, WorkerReport
from graphmem.jobs.schedule import INTERVAL_S
from graphmem.model import Name, Trust
from graphmem.ports import RequestContext, run_now
from graphmem.rules import hygiene
from graphmem.schema import Health
from graphmem.usage import TenantPage, statistics
from graphmem.validation import As

if TYPE_CHECKING:
    from graphmem.ports import Embedder, Llm, Reranker, Telemetry
    from graphmem.settings import Settings


ALL_JOBS: tuple[JobName, ...] = tuple(INTERVAL_S)
Jobs: TypeAlias = Annotated[
    Sequence[JobName], As(Annotated[tuple[JobName, ...], Field(min_length=1)])
]


class AsyncGraphMem(AsyncHandle):
    """A connection to an agent memory in Neo4j, awaited.

    It is also a handle on the tenant and scope of the settings. All handles share the connection;
    only the client closes it.
    """

    @classmethod
    async def open(
        cls,
        uri: str | None = None,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        tenant: str | None = None,
        scope: str | None = None,
        settings: Settings | None = None,
        on_progress: Callable[[str], None] = connect.silent,
        on_commit: OnCommit | None = None,
        rules: Sequence[hygiene.Rule] = (),
        embedder: Embedder | None = None,
        llm: Llm | None = None,
        reranker: Reranker | None = None,
        telemetry: Telemetry | None = None,
    ) -> Self:
        """Connect, and return a handle on the tenant and scope of the settings.

        The arguments and errors are those of `GraphMem.open`.
        """
        known = connect.settings(
            settings,
            uri=uri,
            user=user,
            password=password,
            database=database,
            tenant=tenant,
            scope=scope,
        )
        chosen = instrumentation.chosen_telemetry(known, telemetry)
        with instrumentation.reported_opening(chosen):
            address = await asyncio.to_thread(connect.address, known, on_progress)
            services = connect.open_services(
                known, address, on_progress, embedder, llm, reranker, awaited=True
            )
            context = await connect.bound(instrumentation.instrumented(services, chosen), known)
            state = _state(context, known, on_commit, rules)
            watch(state, awaited=True)
            return cls(state)

    async def close(self) -> None:
        """End the sessions, write pending log entries and close the connections.

        The server keeps running. If it cannot be reached, a warning is logged and the entries of
        the search log are lost.
        """
        await self._state.close()

    async def health(self) -> Health:
        """Check the server, the schema and the embedding model, and return what was found.

        Raises:
            UnavailableError, GraphAccessError, SchemaError, ModelMismatchError: see `open`.
        """
        return await connect.health(self._state.context.services)

    async def run_jobs(
        self,
        *,
        tenants: Annotated[Sequence[str], As(tuple[Name, ...])] | None = None,
        jobs: Jobs = ALL_JOBS,
        digests: str | os.PathLike[str] | None = None,
        on_job: worker.OnJob = worker.silent,
    ) -> WorkerReport:
        """Run the background jobs that are due, for all scopes of all tenants, once.

        Each job of a tenant has a lease in the graph and a time when it is due again, so any number
        of workers may run; `graphmem worker` calls this every minute. A job that fails waits for
        one minute, and for twice as long after each further failure, at most for an hour; the
        other jobs continue. The jobs are:

        - `extract`: sessions without a new turn for ten minutes; needs a language model.
        - `consolidate`: the scopes in which it is due; see `consolidate`.
        - `rate`: the search log.
        - `graduate`: important episodes; needs `digests`.
        - `compress`: old, unused episodes.
        - `plan_pruning`: counts what `usage.prune` would prune; prunes nothing.
        - `roll_up`: searches that are older than 90 days.

        Args:
            tenants: names of the tenants; None for all that have content.
            jobs: jobs to run, in this order.
            digests: folder for digests, one `MEMORY.md` for each tenant and scope in a subfolder
                of their names; None to graduate nothing.
            on_job: called after each run.

        Raises:
            GraphUnavailableError, GraphAccessError: the graph cannot be used.
        """
        folder = None if digests is None else file_of("digests", digests)
        return await worker.run_due(self._state, tenants, jobs, folder, on_job)

    async def tenants(self, *, cursor: str | None = None, limit: Limit = 50) -> TenantPage:
        """Return one page of the tenants with data, and their sizes.

        Only the client can list tenants, since a handle belongs to one.

        Args:
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of tenants, 1 to 1,000.
        """
        return await statistics.tenants(self._state.context.services, cursor=cursor, limit=limit)

    def tenant(self, name: str, *, trust: Trust = "person") -> AsyncHandle:
        """Return a handle on the global scope of a tenant.

        Args:
            name: tenant.
            trust: class of the writer. Nothing that is written through the handle, its scopes and
                sessions is trusted more: give "model" for a handle that a model controls.
        """
        return AsyncHandle(on_tenant(self._state, name, trust))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._state.close()


class GraphMem(Handle):
    """A connection to an agent memory in Neo4j, blocking.

    It is also a handle on the tenant and scope of the settings. All handles share the connection;
    only the client closes it.
    """

    @classmethod
    def open(
        cls,
        uri: str | None = None,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        tenant: str | None = None,
        scope: str | None = None,
        settings: Settings | None = None,
        on_progress: Callable[[str], None] = connect.silent,
        on_commit: OnCommit | None = None,
        rules: Sequence[hygiene.Rule] = (),
        embedder: Embedder | None = None,
        llm: Llm | None = None,
        reranker: Reranker | None = None,
        telemetry: Telemetry | None = None,
    ) -> Self:
        """Connect, and return a handle on the tenant and scope of the settings.

        Without a URI the managed local server is started and its schema is kept up to date.

        Args:
            uri: address of a Neo4j server; by default the settings' one, else the managed server.
            user: user name for the server.
            password: password for the server.
            database: name of the database; the user's home database by default.
            tenant: tenant of the handle.
            scope: write scope of the handle.
            settings: other settings; by default those of the environment.
            on_progress: called with one line of text before each slow step.
            on_commit: called after each committed text; an error in it is logged and has no effect.
            rules: hygiene rules in addition to the built-in ones.
            embedder: embedding model to use instead of the settings' one.
            llm: language model to use instead of the settings' one.
            reranker: reranker to use instead of the settings' one.
            telemetry: receiver of metrics and traces instead of the settings' one.

        Raises:
            ConfigurationError: the settings or a model are invalid.
            LocalServerError, GraphUnavailableError, GraphAccessError: no server can be used.
            MigrationPendingError: your own server needs `graphmem admin migrate`.
            ModelMismatchError: the graph was filled with another embedding model.
        """
        known = connect.settings(
            settings,
            uri=uri,
            user=user,
            password=password,
            database=database,
            tenant=tenant,
            scope=scope,
        )
        chosen = instrumentation.chosen_telemetry(known, telemetry)
        with instrumentation.reported_opening(chosen):
            address = connect.address(known, on_progress)
            services = connect.open_services(known, address, on_progress, embedder, llm, reranker)
            context = run_now(connect.bound(instrumentation.instrumented(services, chosen), known))
            state = _state(context, known, on_commit, rules)
            watch(state, awaited=False)
            return cls(state)

    close = blocking(AsyncGraphMem.close)

    health = blocking(AsyncGraphMem.health)
    run_jobs = blocking(AsyncGraphMem.run_jobs)

    tenants = blocking(AsyncGraphMem.tenants)

    def tenant(self, name: str, *, trust: Trust = "person") -> Handle:
        """Return a handle on the global scope of a tenant.

        Args:
            name: tenant.
            trust: class of the writer. Nothing that is written through the handle, its scopes and
                sessions is trusted more: give "model" for a handle that a model controls.
        """
        return Handle(on_tenant(self._state, name, trust))

    def __enter__(self) -> Self:
        return self

    __exit__ = blocking(AsyncGraphMem.__aexit__)


def _state(
    context: RequestContext,
    settings: Settings,
    on_commit: OnCommit | None,
    rules: Sequence[hygiene.Rule],
) -> HandleState:
    own = hygiene.default_rules(settings.min_content_chars, settings.max_content_chars)
    return HandleState(
        context=context,
        rules=(*own, *rules),
        hooks=(on_commit,) if on_commit else (),
        accesses=AccessLog(context.services.telemetry),
    )
