"""Handles: one scope of one tenant, with every operation on its memory; and sessions of them."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeAlias, cast

from graphmem.client.admin import Admin, AsyncAdmin
from graphmem.client.arguments import (
    AnyMessage,
    GivenMessages,
    PromptMessages,
    RoleMap,
    TrustClass,
    given_messages,
)
from graphmem.client.belief_verbs import (
    AsyncBeliefVerbs,
    AsyncRejectionVerbs,
    BeliefVerbs,
    RejectionVerbs,
)
from graphmem.client.beliefs import AsyncBeliefs, Beliefs
from graphmem.client.episodes import AsyncEpisodes, Episodes
from graphmem.client.jobs import AsyncJobs, Jobs, extract_facts
from graphmem.client.memories import AsyncMemories, Memories
from graphmem.client.memory_verbs import AsyncMemoryVerbs, MemoryVerbs
from graphmem.client.namespace import blocking
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
from graphmem.client.recall_verbs import (
    MAX_BITES,
    AsyncRecallVerbs,
    KindsLike,
    RecallVerbs,
    Tokens,
    recalled,
    supply,
    token_counter,
)
from graphmem.client.state import HandleState, SessionState
from graphmem.client.usage import AsyncUsage, Usage
from graphmem.client.validation import valid, validated
from graphmem.errors import GraphmemError, InvalidInputError
from graphmem.model import (
    ChatReply,
    Context,
    Message,
    Name,
    TenantScope,
    TurnsReceipt,
)
from graphmem.operations import episode
from graphmem.ports import run_now
from graphmem.rules import absence, alignment, context, drafts, identity, transcripts
from graphmem.rules import messages as reading
from graphmem.rules.context import CountTokens


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
        return Session(_in_session(self._state, session_id, agent, logged=logged))


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
    state: HandleState, session_id: Name, agent: Name | None, *, logged: bool
) -> HandleState:
    episode_id = identity.episode_id(state.context.scope, session_id)
    return replace(state, session=SessionState(session_id, episode_id, agent=agent), logged=logged)


Complete: TypeAlias = Callable[[PromptMessages], Any]
"""Calls a model with messages and returns its reply, or an awaitable of it."""
RECALLED = 20
"""Number of items to choose from for a block."""

log = logging.getLogger("graphmem")


class AsyncSession(AsyncHandle):
    """A handle whose writes belong to one episode, awaited."""

    @property
    def episode_id(self) -> str:
        """Id of the episode that holds the session's turns."""
        return _session(self).episode_id

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
        receipt = await _store(self._state, given_messages(messages, roles, settings))
        self._state.attempts.pop(_place(self._state), None)
        return receipt

    async def respond(
        self,
        messages: Iterable[AnyMessage],
        complete: Complete,
        *,
        tokens: Tokens = 800,
        count_tokens: CountTokens | None = None,
        kinds: KindsLike | None = None,
        extract: bool = True,
        roles: RoleMap | None = None,
    ) -> ChatReply:
        """Answer a conversation with a model that is shown what is remembered; store both.

        Stores the messages, builds the block of `context`, calls `complete` with the messages and
        the block, and stores the reply. The block is a message of the system after those at the
        start, never part of a person's words. If `complete` raises, the messages stay stored, and
        a second call with the same messages does not store them again: messages that the
        conversation ends with are those that await the reply.

        Args:
            messages: the conversation so far, or its new messages; see `add_messages`.
            complete: calls a model. It receives the messages in your shape, with the block among
                them, as a list; `PromptMessages` describes its attributes. It returns a text, a
                message, a list of messages, or the object of a provider. With the async client it
                may be a coroutine function; a plain function blocks the event loop.
            tokens: maximum size of the block; see `context`.
            count_tokens: counts tokens; see `context`.
            kinds: what is searched; see `context`. These messages are never a result.
            extract: extract evidence when the session is closed, by the language model if one is
                set, else by rules.
            roles: what other roles mean; see `add_messages`.

        Raises:
            InvalidInputError: an argument is invalid, or the reply is not a message.
        """
        state = self._state
        if not callable(complete):
            raise InvalidInputError("complete: must be a function of messages.")
        count = token_counter(count_tokens)
        given = given_messages(messages, roles, state.context.services.settings)
        asked = await _store(state, given, repeats=False)
        try:
            shown = await _remind(state, given.messages, asked.turn_ids, tokens, count, kinds)
            reply = complete(PromptMessages(given.originals, shown.text))
            if inspect.isawaitable(reply):
                reply = await _awaited(reply, is_async=isinstance(self, AsyncSession))
            answer = _reply(reply, given, roles, state)
            after = asked.turn_ids[-1] if asked.turn_ids else None
            stored = await _store(state, answer, after=after)
        except BaseException:
            state.attempts.setdefault(_place(state), {})[tuple(given.messages)] = asked.turn_ids
            raise
        state.attempts.pop(_place(state), None)
        session = _session(self)
        session.extracts = extract
        session.asks_model |= extract and state.context.services.llm is not None
        return ChatReply(
            reply=reply,
            text="\n".join(m.content for m in answer.messages if m.role == "assistant"),
            context=shown,
            receipt=_joined(asked, stored),
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

        Other writes are committed already. Extracts evidence first: by the language model if
        `respond` was called and one is set, else by rules, unless `session_facts` is off; the next
        extraction of the session reads the turns if that fails. If the summary fails, the next
        `episodes.summarise`, `graduate` or `compress` makes up for it. Either failure is logged as
        a warning.
        """
        if error is None and _session(self).extracts:
            await _extract(self)
        await self._state.summarise_turns()
        self._state.end_session()
        await self._state.settle(error)


class Session(Handle):
    """A handle whose writes belong to one episode; blocking twin of `AsyncSession`."""

    @property
    def episode_id(self) -> str:
        """Id of the episode that holds the session's turns."""
        return _session(self).episode_id

    add_messages = blocking(AsyncSession.add_messages)
    respond = blocking(AsyncSession.respond)

    def __enter__(self) -> Self:
        run_now(AsyncSession.__aenter__(cast("AsyncSession", self)))
        return self

    __exit__ = blocking(AsyncSession.__aexit__)


async def _extract(handle: AsyncSession) -> None:
    """Extract evidence; log a failure, which must not hide the replies of the session."""
    state, session = handle._state, _session(handle)
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


async def _store(
    state: HandleState, given: GivenMessages, *, repeats: bool = True, after: str | None = None
) -> TurnsReceipt:
    """Store messages; the caller forgets the attempt when the whole call has succeeded."""
    episode_id = await state.opened_episode()
    new = episode.NewMessages(
        episode_id or "",
        given.messages,
        given.keyed,
        repeats,
        after,
        state.attempts.setdefault(_place(state), {}),
    )
    receipt = await episode.add_messages(state.context, new)
    if state.session is not None:
        state.session.has_new_turns |= receipt.added > 0
    return receipt.model_copy(update={"skipped": given.skipped, "notes": given.notes})


async def _remind(
    state: HandleState,
    messages: Sequence[Message],
    turn_ids: Collection[str],
    tokens: int,
    count: CountTokens,
    kinds: KindsLike | None,
) -> Context:
    """Return the block about the newest question, without the turns of these messages."""
    question = context.question(messages)
    if not question:
        return Context(text="", ids=(), tokens=0, left_out=0, reason="no person asks anything")
    given = {"policy": "default", "limit": min(RECALLED + len(turn_ids), MAX_BITES), "kinds": kinds}
    found = await recalled(state.context, question, given, vitality=True)
    others = tuple(bite for bite in found.bites if bite.id not in turn_ids)[:RECALLED]
    return await supply(state, question, absence.left(found, others), tokens, count)


async def _awaited(reply: Awaitable[Any], *, is_async: bool) -> Any:
    if is_async:
        return await reply
    if inspect.iscoroutine(reply):
        reply.close()
    raise InvalidInputError(
        "complete: must not be a coroutine function.", hint="Use AsyncGraphMem to await it."
    )


def _reply(
    reply: Any, given: GivenMessages, roles: RoleMap | None, state: HandleState
) -> GivenMessages:
    """Return the messages of a reply; words that no given message has are not a person's."""
    try:
        found = given_messages(
            cast("Iterable[AnyMessage]", reading.reply_messages(reply)),
            roles,
            state.context.services.settings,
        )
    except InvalidInputError as error:
        raise InvalidInputError(
            f"complete: the reply is not a message: {error.message}", hint=error.hint
        ) from None
    asked = [transcripts.message_key(message) for message in given.messages]
    replied = [transcripts.message_key(message) for message in found.messages]
    known = set(asked)
    made = [
        message.model_copy(update={"role": "assistant"})
        if transcripts.is_human(message.role) and key not in known
        else message
        for message, key in zip(found.messages, replied, strict=True)
    ]
    # Some libraries return the question too. Ids of replies do not come back with them.
    made = made[alignment.overlap(replied, asked) :]
    notes = tuple(f"reply, {one}" if one.startswith("message ") else one for one in found.notes)
    return found._replace(messages=made, keyed=[False] * len(made), notes=notes)


def _joined(asked: TurnsReceipt, stored: TurnsReceipt) -> TurnsReceipt:
    ids = dict.fromkeys((*asked.turn_ids, *stored.turn_ids))
    return TurnsReceipt(
        episode_id=asked.episode_id,
        turn_ids=tuple(ids),
        added=asked.added + stored.added,
        skipped=asked.skipped + stored.skipped,
        notes=tuple(dict.fromkeys((*asked.notes, *stored.notes))),
    )


def _place(state: HandleState) -> tuple[str, str]:
    """Return the tenant and the episode of a session."""
    return state.context.tenant, state.session.episode_id if state.session else ""


def _session(handle: AsyncHandle | Handle) -> SessionState:
    session = handle._state.session
    if session is None:
        raise TypeError("a session handle is made by `session(name)`")
    return session
