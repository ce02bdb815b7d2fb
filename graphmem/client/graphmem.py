"""Clients: open a connection, choose a tenant and a scope."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from graphmem.client import connect, exiting, observing
from graphmem.client.access_log import AccessLog
from graphmem.client.handle import AsyncHandle, Handle
from graphmem.client.session import AsyncSession, Session
from graphmem.client.state import HandleState, OnCommit, SessionState, blocking, valid, yes_or_no
from graphmem.model import Name, Record, TenantScope
from graphmem.ports import RequestContext, run_now
from graphmem.rules import drafts, hygiene, identity

if TYPE_CHECKING:
    from graphmem.ports import Embedder, Llm, Telemetry
    from graphmem.settings import Settings

H = TypeVar("H", bound="AsyncGraphMem | GraphMem")


class _SessionName(Record):
    session_id: Name
    agent: Name | None = None


class AsyncGraphMem(AsyncHandle):
    """An agent memory in Neo4j, awaited. Its handles share its connections."""

    @classmethod
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        report: Callable[[str], None] = connect.silent,
        on_commit: OnCommit | None = None,
        rules: Sequence[hygiene.Rule] = (),
        embedder: Embedder | None = None,
        llm: Llm | None = None,
        telemetry: Telemetry | None = None,
    ) -> Self:
        """Connect, and return a handle on the tenant and scope of the settings.

        Without a URI the managed local server is started and its schema is kept up to date.

        Args:
            settings: settings to use; by default those of the environment.
            report: called with one line of text before each slow step.
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
        known = settings or connect.settings()
        chosen = observing.chosen(known, telemetry)
        with observing.opening(chosen):
            address = await asyncio.to_thread(connect.address, known, report)
            world = connect.awaited_world(known, address, report, embedder, llm)
            binding = await connect.bound(observing.watched(world, chosen), known)
            state = _state(binding, known, on_commit, rules)
            exiting.watch(state, awaited=True)
            return cls(state)

    async def reconnect(self) -> None:
        """Connect again; the managed server is started if it does not run.

        A lost connection comes back without this call. The managed server may use another port
        after a new start: all handles and sessions of this client then use it.

        Raises:
            UnavailableError, GraphAccessError, SchemaError, ModelMismatchError: see `open`; the
                call can be repeated.
        """
        await connect.again(self._state.binding.world)

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

    def tenant(self, name: str) -> Self:
        """Return a handle on the global scope of another tenant."""
        return _on_tenant(self, name)

    def scope(self, name: str, *, see: Sequence[str] | None = None) -> Self:
        """Return a handle that writes to a scope and reads it and `global`, or `see`."""
        return _on_scope(self, name, see)

    def session(
        self, session_id: str, *, agent: str | None = None, logged: bool = True
    ) -> AsyncSession:
        """Return a handle whose writes belong to a session; use it in `async with`.

        Args:
            session_id: your name for the session; the same name continues the same conversation.
            agent: name of the agent that works in the session, for the log.
            logged: False keeps the session's searches and accesses out of the log.
        """
        return AsyncSession(_in_session(self._state, session_id, agent, logged=logged))

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
    """An agent memory in Neo4j, blocking. Its handles share its connections."""

    @classmethod
    def open(
        cls,
        settings: Settings | None = None,
        *,
        report: Callable[[str], None] = connect.silent,
        on_commit: OnCommit | None = None,
        rules: Sequence[hygiene.Rule] = (),
        embedder: Embedder | None = None,
        llm: Llm | None = None,
        telemetry: Telemetry | None = None,
    ) -> Self:
        """Connect, and return a handle on the tenant and scope of the settings.

        Without a URI the managed local server is started and its schema is kept up to date.

        Args:
            settings: settings to use; by default those of the environment.
            report: called with one line of text before each slow step.
            on_commit: called after each committed text; an error in it is logged and has no effect.
            rules: hygiene rules in addition to the built-in ones.
            embedder: embedding model to use instead of the settings' one.
            llm: language model to use instead of the settings' one.
            telemetry: receiver of metrics and traces instead of the settings' one.

        Raises:
            see `AsyncGraphMem.open`.
        """
        known = settings or connect.settings()
        chosen = observing.chosen(known, telemetry)
        with observing.opening(chosen):
            address = connect.address(known, report)
            world = connect.blocking_world(known, address, report, embedder, llm)
            binding = run_now(connect.bound(observing.watched(world, chosen), known))
            state = _state(binding, known, on_commit, rules)
            exiting.watch(state, awaited=False)
            return cls(state)

    reconnect = blocking(AsyncGraphMem.reconnect)
    close = blocking(AsyncGraphMem.close)

    def tenant(self, name: str) -> Self:
        """Return a handle on the global scope of another tenant."""
        return _on_tenant(self, name)

    def scope(self, name: str, *, see: Sequence[str] | None = None) -> Self:
        """Return a handle that writes to a scope and reads it and `global`, or `see`."""
        return _on_scope(self, name, see)

    def session(self, session_id: str, *, agent: str | None = None, logged: bool = True) -> Session:
        """Return a handle whose writes belong to a session; use it in `with`.

        Args:
            session_id: your name for the session; the same name continues the same conversation.
            agent: name of the agent that works in the session, for the log.
            logged: False keeps the session's searches and accesses out of the log.
        """
        return Session(_in_session(self._state, session_id, agent, logged=logged))

    def __enter__(self) -> Self:
        return self

    __exit__ = blocking(AsyncGraphMem.__aexit__)


def _state(
    binding: RequestContext,
    settings: Settings,
    on_commit: OnCommit | None,
    rules: Sequence[hygiene.Rule],
) -> HandleState:
    own = hygiene.default_rules(settings.min_content_chars, settings.max_content_chars)
    return HandleState(
        binding=binding,
        rules=(*own, *rules),
        hooks=(on_commit,) if on_commit else (),
        accesses=AccessLog(binding.world.telemetry),
    )


def _on_tenant(handle: H, name: str) -> H:
    return _on_wall(handle, valid(TenantScope, tenant=name))


def _on_scope(handle: H, name: str, see: Sequence[str] | None) -> H:
    tenant = handle._state.binding.wall.tenant
    own = valid(TenantScope, tenant=tenant, scope=name).scope
    scopes = drafts.default_read_scopes(own) if see is None else see
    return _on_wall(handle, valid(TenantScope, tenant=tenant, scope=own, scopes=scopes))


def _on_wall(handle: H, wall: TenantScope) -> H:
    binding = replace(handle._state.binding, wall=wall)
    return type(handle)(replace(handle._state, binding=binding))


def _in_session(
    state: HandleState, session_id: str, agent: str | None, *, logged: bool
) -> HandleState:
    given = valid(_SessionName, session_id=session_id, agent=agent)
    episode_id = identity.episode_id(state.binding.wall.scope, given.session_id)
    session = SessionState(given.session_id, episode_id, agent=given.agent)
    return replace(state, session=session, logged=yes_or_no("logged", logged))
