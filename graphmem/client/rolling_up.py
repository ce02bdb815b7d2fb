"""The part of a handle that makes the search log small."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid, yes_or_no
from graphmem.model import Record, RollUpReport
from graphmem.operations import access_log
from graphmem.ports import OnPart, silent

MOST_DAYS = 36_500


class _Old(Record):
    days: Annotated[float, Field(ge=0, le=MOST_DAYS, allow_inf_nan=False)]


class AsyncRollUps(Instrumented):
    """Rolling up of the search log, awaited."""

    async def roll_up_log(
        self, *, days: float = 90.0, apply: bool = False, on_part: OnPart = silent
    ) -> RollUpReport:
        """Replace the searches of old sessions of the tenant, all its scopes, by their counts.

        Taken are sessions that `rate` has settled and that ended so long ago, in the order in
        which they ended, and searches outside any session of that age. Ratings stay as they are,
        and `rate(again=True)` begins from what they were then. Looks stay, so nothing else changes
        but `audit` and `attention`, which no longer show these searches. They cannot be brought
        back.

        Safe to interrupt and to call in several places at once.

        Args:
            days: since the session has ended; 0 to 36,500.
            apply: False, the default: tell what would be done; nothing is written.
            on_part: told `session`, then `search`, and how many more are done.

        Raises:
            InvalidInputError: an argument does not fit.
        """
        given, sure = valid(_Old, days=days), yes_or_no("apply", apply)
        await self._state.flush()
        binding = self._state.binding
        before = binding.world.clock.now() - timedelta(days=given.days)
        if not sure:
            return await access_log.rollable(binding, before)
        return await access_log.roll_up(binding, before, on_part)


class RollUps:
    """Rolling up of the search log, blocking: the twin of `AsyncRollUps`."""

    _state: HandleState

    roll_up_log = blocking(AsyncRollUps.roll_up_log)
