"""Clients: open a connection, choose a tenant and a scope."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from graphmem.client import connect, instrumentation
from graphmem.client.access_log import AccessLog
from graphmem.client.handle import AsyncHandle, Handle, on_tenant
from graphmem.client.namespace import blocking
from graphmem.client.state import HandleState, OnCommit, watch
from graphmem.ports import RequestContext, run_now
from graphmem.rules import hygiene
from graphmem.schema import Health

if TYPE_CHECKING:
    from graphmem.ports import Embedder, Llm, Telemetry
    from graphmem.settings import Settings


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
        chosen = instrumentation.chosen(known, telemetry)
        with instrumentation.opening(chosen):
            address = await asyncio.to_thread(connect.address, known, on_progress)
            services = connect.open_services(
                known, address, on_progress, embedder, llm, awaited=True
            )
            context = await connect.bound(instrumentation.watched(services, chosen), known)
            state = _state(context, known, on_commit, rules)
            watch(state, awaited=True)
            return cls(state)

    async def reconnect(self) -> None:
        """Connect again; the managed server is started if it does not run.

        A lost connection comes back without this call. The managed server may use another port
        after a new start: all handles and sessions of this client then use it.

        Raises:
            UnavailableError, GraphAccessError, SchemaError, ModelMismatchError: see `open`; the
                call can be repeated.
        """
        await connect.again(self._state.context.services)

    async def close(self) -> None:
        """End the sessions, write pending log entries and close the connections.

        The server keeps running.

        Raises:
            UnavailableError: the log could not be written; the connections are closed.
        """
        self._state.end_sessions()
        try:
            await self._state.flush()
        finally:
            await self._state.close()

    async def health(self) -> Health:
        """Check the server, the schema and the embedding model, and return what was found.

        Raises:
            UnavailableError, GraphAccessError, SchemaError, ModelMismatchError: see `open`.
        """
        return await connect.health(self._state.context.services)

    def tenant(self, name: str) -> AsyncHandle:
        """Return a handle on the global scope of a tenant."""
        return AsyncHandle(on_tenant(self._state, name))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._state.end_sessions()
        try:
            await self._state.settle(error)
        finally:
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
            telemetry: receiver of metrics and traces instead of the settings' one.

        Raises:
            see `AsyncGraphMem.open`.
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
        chosen = instrumentation.chosen(known, telemetry)
        with instrumentation.opening(chosen):
            address = connect.address(known, on_progress)
            services = connect.open_services(known, address, on_progress, embedder, llm)
            context = run_now(connect.bound(instrumentation.watched(services, chosen), known))
            state = _state(context, known, on_commit, rules)
            watch(state, awaited=False)
            return cls(state)

    reconnect = blocking(AsyncGraphMem.reconnect)
    close = blocking(AsyncGraphMem.close)

    health = blocking(AsyncGraphMem.health)

    def tenant(self, name: str) -> Handle:
        """Return a handle on the global scope of a tenant."""
        return Handle(on_tenant(self._state, name))

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
