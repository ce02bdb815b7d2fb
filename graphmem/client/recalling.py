"""Methods of a handle that search memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from graphmem.client.given import moment_of, recall_policy_of
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, bounded, valid, yes_or_no
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
FLAGS = ("memories", "beliefs", "turns", "hidden")
PolicyName: TypeAlias = Literal["default", "flat", "trace", "esper", "engram", "agent"]


Question = Annotated[Text, Field(min_length=1, max_length=100_000, pattern=r"\S")]
"""Of which at least one character is no space."""


class _Question(Record):
    query: Question


class _Filters(Record):
    memories: bool
    beliefs: bool
    turns: bool
    hidden: bool
    tags: Tags
    source: Name | None
    since: Instant | None
    until: Instant | None
    scopes: Annotated[tuple[Name, ...], Field(min_length=1)] | None


class AsyncRecalling(Instrumented):
    """Methods that search memory, awaited."""

    async def recall(
        self,
        query: str,
        *,
        limit: int = 10,
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
    ) -> Recollection:
        """Return the items that match a question, best first, each once.

        The search is written to the search log later, together with other entries; see `expand`.

        Args:
            query: a question or some words.
            limit: maximum number of results, 1 to 1,000.
            policy: ranking: "default", "flat" (vector only), "trace" (vector and TraceRank),
                "esper" (vector and belief), "engram" (BM25, vector, recency and use, at most
                three results), "agent" (relevance, recency, use), or a policy of your own.
            as_of: answer as of this valid and known time: decay, ranking and supersession use the
                state at that time; text and tags are current.
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
            InvalidInputError: an argument is invalid, a scope is not a read scope of the handle,
                or `as_of.known` is in the future.
        """
        found = await asked(
            self._state.binding,
            query,
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
    **given: Any,
) -> Recollection:
    """Return the result of `AsyncRecalling.recall`; the session and the log are not updated."""
    question = valid(_Question, query=query).query
    flags = {name: yes_or_no(name, given[name]) for name in FLAGS}
    filters = valid(_Filters, **given | flags)
    want = recall.RecallRequest(
        **filters.model_dump(exclude={"scopes"}),
        as_of=moment_of(as_of),
        limit=bounded("limit", limit, MOST_BITES),
    )
    return await recall.recall(
        _within(to, filters.scopes), question, want, recall_policy_of(policy)
    )


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
    """Methods that search memory; blocking twin of `AsyncRecalling`."""

    _state: HandleState

    recall = blocking(AsyncRecalling.recall)
