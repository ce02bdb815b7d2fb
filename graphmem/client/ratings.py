"""The part of a handle that says what a memory is really used for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, bounded, valid, yes_or_no
from graphmem.model import Audit, Name, RatedItem, RatingReport, Record, Tier, UsageDashboard
from graphmem.operations import usage
from graphmem.ports import OnPart, silent
from graphmem.rules import read_options

MOST_ROWS = 1_000
MOST_DAYS = 36_500
RatedKind = Literal["Memory", "Belief", "Episode", "Artifact"]
RATED: tuple[RatedKind, ...] = ("Memory", "Belief", "Episode", "Artifact")


class _Rated(Record):
    tier: Tier | None = None
    kinds: Annotated[tuple[RatedKind, ...], Field(min_length=1)] = RATED


class _Audited(Record):
    days: Annotated[float, Field(gt=0, le=MOST_DAYS, allow_inf_nan=False)]
    session: Name | None


class AsyncRatings(Instrumented):
    """Ratings by the search log, awaited."""

    async def rate(self, *, again: bool = False, on_part: OnPart = silent) -> RatingReport:
        """Rate what the search log of the tenant holds of sessions that have ended.

        What was opened in a session has won against what the same search returned and nobody
        opened (Elo). Goes on from where the last call stopped. Safe to interrupt and to call in
        several places at once. A session that nobody ended is over a day after its last entry.

        Args:
            again: drop all ratings and begin with the first session.
            on_part: told `session`, and `rating` for those dropped, and how many more are done.

        Raises:
            InvalidInputError: `again` is neither True nor False.
        """
        settle = usage.settle_again if yes_or_no("again", again) else usage.settle
        await self._state.flush()
        return await settle(self._state.binding, on_part)

    async def audit(self, *, days: float = 7.0, session: str | None = None) -> Audit:
        """Return what agents did in the scopes of this handle, and what was against the protocol.

        Found are a keyword search for what a concept means, a search or a look outside any
        session, a look without a search before it, and a session that nobody ended.

        Args:
            days: of the log, up to now; above 0, up to 36,500.
            session: only the sessions of this name, and nothing outside sessions.

        Raises:
            InvalidInputError: an argument does not fit.
        """
        given = valid(_Audited, days=days, session=session)
        await self._state.flush()
        now = self._state.binding.world.clock.now()
        since, until = now - timedelta(days=given.days), read_options.FOREVER
        return await usage.audit(self._state.binding, since, until, given.session)

    async def ratings(
        self,
        *,
        tier: Tier | str | None = None,
        kinds: Sequence[RatedKind] = RATED,
        limit: int = 50,
    ) -> tuple[RatedItem, ...]:
        """Return what is used most in the scopes of this handle, highest rating first.

        Args:
            tier: only those of one.
            kinds: of Memory, Belief, Episode and Artifact.
            limit: 1 to 1,000.

        Raises:
            InvalidInputError: an argument does not fit.
        """
        given = valid(_Rated, tier=tier, kinds=kinds)
        count = bounded("limit", limit, MOST_ROWS)
        return tuple(await usage.items(self._state.binding, given.tier, given.kinds, count))

    async def attention(
        self, *, kinds: Sequence[RatedKind] = RATED, limit: int = 10
    ) -> UsageDashboard:
        """Return what the memory is really used for, in the scopes of this handle.

        Args:
            kinds: of Memory, Belief, Episode and Artifact.
            limit: rows of each part, 1 to 1,000.

        Raises:
            InvalidInputError: an argument does not fit.
        """
        given = valid(_Rated, kinds=kinds)
        count = bounded("limit", limit, MOST_ROWS)
        return await usage.attention(self._state.binding, given.kinds, count)


class Ratings:
    """Ratings by the search log, blocking: the twin of `AsyncRatings`."""

    _state: HandleState

    rate = blocking(AsyncRatings.rate)
    audit = blocking(AsyncRatings.audit)
    ratings = blocking(AsyncRatings.ratings)
    attention = blocking(AsyncRatings.attention)
