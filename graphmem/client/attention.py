"""The part of a handle that looks closer at one item, and at what nobody has said for long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from graphmem.client.given import Id
from graphmem.client.observing import Instrumented
from graphmem.client.recalling import Question
from graphmem.client.state import HandleState, blocking, bounded, valid
from graphmem.model import Card, Name, Record, StalePage
from graphmem.operations import cards, memories
from graphmem.operations.access_log import ArtifactRef, SearchHit
from graphmem.rules import transcripts

MOST_ROWS = 1_000
MOST_DAYS = 36_500


Kind = Literal["file", "symbol", "document"]
Ref = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"\S")]
Result = str | tuple[str, str]


class _Touched(Record):
    kind: Kind
    ref: Ref


class _Searched(Record):
    query: Question
    tool: Name
    results: Annotated[tuple[Name | tuple[Kind, Ref], ...], Field(max_length=1_000)]


class AsyncAttention(Instrumented):
    """A closer look, awaited."""

    async def expand(self, item_id: str) -> Card:
        """Return all that is kept of a memory, a belief, a turn or an episode.

        It counts as an access, which is written later, with others: when 100 wait, by `flush`,
        and at the end of the session or the client. That it cannot be written is never raised
        here but logged; the newest 10,000 are kept. What waits when a process is killed is lost.

        Args:
            item_id: of the item, whatever it is.

        Raises:
            NotFoundError: nothing visible has this id.
        """
        card = await cards.expand(self._state.binding, valid(Id, id=item_id).id)
        if self._state.session is not None:
            self._state.session.supplied.update(transcripts.card_hashes(card))
        await self._state.accessed(type(card.item).__name__, item_id)
        return card

    async def touch(self, kind: str, ref: str) -> None:
        """Log that an agent opened a file, a symbol or a document of its own; see `expand`.

        Args:
            kind: file, symbol or document.
            ref: how it is called, the same each time: a path, a qualified name, an address.

        Raises:
            InvalidInputError: an argument does not fit.
        """
        touched = _artifact(self._state, kind, ref)
        await self._state.accessed("Artifact", touched.id, touched)

    async def log_search(self, query: str, *, tool: str, results: Iterable[Result] = ()) -> None:
        """Log a search that an agent made with a tool of its own; see `expand`.

        `recall` and `context` log themselves.

        Args:
            query: as it was asked; 2,000 characters are kept.
            tool: what was asked, such as grep.
            results: best first, 1,000 at most: ids of memories, beliefs, turns or episodes, and
                (kind, ref) of files, symbols and documents. One that is not there is left out.

        Raises:
            InvalidInputError: an argument does not fit.
        """
        given = valid(_Searched, query=query, tool=tool, results=results)
        found = [_hit(self._state, one) for one in given.results]
        await self._state.searched(given.tool, given.query, found)

    async def flush(self) -> int:
        """Write what all handles of this client have logged; return how many entries are new.

        Searches and accesses, in one transaction. Each was given its id when it was made, so
        writing it again adds nothing.

        Raises:
            UnavailableError: they could not be written; they are kept and can be flushed again.
        """
        return await self._state.flush()

    async def stale(
        self, *, days: int = 90, cursor: str | None = None, limit: int = 50
    ) -> StalePage:
        """Return current memories that may no longer be true: last said more than `days` ago.

        Longest ago first, each with its trace and with which of its claims have lost. What counts
        as said is what this handle sees; no access is counted.

        Args:
            days: 1 to 36,500.
            cursor: where the page before ended; ask with the same `days`.
            limit: 1 to 1,000.

        Raises:
            InvalidInputError: an argument does not fit, or the cursor is not one that a page gave.
        """
        least = bounded("days", days, MOST_DAYS)
        count = bounded("limit", limit, MOST_ROWS)
        return await memories.stale_page(self._state.binding, least, cursor=cursor, limit=count)


class Attention:
    """A closer look, blocking: the twin of `AsyncAttention`."""

    _state: HandleState

    expand = blocking(AsyncAttention.expand)
    touch = blocking(AsyncAttention.touch)
    log_search = blocking(AsyncAttention.log_search)
    flush = blocking(AsyncAttention.flush)
    stale = blocking(AsyncAttention.stale)


def _artifact(state: HandleState, kind: str, ref: str) -> ArtifactRef:
    given = valid(_Touched, kind=kind, ref=ref)
    return ArtifactRef(state.binding.wall.scope, given.kind, given.ref)


def _hit(state: HandleState, one: Result) -> SearchHit:
    if isinstance(one, str):
        return SearchHit(None, one)
    touched = _artifact(state, *one)
    return SearchHit("Artifact", touched.id, artifact=touched)
