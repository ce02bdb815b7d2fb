"""Answer a conversation with a model that is shown what is remembered, whole or in parts."""

from __future__ import annotations

import inspect
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, NamedTuple, TypeAlias

from graphmem.client.recall_verbs import CHOSEN, KindsLike, recalled, supply
from graphmem.client.state import HandleState, SessionState
from graphmem.conversation import blocks, storing
from graphmem.conversation.given import AnyMessage, GivenMessages, given_messages, given_reply
from graphmem.conversation.prompting import PromptMessages
from graphmem.conversation.streaming import ReplyStream
from graphmem.conversation.tokens import CountTokens
from graphmem.errors import GraphmemError, InvalidInputError
from graphmem.model import ChatReply, Context, Message, TurnsReceipt

Complete: TypeAlias = Callable[[PromptMessages], Any]
"""Calls a model with messages and returns its reply, an awaitable of it, or its parts."""

log = logging.getLogger("graphmem")


class Reminding(NamedTuple):
    """Options of a block; see `context`."""

    tokens: int
    count: CountTokens
    kinds: KindsLike | None


async def respond(
    state: HandleState,
    messages: Iterable[AnyMessage],
    complete: Complete,
    chosen: Reminding,
    *,
    roles: Mapping[str, str],
    extract: bool,
    is_async: bool,
) -> ChatReply | ReplyStream:
    """Store messages, call a model with the block about them, and store its reply.

    See `AsyncSession.respond`.
    """
    if not callable(complete):
        raise InvalidInputError("complete: must be a function of messages.")
    given = given_messages(messages, roles)
    asked = await store(state, given, repeats=False)

    def failed() -> None:
        """Note that these messages await a reply, so that a retry does not store them again."""
        state.attempts.setdefault(place(state), {})[tuple(given.messages)] = asked.turn_ids

    async def finish(reply: Any) -> ChatReply:
        answer = given_reply(reply, given, roles)
        after = asked.turn_ids[-1] if asked.turn_ids else None
        stored = await store(state, answer, after=after)
        state.attempts.pop(place(state), None)
        session = session_of(state)
        session.extracts = extract
        session.asks_model |= extract and state.context.services.llm is not None
        return ChatReply(
            reply=reply,
            text="\n".join(m.content for m in answer.messages if m.role == "assistant"),
            context=shown,
            receipt=_joined(asked, stored),
        )

    try:
        shown = await _remind(state, given.messages, asked.turn_ids, chosen)
        reply = complete(PromptMessages(given.read, shown.text))
        if inspect.isawaitable(reply):
            reply = await _awaited(reply, is_async=is_async)
        if isinstance(reply, AsyncIterator) and not is_async:
            raise InvalidInputError(
                "complete: must not return an async iterator.", hint="Use AsyncGraphMem for it."
            )
        if isinstance(reply, Iterator | AsyncIterator):
            failed()
            stream = ReplyStream(reply, shown, finish)
            session_of(state).streams.append(stream)
            return stream
        return await finish(reply)
    except BaseException:
        failed()
        raise


async def close_streams(session: SessionState) -> None:
    """Store what was taken of replies whose streams did not end; log a failure."""
    for stream in session.streams:
        try:
            await stream.aclose()
        except GraphmemError as error:
            log.warning("A reply of session %r was not stored: %s", session.session_id, error.code)
    session.streams.clear()


async def store_whole(state: HandleState, given: GivenMessages) -> TurnsReceipt:
    """Store messages that await no reply."""
    receipt = await store(state, given)
    state.attempts.pop(place(state), None)
    return receipt


async def store(
    state: HandleState, given: GivenMessages, *, repeats: bool = True, after: str | None = None
) -> TurnsReceipt:
    """Store messages; the caller forgets the attempt when the whole call has succeeded.

    What an assistant's message cites or repeats of the results of this session counts as opened.
    """
    episode_id = await state.opened_episode()
    new = storing.NewMessages(
        episode_id or "",
        given.messages,
        given.keyed,
        repeats,
        after,
        state.attempts.setdefault(place(state), {}),
    )
    receipt = await storing.add_messages(state.context, new)
    session = session_of(state)
    session.has_new_turns |= receipt.added > 0
    for message in given.messages if receipt.added else ():
        if message.role == "assistant" and message.content not in session.replies:
            session.replies.add(message.content)
            for label, item_id in session.shown.used_by(message.content):
                await state.accessed(label, item_id)
    return receipt.model_copy(update={"skipped": given.skipped, "notes": given.notes})


async def _remind(
    state: HandleState,
    messages: Sequence[Message],
    turn_ids: Collection[str],
    chosen: Reminding,
) -> Context:
    """Return the block about the newest question, without the turns of these messages."""
    question = blocks.question(messages)
    if not question:
        return Context(text="", ids=(), tokens=0, left_out=0, reason="no person asks anything")
    given = {
        "policy": "default",
        "limit": CHOSEN,
        "ends": True,
        "apart": frozenset(turn_ids),
        "kinds": chosen.kinds,
    }
    found = await recalled(state.context, question, given, vitality=True)
    return await supply(state, question, found, chosen.tokens, chosen.count)


async def _awaited(reply: Awaitable[Any], *, is_async: bool) -> Any:
    if is_async:
        return await reply
    if inspect.iscoroutine(reply):
        reply.close()
    raise InvalidInputError(
        "complete: must not be a coroutine function.", hint="Use AsyncGraphMem to await it."
    )


def _joined(asked: TurnsReceipt, stored: TurnsReceipt) -> TurnsReceipt:
    ids = dict.fromkeys((*asked.turn_ids, *stored.turn_ids))
    return TurnsReceipt(
        episode_id=asked.episode_id,
        turn_ids=tuple(ids),
        added=asked.added + stored.added,
        skipped=asked.skipped + stored.skipped,
        notes=tuple(dict.fromkeys((*asked.notes, *stored.notes))),
    )


def place(state: HandleState) -> tuple[str, str]:
    """Return the tenant and the episode of a session."""
    return state.context.tenant, state.session.episode_id if state.session else ""


def session_of(state: HandleState) -> SessionState:
    """Return the session of a handle that `session(name)` made."""
    if state.session is None:
        raise TypeError("a session handle is made by `session(name)`")
    return state.session
