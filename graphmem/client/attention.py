"""Methods of a handle that read item cards and stale memories, and log accesses."""

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
    """Methods about cards and the access log, awaited."""

    async def expand(self, item_id: str) -> Card:
        """Return the card of a memory, a belief, a turn or an episode.

        The access is logged. Log entries are written together: when 100 wait, by `flush`, and at
        the end of the session or the client. A failed write is logged, never raised here; the
        newest 10,000 entries are kept. Entries that wait when a process is killed are lost.

        Args:
            item_id: id of the item, of any kind.

        Raises:
            NotFoundError: no visible item has this id.
        """
        card = await cards.expand(self._state.binding, valid(Id, id=item_id).id)
        if self._state.session is not None:
            self._state.session.supplied.update(transcripts.card_hashes(card))
        await self._state.accessed(type(card.item).__name__, item_id)
        return card

    async def touch(self, kind: str, ref: str) -> None:
        """Log that an agent opened a file, a symbol or a document; see `expand`.

        Args:
            kind: file, symbol or document.
            ref: its stable name: a path, a qualified name or an address.

        Raises:
            InvalidInputError: an argument is invalid.
        """
        touched = _artifact(self._state, kind, ref)
        await self._state.accessed("Artifact", touched.id, touched)

    async def log_search(self, query: str, *, tool: str, results: Iterable[Result] = ()) -> None:
        """Log a search that an agent made with another tool; see `expand`.

        `recall` and `context` log their own searches.

        Args:
            query: text of the query; 2,000 characters are kept.
            tool: name of the tool, for example grep.
            results: results, best first, 1,000 at most: ids of memories, beliefs, turns or
                episodes, and (kind, ref) of files, symbols and documents. Unknown ids are skipped.

        Raises:
            InvalidInputError: an argument is invalid.
        """
        given = valid(_Searched, query=query, tool=tool, results=results)
        hits = [_hit(self._state, result) for result in given.results]
        await self._state.searched(given.tool, given.query, hits)

    async def flush(self) -> int:
        """Write the log entries of all handles of this client; return the number of new entries.

        Searches and accesses are written in one transaction. Each entry has a fixed id, so
        writing it again adds nothing.

        Raises:
            UnavailableError: the write failed; the entries are kept and can be flushed again.
        """
        return await self._state.flush()

    async def stale(
        self, *, days: int = 90, cursor: str | None = None, limit: int = 50
    ) -> StalePage:
        """Return current memories that were last stated more than `days` ago; they may be outdated.

        Oldest first, each with its trace and the claims that are no longer in force. Only events
        visible to this handle count as statements; accesses do not.

        Args:
            days: age in days, 1 to 36,500.
            cursor: `next_cursor` of the previous page; `days` must be the same.
            limit: maximum number of memories, 1 to 1,000.

        Raises:
            InvalidInputError: an argument is invalid, or no page returned the cursor.
        """
        min_days = bounded("days", days, MOST_DAYS)
        count = bounded("limit", limit, MOST_ROWS)
        return await memories.stale_page(self._state.binding, min_days, cursor=cursor, limit=count)


class Attention:
    """Methods about cards and the access log; blocking twin of `AsyncAttention`."""

    _state: HandleState

    expand = blocking(AsyncAttention.expand)
    touch = blocking(AsyncAttention.touch)
    log_search = blocking(AsyncAttention.log_search)
    flush = blocking(AsyncAttention.flush)
    stale = blocking(AsyncAttention.stale)


def _artifact(state: HandleState, kind: str, ref: str) -> ArtifactRef:
    given = valid(_Touched, kind=kind, ref=ref)
    return ArtifactRef(state.binding.wall.scope, given.kind, given.ref)


def _hit(state: HandleState, result: Result) -> SearchHit:
    if isinstance(result, str):
        return SearchHit(None, result)
    touched = _artifact(state, *result)
    return SearchHit("Artifact", touched.id, artifact=touched)
