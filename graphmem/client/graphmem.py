"""The clients: open a memory, choose a tenant and a scope."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypedDict, TypeVar, Unpack

from graphmem.client import connect, exiting, observing
from graphmem.client.access_log import AccessLog
from graphmem.client.handle import AsyncHandle, Handle
from graphmem.client.session import AsyncSession, Session
from graphmem.client.state import HandleState, OnCommit, SessionState, blocking, valid, yes_or_no
from graphmem.model import Name, Record, TenantScope
from graphmem.ports import run_now
from graphmem.rules import drafts, hygiene, identity

if TYPE_CHECKING:
    from graphmem.ports import Embedder, Llm, Telemetry
    from graphmem.settings import Settings

H = TypeVar("H", bound="AsyncGraphMem | GraphMem")


class Opening(TypedDict, total=False):
    """How a memory is opened; every part is optional."""

    report: Callable[[str], None]
    """Told what takes long, one line at a time."""
    on_commit: OnCommit
    """Called after each committed text; what it raises is logged and changes nothing."""
    rules: Sequence[hygiene.Rule]
    """Hygiene rules on top of graphmem's own."""
    embedder: Embedder
    """A model of your own in place of the settings'."""
    llm: Llm
    """A language model of your own in place of the settings'."""
    telemetry: Telemetry
    """Who is told what is done, in place of the settings' metrics and traces."""


class _SessionName(Record):
    session_id: Name
    agent: Name | None = None


class AsyncGraphMem(AsyncHandle):
    """A memory in Neo4j, awaited. Handles made from it share its connections."""

    @classmethod
    async def open(cls, settings: Settings | None = None, **opening: Unpack[Opening]) -> Self:
        """Connect and return a handle on the settings' tenant and scope.

        Without a URI the managed local server is started, and its schema kept up to date.

        Raises:
            ConfigurationError: settings or model do not fit.
            LocalServerError, GraphUnavailableError, GraphAccessError: no server.
            MigrationPendingError: a server of yours needs `graphmem admin migrate`.
            ModelMismatchError: another embedding model filled the graph.
        """
        known = settings or connect.settings()
        telemetry = observing.chosen(known, opening.get("telemetry"))
        with observing.opening(telemetry):
            report = opening.get("report", connect.silent)
            address = await asyncio.to_thread(connect.address, known, report)
            models = opening.get("embedder"), opening.get("llm")
            world = connect.awaited_world(known, address, report, *models)
            binding = await connect.bound(observing.watched(world, telemetry), known)
            state = _state(binding, known, opening)
            exiting.watch(state, awaited=True)
            return cls(state)

    async def reconnect(self) -> None:
        """Find the server again; the managed one is started when it does not run.

        A lost connection comes back by itself, also without this. The managed server may answer
        elsewhere after a new start: all handles and sessions of this client go on there.

        Raises:
            UnavailableError, GraphAccessError, SchemaError, ModelMismatchError: see `open`; it may
                be tried again.
        """
        await connect.again(self._state.binding.world)

    async def close(self) -> None:
        """End the sessions, write what of the log waits, and give the connections back.

        The server goes on.

        Raises:
            UnavailableError: the log could not be written; the connections are given back all the
                same.
        """
        self._state.end_sessions()
        try:
            await self._state.flush()
        finally:
            await self._state.close()

    def tenant(self, name: str) -> Self:
        """Return a handle on another tenant, on its global scope."""
        return _on_tenant(self, name)

    def scope(self, name: str, *, see: Sequence[str] | None = None) -> Self:
        """Return a handle that writes to a scope and reads it and `global`, or what `see` names."""
        return _on_scope(self, name, see)

    def session(
        self, session_id: str, *, agent: str | None = None, logged: bool = True
    ) -> AsyncSession:
        """Return a handle whose writes occur in this session; use it in `async with`.

        Args:
            session_id: a name of yours; the same one goes on with the same conversation.
            agent: who works in it, for the log.
            logged: False keeps its searches and accesses out of the log.
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
    """A memory in Neo4j, blocking. Handles made from it share its connections."""

    @classmethod
    def open(cls, settings: Settings | None = None, **opening: Unpack[Opening]) -> Self:
        """Connect and return a handle; see `AsyncGraphMem.open`."""
        known = settings or connect.settings()
        telemetry = observing.chosen(known, opening.get("telemetry"))
        with observing.opening(telemetry):
            report = opening.get("report", connect.silent)
            address = connect.address(known, report)
            models = opening.get("embedder"), opening.get("llm")
            world = connect.blocking_world(known, address, report, *models)
            binding = run_now(connect.bound(observing.watched(world, telemetry), known))
            state = _state(binding, known, opening)
            exiting.watch(state, awaited=False)
            return cls(state)

    reconnect = blocking(AsyncGraphMem.reconnect)
    close = blocking(AsyncGraphMem.close)

    def tenant(self, name: str) -> Self:
        """Return a handle on another tenant, on its global scope."""
        return _on_tenant(self, name)

    def scope(self, name: str, *, see: Sequence[str] | None = None) -> Self:
        """Return a handle that writes to a scope and reads it and `global`, or what `see` names."""
        return _on_scope(self, name, see)

    def session(self, session_id: str, *, agent: str | None = None, logged: bool = True) -> Session:
        """Return a handle whose writes occur in this session; use it in `with`.

        Args:
            session_id: a name of yours; the same one goes on with the same conversation.
            agent: who works in it, for the log.
            logged: False keeps its searches and accesses out of the log.
        """
        return Session(_in_session(self._state, session_id, agent, logged=logged))

    def __enter__(self) -> Self:
        return self

    __exit__ = blocking(AsyncGraphMem.__aexit__)


def _state(binding: connect.RequestContext, settings: Settings, opening: Opening) -> HandleState:
    hook = opening.get("on_commit")
    own = hygiene.default_rules(settings.min_content_chars, settings.max_content_chars)
    return HandleState(
        binding=binding,
        rules=(*own, *opening.get("rules", ())),
        hooks=(hook,) if hook else (),
        accesses=AccessLog(binding.world.telemetry),
    )


def _on_tenant(handle: H, name: str) -> H:
    return _on_wall(handle, valid(TenantScope, tenant=name))


def _on_scope(handle: H, name: str, see: Sequence[str] | None) -> H:
    tenant = handle._state.binding.wall.tenant
    own = valid(TenantScope, tenant=tenant, scope=name).scope
    scopes = drafts.visible(own) if see is None else see
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
