"""Handles: one scope of one tenant, with every operation on its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmem.client.admin import Admin, AsyncAdmin
from graphmem.client.belief_verbs import (
    AsyncBeliefVerbs,
    AsyncRejectionVerbs,
    BeliefVerbs,
    RejectionVerbs,
)
from graphmem.client.beliefs import AsyncBeliefs, Beliefs
from graphmem.client.episodes import AsyncEpisodes, Episodes
from graphmem.client.jobs import AsyncJobs, Jobs
from graphmem.client.memories import AsyncMemories, Memories
from graphmem.client.memory_verbs import AsyncMemoryVerbs, MemoryVerbs
from graphmem.client.namespaces import (
    Aliases,
    AsyncAliases,
    AsyncItems,
    AsyncPredicates,
    AsyncProposals,
    Items,
    Predicates,
    Proposals,
)
from graphmem.client.recall_verbs import AsyncRecallVerbs, RecallVerbs
from graphmem.client.state import HandleState, SessionState, valid, yes_or_no
from graphmem.client.usage import AsyncUsage, Usage
from graphmem.model import Name, Record, TenantScope, Trust
from graphmem.rules import drafts, identity

if TYPE_CHECKING:
    from graphmem.client.session import AsyncSession, Session


class _SessionName(Record):
    session_id: Name
    agent: Name | None = None


class _Writer(Record):
    trust: Trust


class AsyncHandle(
    AsyncMemoryVerbs, AsyncBeliefVerbs, AsyncRejectionVerbs, AsyncRecallVerbs, AsyncJobs
):
    """All operations on the memory of one tenant and scope, awaited."""

    @property
    def memories(self) -> AsyncMemories:
        """Read memories one by one and change their status."""
        return AsyncMemories(self._state)

    @property
    def beliefs(self) -> AsyncBeliefs:
        """Read beliefs one by one, and revise, split, merge or archive them."""
        return AsyncBeliefs(self._state)

    @property
    def predicates(self) -> AsyncPredicates:
        """Declare predicates."""
        return AsyncPredicates(self._state)

    @property
    def aliases(self) -> AsyncAliases:
        """Declare two names of one thing."""
        return AsyncAliases(self._state)

    @property
    def episodes(self) -> AsyncEpisodes:
        """Write, read, graduate and compress episodes."""
        return AsyncEpisodes(self._state)

    @property
    def proposals(self) -> AsyncProposals:
        """Review what an extraction proposed."""
        return AsyncProposals(self._state)

    @property
    def usage(self) -> AsyncUsage:
        """Log use, rate items by it, and prune what is not used."""
        return AsyncUsage(self._state)

    @property
    def admin(self) -> AsyncAdmin:
        """Export, import, verify, rebuild, count and erase a tenant's data."""
        return AsyncAdmin(self._state)

    @property
    def items(self) -> AsyncItems:
        """Store JSON items by namespace and key."""
        return AsyncItems(self._state)

    def scope(self, name: str, *, read_scopes: Sequence[str] | None = None) -> AsyncHandle:
        """Return a handle that writes to a scope.

        Args:
            name: write scope.
            read_scopes: scopes to read; the scope itself and `global` by default.
        """
        return AsyncHandle(on_scope(self._state, name, read_scopes))

    def session(
        self, session_id: str, *, agent: str | None = None, logged: bool = True
    ) -> AsyncSession:
        """Return a handle whose writes belong to a session; use it in `async with`.

        Args:
            session_id: your name for the session; the same name continues the same conversation.
            agent: name of the agent that works in the session, for the log.
            logged: False keeps the session's searches and accesses out of the log.
        """
        from graphmem.client.session import AsyncSession

        return AsyncSession(_in_session(self._state, session_id, agent, logged=logged))


class Handle(MemoryVerbs, BeliefVerbs, RejectionVerbs, RecallVerbs, Jobs):
    """All operations on the memory of one tenant and scope, blocking."""

    @property
    def memories(self) -> Memories:
        """Read memories one by one and change their status."""
        return Memories(self._state)

    @property
    def beliefs(self) -> Beliefs:
        """Read beliefs one by one, and revise, split, merge or archive them."""
        return Beliefs(self._state)

    @property
    def predicates(self) -> Predicates:
        """Declare predicates."""
        return Predicates(self._state)

    @property
    def aliases(self) -> Aliases:
        """Declare two names of one thing."""
        return Aliases(self._state)

    @property
    def episodes(self) -> Episodes:
        """Write, read, graduate and compress episodes."""
        return Episodes(self._state)

    @property
    def proposals(self) -> Proposals:
        """Review what an extraction proposed."""
        return Proposals(self._state)

    @property
    def usage(self) -> Usage:
        """Log use, rate items by it, and prune what is not used."""
        return Usage(self._state)

    @property
    def admin(self) -> Admin:
        """Export, import, verify, rebuild, count and erase a tenant's data."""
        return Admin(self._state)

    @property
    def items(self) -> Items:
        """Store JSON items by namespace and key."""
        return Items(self._state)

    def scope(self, name: str, *, read_scopes: Sequence[str] | None = None) -> Handle:
        """Return a handle that writes to a scope.

        Args:
            name: write scope.
            read_scopes: scopes to read; the scope itself and `global` by default.
        """
        return Handle(on_scope(self._state, name, read_scopes))

    def session(self, session_id: str, *, agent: str | None = None, logged: bool = True) -> Session:
        """Return a handle whose writes belong to a session; use it in `with`.

        Args:
            session_id: your name for the session; the same name continues the same conversation.
            agent: name of the agent that works in the session, for the log.
            logged: False keeps the session's searches and accesses out of the log.
        """
        from graphmem.client.session import Session

        return Session(_in_session(self._state, session_id, agent, logged=logged))


def on_tenant(state: HandleState, name: str, writer: Trust = "person") -> HandleState:
    """Return the state of a handle on the global scope of a tenant, for a writer of this trust."""
    moved = _moved(state, valid(TenantScope, tenant=name))
    return moved.with_trust(valid(_Writer, trust=writer).trust)


def on_scope(
    state: HandleState, name: str, read_scopes: Sequence[str] | None = None
) -> HandleState:
    """Return the state of a handle that writes to a scope of the same tenant."""
    tenant = state.context.tenant
    own = valid(TenantScope, tenant=tenant, scope=name).scope
    scopes = drafts.default_read_scopes(own) if read_scopes is None else read_scopes
    return _moved(state, valid(TenantScope, tenant=tenant, scope=own, scopes=scopes))


def _moved(state: HandleState, to: TenantScope) -> HandleState:
    return replace(state, context=replace(state.context, tenant_scope=to), session=None)


def _in_session(
    state: HandleState, session_id: str, agent: str | None, *, logged: bool
) -> HandleState:
    given = valid(_SessionName, session_id=session_id, agent=agent)
    episode_id = identity.episode_id(state.context.scope, given.session_id)
    session = SessionState(given.session_id, episode_id, agent=given.agent)
    return replace(state, session=session, logged=yes_or_no("logged", logged))
