"""The five goals of Vector ELO, measured on the log of a tenant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import exp
from statistics import pvariance
from typing import Any

from graphmem.model import Tier
from graphmem.rules import rating
from graphmem.rules.rating import Rating
from graphmem.usage.records import Pack, UsageGoal, UsageGoals

TOP = rating.TOP
SETTLED = 100
"""Sessions after which ratings must have settled."""
POINTS = 10
"""Number of points of a curve."""
MAX_BYTES = 10e9
ENTRY_BYTES = 500
"""Assumed size of an entry of the log with its relationships."""
_MOVED, _OPENED, _TOP, _PACK = 0.10, 0.90, 0.80, 0.80


@dataclass(slots=True)
class _Item:
    elo: float
    touched: datetime


@dataclass(slots=True)
class Replay:
    """Ratings as they were after each session, and what was shown and opened since a point."""

    rule: Rating
    items: dict[str, _Item] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    shown: int = 0
    shown_high: int = 0

    def add(self, session: Mapping[str, Any]) -> datetime | None:
        """Take in a session; return the time of its last entry."""
        last = None
        for search in session["searches"]:
            last = search["at"]
            for item_id in search["top"]:
                self.shown += 1
                self.shown_high += self.is_high(item_id, last)
            for change in search["changes"]:
                self.items[change["id"]] = _Item(change["after"], last)
        for look in session["opened"]:
            self.opened.append(look["id"])
            if item := self.items.get(look["id"]):
                item.touched = max(item.touched, look["at"])
            last = max(last or look["at"], look["at"])
        return last

    def is_high(self, item_id: str, at: datetime) -> bool:
        """Return whether an item was HIGH at a time."""
        item = self.items.get(item_id)
        if item is None:
            return False
        days = max((at - item.touched) / timedelta(days=1), 0.0)
        faded = self.rule.floor + (item.elo - self.rule.floor) * exp(-days / self.rule.fading_days)
        return rating.tier(min(item.elo, faded), self.rule) is Tier.HIGH


def measured(
    sessions: Sequence[Mapping[str, Any]], rule: Rating, packed: Pack, size: float
) -> UsageGoals:
    """Return the goals of rated sessions, with their curves.

    Args:
        sessions: rows of rated_sessions with an entry, in the order in which they ended.
        rule: constants of the rating.
        packed: a pack of everything that is rated.
        size: bytes of short-term memory.
    """
    replay, moved, opened, top = Replay(rule), [], [], []
    points = sorted({max(1, len(sessions) * n // POINTS) for n in range(1, POINTS + 1)})
    earlier: dict[str, float] = {}
    now = None
    for n, session in enumerate(sessions, 1):
        now = replay.add(session) or now
        if n not in points or now is None:
            continue
        after = {item_id: item.elo for item_id, item in replay.items.items()}
        if (share := _moved(earlier, after)) is not None:
            moved.append((n, share))
        if replay.opened:
            high = sum(replay.is_high(item_id, now) for item_id in replay.opened)
            opened.append((n, high / len(replay.opened)))
        if replay.shown:
            top.append((n, replay.shown_high / replay.shown))
        replay.shown = replay.shown_high = 0
        earlier = after
    best = max((item.elo for item in replay.items.values()), default=None)
    why = (
        "no item is rated yet"
        if best is None
        else f"the highest of {len(replay.items):,} ratings is {best:,.0f} before decay, and HIGH "
        f"begins at {rule.high:,.0f}; each opened result lowers the others of its search"
    )
    young = f"{len(sessions)} of {SETTLED} sessions" if len(sessions) < SETTLED else ""
    return UsageGoals(
        sessions=len(sessions),
        goals=(
            _goal("movement of ratings", f"< {_MOVED:.0%}", moved, _MOVED, young, below=True),
            _goal("openings that are HIGH", f">= {_OPENED:.0%}", opened, _OPENED, why),
            _goal(f"results in the top {TOP} that are HIGH", f">= {_TOP:.0%}", top, _TOP, why),
            UsageGoal(
                name="reduction of a pack of everything",
                wanted=f">= {_PACK:.0%}",
                value=packed.saved_share if packed.items else None,
                reached=packed.saved_share >= _PACK if packed.items else None,
                reason=_pack_reason(packed),
                curve=(),
            ),
            UsageGoal(
                name="size of short-term memory in bytes",
                wanted=f"< {MAX_BYTES:,.0f}",
                value=size,
                reached=size < MAX_BYTES,
                reason="",
                curve=(),
            ),
        ),
    )


def _pack_reason(packed: Pack) -> str:
    """Return why a pack is not small enough; empty if it is."""
    if not packed.items:
        return "there is nothing to pack"
    if packed.saved_share >= _PACK:
        return ""
    return (
        f"{packed.tokens:,} instead of {packed.whole_tokens:,} tokens; no summary shortens a short "
        "item, which is one line"
    )


def _moved(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """Return the variance of the changes as a share of that of the ratings; None if unknown."""
    both = before.keys() & after.keys()
    spread = pvariance([after[one] for one in both]) if both else 0.0
    return pvariance([after[one] - before[one] for one in both]) / spread if spread else None


def _goal(
    name: str,
    wanted: str,
    curve: Iterable[tuple[int, float]],
    limit: float,
    reason: str,
    *,
    below: bool = False,
) -> UsageGoal:
    points = tuple(curve)
    value = points[-1][1] if points else None
    reached = None if value is None else value < limit if below else value >= limit
    return UsageGoal(
        name=name,
        wanted=wanted,
        value=value,
        reached=None if below and reason else reached,
        reason="" if reached and not below else reason,
        curve=points,
    )
