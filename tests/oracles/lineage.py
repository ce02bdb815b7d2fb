"""Status and supersession from events: the oracle of refresh_status and standing_as_of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from graphmem.model import Status
from graphmem.rules.read_options import BEGINNING


@dataclass(frozen=True, slots=True)
class Effect:
    """An event that hides a memory or a belief, or restores it.

    A statement of its exact content, a restoration, and superseding another one restore it.
    """

    occurred_at: datetime
    event_id: str
    status: Status
    is_statement: bool = False
    """Whether the event states the content; it ranks below a correction at the same timestamp."""
    recorded_at: datetime = BEGINNING
    """When the event became known."""


def seen(effects: Iterable[Effect], valid: datetime, known: datetime) -> list[Effect]:
    """Return the effects that are visible at a pair of times.

    Args:
        effects: Effects in any order.
        valid: Valid time; later events are ignored.
        known: Known time; events recorded later are ignored.
    """
    return [e for e in effects if e.occurred_at <= valid and e.recorded_at <= known]


def status_of(effects: Iterable[Effect]) -> Status:
    """Return the status that the newest effect gives; CURRENT without effects.

    At the same timestamp a correction outranks a statement, then the larger event id wins.
    """
    newest = max(effects, key=_when, default=None)
    return newest.status if newest else Status.CURRENT


def in_force(supersession: Effect, effects: Iterable[Effect]) -> bool:
    """Return whether no newer effect restored the superseded memory."""
    back = [_when(e) for e in effects if e.status is Status.CURRENT]
    return not back or _when(supersession) > max(back)


def _when(effect: Effect) -> tuple[datetime, bool, str]:
    return effect.occurred_at, not effect.is_statement, effect.event_id
