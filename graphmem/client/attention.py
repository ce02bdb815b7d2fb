"""The part of a handle that looks closer at one item, and at what nobody has said for long."""

from __future__ import annotations

from graphmem.client.given import Id
from graphmem.client.state import State, blocking, bounded, valid
from graphmem.model import Card, StalePage
from graphmem.operations import expanding, staleness
from graphmem.rules import attention

MOST_ROWS = 1_000
MOST_DAYS = 36_500


class AsyncAttention:
    """A closer look, awaited."""

    _state: State

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
        card = await expanding.expand(self._state.binding, valid(Id, id=item_id).id)
        if self._state.session is not None:
            self._state.session.supplied.update(attention.hashes(card))
        await self._state.accessed(type(card.item).__name__, item_id)
        return card

    async def flush(self) -> int:
        """Write the accesses of all handles of this client that wait; return how many are new.

        They are one transaction. Each was given its id when it was made, so writing it again adds
        nothing.

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
        return await staleness.page(self._state.binding, least, cursor=cursor, limit=count)


class Attention:
    """A closer look, blocking: the twin of `AsyncAttention`."""

    _state: State

    expand = blocking(AsyncAttention.expand)
    flush = blocking(AsyncAttention.flush)
    stale = blocking(AsyncAttention.stale)
