"""Handles: one scope of one tenant, with every operation on its memory; and sessions of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self, cast

from graphmem.client import responding
from graphmem.client.admin import Admin, AsyncAdmin
from graphmem.client.arguments import (
    RoleMap,
    TrustClass,
    role_map,
)
from graphmem.client.belief_verbs import (
    AsyncBeliefVerbs,
    AsyncRejectionVerbs,
    BeliefVerbs,
    RejectionVerbs,
)
from graphmem.client.beliefs import AsyncBeliefs, Beliefs
from graphmem.client.episodes import AsyncEpisodes, Episodes
from graphmem.client.items import AsyncItems, Items
from graphmem.client.jobs import AsyncJobs, Jobs, extract_facts
from graphmem.client.memories import AsyncMemories, Memories
from graphmem.client.memory_verbs import AsyncMemoryVerbs, MemoryVerbs
from graphmem.client.namespace import blocking
from graphmem.client.proposals import AsyncProposals, Proposals
from graphmem.client.recall_verbs import (
    BLOCK_TOKENS,
    AsyncRecallVerbs,
    KindsLike,
    RecallVerbs,
    Tokens,
    token_counter,
)
from graphmem.client.responding import Complete
from graphmem.client.state import HandleState, SessionState
from graphmem.client.usage import AsyncUsage, Usage
from graphmem.client.vocabulary import Aliases, AsyncAliases, AsyncPredicates, Predicates
from graphmem.conversation.given import AnyMessage, given_messages
from graphmem.conversation.streaming import ReplyStream
from graphmem.conversation.tokens import CountTokens
from graphmem.errors import GraphmemError
from graphmem.model import (
    ChatReply,
    Name,
    TenantScope,
    TurnsReceipt,
)
from graphmem.ports import run_now
from graphmem.rules import drafts, identity
from graphmem.validation import valid, validated

log = logging.getLogger("graphmem")


class AsyncHandle(
    AsyncMemoryVerbs, AsyncBeliefVerbs, AsyncRejectionVerbs, AsyncRecallVerbs, AsyncJobs
):
    """All operations on the memory of one tenant and scope, awaited; errors as in `Handle`."""

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
        """Return a handle that writes to a scope; see `Handle.scope`."""
        return AsyncHandle(on_scope(self._state, name, read_scopes))

    def session(
        self,
        session_id: str,
        *,
        agent: str | None = None,
        logged: bool = True,
        shared: bool = False,
    ) -> AsyncSession:
        """Return a handle whose writes belong to a session; use it in `async with`.

        Args:
            session_id: your name for the session; the same name continues the same conversation.
            agent: name of the agent that works in the session, for the log.
            logged: False keeps the session's searches and accesses out of the log.
            shared: whether other processes log in the same session, as hooks of an agent do. What
                they log on a day (UTC) is then one session, which is over a day after its last
                entry.
        """
        return AsyncSession(
            _in_session(self._state, session_id, agent, logged=logged, shared=shared)
        )


class Handle(MemoryVerbs, BeliefVerbs, RejectionVerbs, RecallVerbs, Jobs):
    """All operations on the memory of one tenant and scope, blocking.

    Every method raises `InvalidInputError` if an argument is invalid, a cursor is not from a page,
    or the known time of a read is in the future; `NotFoundError` if nothing visible has an id, or
    had it at the time of a read; `ForeignScopeError` if it would change what belongs to another
    scope; `EventConflictError` if the id of its event was used for another event; `PersonOnlyError`
    if only a person may do it, and the handle was made for another writer.
    """

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

    def session(
        self,
        session_id: str,
        *,
        agent: str | None = None,
        logged: bool = True,
        shared: bool = False,
    ) -> Session:
        """Return a handle whose writes belong to a session; use it in `with`.

        Args:
            session_id: your name for the session; the same name continues the same conversation.
            agent: name of the agent that works in the session, for the log.
            logged: False keeps the session's searches and accesses out of the log.
            shared: whether other processes log in the same session, as hooks of an agent do. What
                they log on a day (UTC) is then one session, which is over a day after its last
                entry.
        """
        return Session(_in_session(self._state, session_id, agent, logged=logged, shared=shared))


@validated
def on_tenant(state: HandleState, tenant: Name, trust: TrustClass = "person") -> HandleState:
    """Return the state of a handle on the global scope of a tenant, for a writer of this trust."""
    return _moved(state, TenantScope(tenant=tenant)).with_trust(trust)


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


@validated
def _in_session(
    state: HandleState, session_id: Name, agent: Name | None, *, logged: bool, shared: bool
) -> HandleState:
    episode_id = identity.episode_id(state.context.scope, session_id)
    session = SessionState(session_id, episode_id, agent=agent, shared=shared)
    return replace(state, session=session, logged=logged)


class AsyncSession(AsyncHandle):
    """A handle whose writes belong to one episode, awaited."""

    @property
    def episode_id(self) -> str:
        """Id of the episode that holds the session's turns."""
        return responding.session_of(self._state).episode_id

    async def add_messages(
        self, messages: Iterable[AnyMessage], *, roles: RoleMap | None = None
    ) -> TurnsReceipt:
        """Add messages to the conversation verbatim, each once, in their order.

        Give the whole conversation, its last messages or its new ones. A plain message with an `id`
        or an `at` is recognised by it. Others are aligned with the conversation, messages of the
        system apart from it; one or two messages that repeat its end are new. Calls of tools become
        a text, images and files a placeholder; a model's thinking is left out.

        Args:
            messages: records, mappings of role, content and optionally name, at, id, or messages
                of OpenAI, Anthropic, LangChain or pydantic-ai.
            roles: what other roles mean; only `user` and `human` are people otherwise. Merged into
                the setting `message_roles`.

        Raises:
            InvalidInputError: a message is invalid; no message is added.
        """
        settings = self._state.context.services.settings
        given = given_messages(messages, role_map(settings, roles))
        return await responding.store_whole(self._state, given)

    async def respond(
        self,
        messages: Iterable[AnyMessage],
        complete: Complete,
        *,
        tokens: Tokens = BLOCK_TOKENS,
        count_tokens: CountTokens | None = None,
        kinds: KindsLike | None = None,
        extract: bool = True,
        roles: RoleMap | None = None,
    ) -> ChatReply | ReplyStream:
        """Answer a conversation with a model that is shown what is remembered; store both.

        Stores the messages, builds the block of `context`, calls `complete` with the messages and
        the block, and stores the reply. The block is a message of the system before the newest
        message of a person, never part of that, so that the prompt begins as in the call before.
        What the reply cites in brackets counts as opened. If `complete` raises, the messages stay
        stored, and a second call with the same messages does not store them again: messages that
        the conversation ends with are those that await the reply.

        Args:
            messages: the conversation so far, or its new messages; see `add_messages`.
            complete: calls a model. It receives the messages in your shape, with the block among
                them, as a list; `PromptMessages` describes its attributes. It returns a text, a
                message, a list of messages, or the object of a provider; or an iterator of the
                parts of a text, such as a generator: then `respond` returns a `ReplyStream` of
                them. With the async client it may be a coroutine function or return an async
                iterator; a plain function blocks the event loop.
            tokens: maximum size of the block; see `context`.
            count_tokens: counts tokens; see `context`.
            kinds: what is searched; see `context`. These messages are never a result.
            extract: extract evidence when the session is closed, by the language model if one is
                set, else by rules.
            roles: what other roles mean; see `add_messages`.

        Raises:
            InvalidInputError: an argument is invalid, or the reply is not a message.
        """
        chosen = responding.Reminding(tokens, token_counter(count_tokens), kinds)
        return await responding.respond(
            self._state,
            messages,
            complete,
            chosen,
            roles=role_map(self._state.context.services.settings, roles),
            extract=extract,
            is_async=isinstance(self, AsyncSession),
        )

    async def __aenter__(self) -> Self:
        await self._state.opened_episode()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the session: summarise its new turns and write its pending log entries.

        Other writes are committed already. Replies whose streams did not end are stored as far as
        they were taken. Extracts evidence first: by the language model if `respond` was called and
        one is set, else by rules, unless `session_facts` is off; the next extraction of the session
        reads the turns if that fails. If the summary fails, the next `episodes.summarise`,
        `graduate` or `compress` makes up for it. Failures are logged as warnings.
        """
        session = responding.session_of(self._state)
        await responding.close_streams(session)
        if error is None and session.extracts:
            await _extract(self)
        await self._state.summarise_turns()
        self._state.end_session()
        await self._state.settle(error)


class Session(Handle):
    """A handle whose writes belong to one episode; blocking twin of `AsyncSession`."""

    @property
    def episode_id(self) -> str:
        """Id of the episode that holds the session's turns."""
        return responding.session_of(self._state).episode_id

    add_messages = blocking(AsyncSession.add_messages)
    respond = blocking(AsyncSession.respond)

    def __enter__(self) -> Self:
        run_now(AsyncSession.__aenter__(cast("AsyncSession", self)))
        return self

    __exit__ = blocking(AsyncSession.__aexit__)


async def _extract(handle: AsyncSession) -> None:
    """Extract evidence; log a failure, which must not hide the replies of the session."""
    state, session = handle._state, responding.session_of(handle._state)
    why = ""
    try:
        if session.asks_model:
            session.asks_model = False
            why = "the language model failed" if (await AsyncJobs.extract(handle)).unread else ""
        elif session.has_new_turns and state.context.services.settings.session_facts:
            await extract_facts(state, session.session_id)
    except GraphmemError as error:
        why = error.code
    if why:
        name = session.session_id
        log.warning("Not all turns of session %r were read (%s); call `extract`.", name, why)
