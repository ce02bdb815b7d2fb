"""Method of a handle that shortens the search log."""

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
    """Method that rolls up the search log, awaited."""

    async def roll_up_log(
        self, *, days: float = 90.0, apply: bool = False, on_part: OnPart = silent
    ) -> RollUpReport:
        """Replace searches of old sessions by their counts, in all scopes of the tenant.

        Rolls up sessions that `rate` has rated and that ended at least `days` ago, in the order of
        their ends, and searches of that age outside any session. Ratings stay, and
        `rate(again=True)` starts from their values at that time. Accesses stay; only `audit` and
        `attention` change: they no longer show these searches. The searches cannot be restored.

        Safe to interrupt and to run concurrently.

        Args:
            days: days since the end of the session; 0 to 36,500.
            apply: whether to write; False for a preview.
            on_part: progress callback; receives `session`, then `search`, and the number processed.

        Raises:
            InvalidInputError: an argument is invalid.
        """
        given, apply = valid(_Old, days=days), yes_or_no("apply", apply)
        await self._state.flush()
        binding = self._state.binding
        before = binding.world.clock.now() - timedelta(days=given.days)
        if not apply:
            return await access_log.rollable(binding, before)
        return await access_log.roll_up(binding, before, on_part)


class RollUps:
    """Method that rolls up the search log; blocking twin of `AsyncRollUps`."""

    _state: HandleState

    roll_up_log = blocking(AsyncRollUps.roll_up_log)
