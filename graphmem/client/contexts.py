"""Methods of a handle that build prompt text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem.client.observing import Instrumented
from graphmem.client.recalling import PolicyName, Question, asked, hits
from graphmem.client.state import HandleState, blocking, bounded, listed, valid
from graphmem.errors import InvalidInputError
from graphmem.model import AsOf, Context, Message, RecallPolicy, Record
from graphmem.rules import context, identity


class _About(Record):
    about: Question


class AsyncContexts(Instrumented):
    """Methods that build prompt text, awaited."""

    async def context(
        self,
        about: str | Iterable[Message | Mapping[str, Any]],
        *,
        tokens: int = 800,
        limit: int = 20,
        policy: PolicyName | RecallPolicy = "default",
        as_of: AsOf | None = None,
        memories: bool = True,
        beliefs: bool = True,
        turns: bool = False,
        hidden: bool = False,
        tags: Sequence[str] = (),
        source: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        scopes: Sequence[str] | None = None,
    ) -> Context:
        """Return the items that match a question as a block of text for a prompt, with their ids.

        The block has one line for each memory, belief and, on request, turn, best first: the id in
        brackets, the kind, when it was last stated, and the text as a JSON string, so that a text
        can neither end the block nor begin a line. Items that do not fit into the remaining tokens
        are skipped; the best item is cut. A belief that only consolidation inferred and whose
        retrieval strength is below 0.05 is left out; `recall` still returns it. Within a session,
        text that was returned here is rejected as an echo if it is submitted again.

        Args:
            about: a question, or the messages of a conversation: its newest message of a person is
                the question, together with earlier ones while it is short.
            tokens: maximum size, 150 to 100,000 tokens; the estimate rather exceeds the real count.
            limit: maximum number of items to choose from, 1 to 1,000.
            policy: ranking; see `recall`.
            as_of: answer as of this valid and known time; see `recall`.
            memories: search memories.
            beliefs: search beliefs; a value that lost its ONE slot is replaced by the leader.
            turns: search the turns of conversations.
            hidden: include superseded, deprecated, archived and outvoted items.
            tags: return only memories with all of these tags.
            source: return only memories and beliefs with an event from this source.
            since: return only items created, or turns written, at or after this time.
            until: return only items created, or turns written, before this time.
            scopes: search only these of the handle's read scopes; all of them by default.

        Raises:
            InvalidInputError: an argument is invalid, see `recall`; or no message is of a person.
        """
        room = bounded("tokens", tokens, context.MAX_TOKENS, least=context.MIN_TOKENS)
        question = valid(_About, about=about).about if isinstance(about, str) else _question(about)
        # The session is not updated here: items that do not fit are not supplied.
        found = await asked(
            self._state.binding,
            question,
            limit,
            policy,
            as_of,
            memories=memories,
            beliefs=beliefs,
            turns=turns,
            hidden=hidden,
            tags=tags,
            source=source,
            since=since,
            until=until,
            scopes=scopes,
        )
        packed = context.pack_context(found, room)
        if self._state.session is not None:
            self._state.session.supplied.update(map(identity.content_hash, packed.supplied))
        shown = [bite for bite in found.bites if bite.id in packed.context.ids]
        await self._state.searched("context", question, hits(shown))
        return packed.context


def _question(messages: Iterable[Message | Mapping[str, Any]]) -> str:
    asked = context.question(listed(messages))
    if not asked:
        raise InvalidInputError(
            "messages: no person said anything in them.",
            hint="Give a conversation with a message of role `user`, or a question as a text.",
        )
    return asked


class Contexts:
    """Methods that build prompt text; blocking twin of `AsyncContexts`."""

    _state: HandleState

    context = blocking(AsyncContexts.context)
