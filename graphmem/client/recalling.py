"""The part of a handle that finds what fits a question."""

from __future__ import annotations

from typing import Annotated, TypedDict, Unpack

from pydantic import Field

from graphmem.client.given import recall_policy_of
from graphmem.client.state import State, blocking, bounded, valid
from graphmem.model import RecallPolicy, Recollection, Record, Text
from graphmem.operations import recall
from graphmem.rules import gathering

MOST_BITES = 1_000


class Looking(TypedDict, total=False):
    """Among what to look."""

    memories: bool
    """True unless given."""
    beliefs: bool
    """True unless given; a value that has lost its ONE slot gives its place to the leading one."""
    turns: bool
    """What was said in conversations, word for word."""
    hidden: bool
    """What was superseded, deprecated or outvoted too."""


class _Question(Record):
    query: Annotated[Text, Field(min_length=1, max_length=100_000, pattern=r"\S")]


class _Looking(Record):
    memories: bool = True
    beliefs: bool = True
    turns: bool = False
    hidden: bool = False


class AsyncRecalling:
    """What fits a question, awaited."""

    _state: State

    async def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        policy: str | RecallPolicy = "default",
        **looking: Unpack[Looking],
    ) -> Recollection:
        """Return what fits a question, best first, each once; nothing is written.

        Args:
            query: a question or some words.
            limit: 1 to 1,000.
            policy: how to rank: "default", "flat" (meaning alone), "trace" (meaning, and how often
                and how lately it was said), "esper" (meaning and belief), "engram" (words,
                meaning, recency and use, three at most), "agent" (relevance, recency, use), or one
                of your own.
            looking: among what to look.

        Raises:
            InvalidInputError: an argument does not fit, or no policy has this name.
        """
        question = valid(_Question, query=query)
        given = valid(_Looking, **looking)
        want = recall.Wanted(**dict(given), limit=bounded("limit", limit, MOST_BITES))
        found = await recall.recall(
            self._state.binding, question.query, want, recall_policy_of(policy)
        )
        if self._state.session is not None:
            self._state.session.supplied.update(gathering.hashes(found))
        return found


class Recalling:
    """What fits a question, blocking: the twin of `AsyncRecalling`."""

    _state: State

    recall = blocking(AsyncRecalling.recall)
