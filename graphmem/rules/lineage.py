"""Status and supersession from events: the oracle of fragments/refresh_status.cypher."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from graphmem.model import Status


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that hid a memory or brought it back.

    A statement of its exact content, a restoration, and superseding another one bring it back.
    """

    occurred_at: datetime
    event_id: str
    status: Status
    is_statement: bool = False
    """The content was said, as against a correction: it ranks below one of the same instant."""


def status_of(effects: Iterable[Effect]) -> Status:
    """Return the status that the newest effect gives.

    At one instant a correction outranks a statement, then the larger event id wins.
    """
    return max(effects, key=_when).status


def in_force(supersession: Effect, effects: Iterable[Effect]) -> bool:
    """Return whether nothing newer brought the superseded memory back."""
    back = [_when(e) for e in effects if e.status is Status.CURRENT]
    return not back or _when(supersession) > max(back)


def _when(effect: Effect) -> tuple[datetime, bool, str]:
    return effect.occurred_at, not effect.is_statement, effect.event_id
