"""Status and supersession from events: the oracle of refresh_status and standing_as_of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from graphmem.model import Status
from graphmem.rules.read_options import BEGINNING


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that hid a memory or a belief, or brought it back.

    A statement of its exact content, a restoration, and superseding another one bring it back.
    """

    occurred_at: datetime
    event_id: str
    status: Status
    is_statement: bool = False
    """The content was said, as against a correction: it ranks below one of the same instant."""
    recorded_at: datetime = BEGINNING
    """When it became known."""


def seen(effects: Iterable[Effect], valid: datetime, known: datetime) -> list[Effect]:
    """Return the effects that a read at a pair of times sees: what it leaves out is as not there.

    Args:
        effects: in any order.
        valid: what happened later is not seen.
        known: what was recorded later is not seen.
    """
    return [e for e in effects if e.occurred_at <= valid and e.recorded_at <= known]


def status_of(effects: Iterable[Effect]) -> Status:
    """Return the status that the newest effect gives; without any, nothing hides the memory.

    At one instant a correction outranks a statement, then the larger event id wins.
    """
    newest = max(effects, key=_when, default=None)
    return newest.status if newest else Status.CURRENT


def in_force(supersession: Effect, effects: Iterable[Effect]) -> bool:
    """Return whether nothing newer brought the superseded memory back."""
    back = [_when(e) for e in effects if e.status is Status.CURRENT]
    return not back or _when(supersession) > max(back)


def _when(effect: Effect) -> tuple[datetime, bool, str]:
    return effect.occurred_at, not effect.is_statement, effect.event_id
