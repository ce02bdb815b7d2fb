"""The part of a handle that packs what is remembered for a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from graphmem.client.observing import Instrumented
from graphmem.client.recalling import Looking, Question, asked, hits
from graphmem.client.state import HandleState, blocking, bounded, listed, valid
from graphmem.errors import InvalidInputError
from graphmem.model import AsOf, Context, Message, RecallPolicy, Record
from graphmem.rules import context, identity


class _About(Record):
    about: Question


class AsyncContexts(Instrumented):
    """What is remembered for a prompt, awaited."""

    async def context(
        self,
        about: str | Iterable[Message | Mapping[str, Any]],
        *,
        tokens: int = 800,
        limit: int = 20,
        policy: str | RecallPolicy = "default",
        as_of: AsOf | None = None,
        **looking: Unpack[Looking],
    ) -> Context:
        """Return what fits a question as a block of text for a prompt, with the ids to cite.

        One line for each memory, belief and, when asked for, turn, best first: its id in brackets,
        what it is and when it was last said, and its text as a JSON string, so that it can
        neither end the block nor begin a line of it. A bite too long for what is left is passed
        over; the best one is cut. Left out is a belief that was only inferred by consolidation
        and has a retrieval strength under 0.05, which `recall` still finds. In a session, what
        was shown is no news when it comes back.

        Args:
            about: a question; or a conversation, of which the newest message that a person said
                is asked, together with those before it while it is short.
            tokens: 150 to 100,000; counted without a tokenizer, rather too many than too few.
            limit: bites to choose from, 1 to 1,000.
            policy: how to rank, see `recall`.
            as_of: answer as at this pair of times, see `recall`.
            looking: among what to look, see `recall`.

        Raises:
            InvalidInputError: an argument does not fit, see `recall`; or no person said anything.
        """
        room = bounded("tokens", tokens, context.MOST_TOKENS, least=context.LEAST_TOKENS)
        question = valid(_About, about=about).about if isinstance(about, str) else _question(about)
        # No session is told of it: what is found and then does not fit was not supplied.
        found = await asked(self._state.binding, question, limit, policy, as_of, looking)
        packed = context.packed(found, room)
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
    """What is remembered for a prompt, blocking: the twin of `AsyncContexts`."""

    _state: HandleState

    context = blocking(AsyncContexts.context)
