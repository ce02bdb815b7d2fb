"""The part of a handle that finds what fits a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, TypedDict, Unpack

from pydantic import Field, Strict

from graphmem.client.given import moment_of, recall_policy_of
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, bounded, valid
from graphmem.errors import InvalidInputError
from graphmem.model import (
    AnyBite,
    AsOf,
    Instant,
    Name,
    RecallPolicy,
    Recollection,
    Record,
    Tags,
    TenantScope,
    Text,
)
from graphmem.operations import recall
from graphmem.operations.access_log import SearchHit
from graphmem.ports import RequestContext
from graphmem.rules import identity, transcripts

MOST_BITES = 1_000
Flag = Annotated[bool, Strict()]


class Looking(TypedDict, total=False):
    """Among what to look."""

    memories: bool
    """True unless given."""
    beliefs: bool
    """True unless given; a value that has lost its ONE slot gives its place to the leading one."""
    turns: bool
    """What was said in conversations, word for word."""
    hidden: bool
    """What was superseded, deprecated, archived or outvoted too."""

    tags: Sequence[str]
    """All of them must be there: only among memories."""
    source: str
    """One of the events must come from it: only among memories and beliefs."""
    since: datetime
    """Created, or said, then or later."""
    until: datetime
    """Created, or said, before."""
    scopes: Sequence[str]
    """Some of those that the handle sees; all of them unless given."""


Question = Annotated[Text, Field(min_length=1, max_length=100_000, pattern=r"\S")]
"""Of which at least one character is no space."""


class _Question(Record):
    query: Question


class _Looking(Record):
    memories: Flag = True
    beliefs: Flag = True
    turns: Flag = False
    hidden: Flag = False
    tags: Tags = ()
    source: Name | None = None
    since: Instant | None = None
    until: Instant | None = None
    scopes: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None


class AsyncRecalling(Instrumented):
    """What fits a question, awaited."""

    async def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        policy: str | RecallPolicy = "default",
        as_of: AsOf | None = None,
        **looking: Unpack[Looking],
    ) -> Recollection:
        """Return what fits a question, best first, each once.

        Nothing is written but the search log, later, with others (see `expand`).

        Args:
            query: a question or some words.
            limit: 1 to 1,000.
            policy: how to rank: "default", "flat" (meaning alone), "trace" (meaning, and how often
                and how lately it was said), "esper" (meaning and belief), "engram" (words,
                meaning, recency and use, three at most), "agent" (relevance, recency, use), or one
                of your own.
            as_of: answer as it would have been answered at this pair of times, which fades, ranks
                and supersedes as it did then; wordings and tags are those of now.
            looking: among what to look.

        Raises:
            InvalidInputError: an argument does not fit, no policy has this name, the handle does
                not see a scope, or nobody knows yet what will be known at `as_of`.
        """
        found = await asked(self._state.binding, query, limit, policy, as_of, looking)
        if self._state.session is not None:
            self._state.session.supplied.update(transcripts.bite_hashes(found))
        await self._state.searched("recall", query, hits(found.bites))
        return found


async def asked(
    to: RequestContext,
    query: str,
    limit: int,
    policy: str | RecallPolicy,
    as_of: AsOf | None,
    looking: Looking,
) -> Recollection:
    """Return what `AsyncRecalling.recall` does; no session is told what was found."""
    question = valid(_Question, query=query).query
    wanted = valid(_Looking, **looking)
    want = recall.RecallRequest(
        **wanted.model_dump(exclude={"scopes"}),
        as_of=moment_of(as_of),
        limit=bounded("limit", limit, MOST_BITES),
    )
    return await recall.recall(_within(to, wanted.scopes), question, want, recall_policy_of(policy))


def hits(bites: Iterable[AnyBite]) -> Iterator[SearchHit]:
    """Yield bites as the log keeps them; nothing is hashed while there is no log."""
    for bite in bites:
        content_hash = identity.content_hash(bite.text)
        yield SearchHit(bite.kind.capitalize(), bite.id, bite.similarity, content_hash)


def _within(to: RequestContext, scopes: tuple[str, ...] | None) -> RequestContext:
    """Return the binding, seeing no more than these scopes.

    Raises:
        InvalidInputError: it does not see one of them.
    """
    if scopes is None:
        return to
    if unseen := [scope for scope in scopes if scope not in to.wall.scopes]:
        raise InvalidInputError(
            f"scopes: this handle does not see {unseen[0]!r}.",
            hint=f"It sees {', '.join(map(repr, to.wall.scopes))}; `scope(…, see=…)` opens more.",
        )
    return replace(to, wall=TenantScope(tenant=to.wall.tenant, scope=to.wall.scope, scopes=scopes))


class Recalling:
    """What fits a question, blocking: the twin of `AsyncRecalling`."""

    _state: HandleState

    recall = blocking(AsyncRecalling.recall)
