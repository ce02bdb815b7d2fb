"""Methods of a handle that rate items by use and audit the search log."""

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
    """Methods that rate items by the search log, awaited."""

    async def rate(self, *, again: bool = False, on_part: OnPart = silent) -> RatingReport:
        """Rate the search log of the tenant: its ended sessions that are not rated yet.

        An opened result wins against the unopened results of the same search (Elo). Each call
        resumes where the last one stopped. Safe to interrupt and to run concurrently. A session
        without an end counts as ended a day after its last entry.

        Args:
            again: delete all ratings and rate the log again from the first session.
            on_part: progress callback; receives `session`, or `rating` for deleted ratings, and
                the number processed.

        Raises:
            InvalidInputError: `again` is neither True nor False.
        """
        settle = usage.settle_again if yes_or_no("again", again) else usage.settle
        await self._state.flush()
        return await settle(self._state.binding, on_part)

    async def audit(self, *, days: float = 7.0, session: str | None = None) -> Audit:
        """Return the sessions in the read scopes, and violations of the search protocol.

        Findings are a keyword search for a conceptual query, a search or an access outside any
        session, an access without an earlier search, and a session without an end.

        Args:
            days: length of the period in days, up to now; above 0, up to 36,500.
            session: audit only the sessions of this id, and no entries outside sessions.

        Raises:
            InvalidInputError: an argument is invalid.
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
        """Return the most used items in the read scopes, highest rating first.

        Args:
            tier: return only items of this tier.
            kinds: any of Memory, Belief, Episode and Artifact.
            limit: maximum number of items, 1 to 1,000.

        Raises:
            InvalidInputError: an argument is invalid.
        """
        given = valid(_Rated, tier=tier, kinds=kinds)
        count = bounded("limit", limit, MOST_ROWS)
        return tuple(await usage.items(self._state.binding, given.tier, given.kinds, count))

    async def attention(
        self, *, kinds: Sequence[RatedKind] = RATED, limit: int = 10
    ) -> UsageDashboard:
        """Return an overview of how the memory is used, in the read scopes.

        Args:
            kinds: any of Memory, Belief, Episode and Artifact.
            limit: maximum number of rows of each part, 1 to 1,000.

        Raises:
            InvalidInputError: an argument is invalid.
        """
        given = valid(_Rated, kinds=kinds)
        count = bounded("limit", limit, MOST_ROWS)
        return await usage.attention(self._state.binding, given.kinds, count)


class Ratings:
    """Methods that rate items by the search log; blocking twin of `AsyncRatings`."""

    _state: HandleState

    rate = blocking(AsyncRatings.rate)
    audit = blocking(AsyncRatings.audit)
    ratings = blocking(AsyncRatings.ratings)
    attention = blocking(AsyncRatings.attention)
