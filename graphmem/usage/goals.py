"""The five goals of Vector ELO, measured on the log of a tenant."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from statistics import pvariance
from typing import Any, NamedTuple

from graphmem.conversation.tokens import TOKENIZER, count_tokens
from graphmem.graph import catalog
from graphmem.model import Tier
from graphmem.ports import RequestContext
from graphmem.rules import rating
from graphmem.rules.rating import Rating
from graphmem.usage import Pack, UsageGoal, UsageGoals, packs, ratings

TOP = rating.TOP
SETTLED = 100
"""Sessions after which ratings must have settled."""
POINTS = 10
MAX_BYTES = 10e9
ENTRY_BYTES = 500
"""Assumed size of an entry of the log with its relationships."""
RATED_SESSIONS = catalog.query("usage/rated_sessions", dict)
FADED = catalog.query("usage/faded", dict)
SHORT_TERM = catalog.query("usage/short_term_size", dict)
GOALS = catalog.together(FADED, SHORT_TERM, packs.PACKABLE)
GOAL_PAGE = 200
"""Sessions per read."""
_MOVED, _OPENED, _TOP, _PACK = 0.10, 0.90, 0.80, 0.80


async def read_goals(
    context: RequestContext, kinds: Sequence[str], shorten: packs.Shorten
) -> UsageGoals:
    """Return the goals of the ratings, measured on the log in the read scopes."""
    found: list[dict[str, Any]] = []
    after = 0
    while rows := await context.fetch(
        RATED_SESSIONS, after_position=after, top=TOP, limit=GOAL_PAGE
    ):
        after = rows[-1]["position"]
        found += [row for row in rows if row["searches"] or row["opened"]]
        if len(rows) < GOAL_PAGE:
            break
    rule = rating.from_settings(context.services.settings)
    points = replayed(found, rule)
    asked = list({one for point in points for one in (*point.opened, *point.shown) if one})
    [(faded, [size], packable)] = await context.fetch(
        GOALS,
        **ratings.read_params(context, kinds),
        ratings=[one._asdict() for one in asked],
        known=None,
        limit=packs.MAX_PACKED,
    )
    everything = packs.PackBudget(packs.MAX_PACK, count_tokens, TOKENIZER)
    packed = await packs.packed(context, packable, everything, None, shorten)
    high = {asked[row["n"]] for row in faded if rating.tier(row["elo"], rule) is Tier.HIGH}
    return measured(
        points,
        high,
        rule,
        packed,
        float(size["characters"] + ENTRY_BYTES * size["entries"]),
    )


class Standing(NamedTuple):
    """A rating after the games before a time; it decays until then."""

    elo: float
    touched_at: datetime
    at: datetime


class Point(NamedTuple):
    """A point of the curves. Only a rating that is HIGH before decay has a standing."""

    sessions: int
    elos: Mapping[str, float]
    """Ratings before decay."""
    opened: Sequence[Standing | None]
    """Each opening until then, by the rating at the point."""
    shown: Sequence[Standing | None]
    """Each result since the last point, by the rating at its time."""


def replayed(sessions: Sequence[Mapping[str, Any]], rule: Rating) -> list[Point]:
    """Return the points of the curves.

    Args:
        sessions: rows of rated_sessions with an entry, in the order in which they ended.
    """
    counts = {max(1, len(sessions) * n // POINTS) for n in range(1, POINTS + 1)}
    elos: dict[str, float] = {}
    touched: dict[str, datetime] = {}
    opened: list[str] = []
    shown: list[Standing | None] = []
    found: list[Point] = []

    def standing(item_id: str, at: datetime) -> Standing | None:
        elo = elos.get(item_id)
        # Decay only lowers a rating.
        return Standing(elo, touched[item_id], at) if elo and elo >= rule.high else None

    for n, session in enumerate(sessions, 1):
        for search in session["searches"]:
            shown += [standing(item_id, search["at"]) for item_id in search["top"]]
            for change in search["changes"]:
                elos[change["id"]] = change["after"]
                touched.setdefault(change["id"], search["at"])
        for look in session["opened"]:
            opened.append(look["id"])
            if look["id"] in touched:
                touched[look["id"]] = max(touched[look["id"]], look["at"])
        if n in counts:
            now = max(one["at"] for one in (*session["searches"], *session["opened"]))
            found.append(Point(n, dict(elos), [standing(one, now) for one in opened], shown))
            shown = []
    return found


def measured(
    points: Sequence[Point], high: Collection[Standing], rule: Rating, packed: Pack, size: float
) -> UsageGoals:
    """Return the goals of rated sessions, with their curves.

    Args:
        high: standings that are HIGH after decay.
    """
    moved = [
        (point.sessions, share)
        for earlier, point in zip((None, *points), points, strict=False)
        if (share := _moved(earlier.elos if earlier else {}, point.elos)) is not None
    ]
    opened = [
        (point.sessions, sum(one in high for one in point.opened) / len(point.opened))
        for point in points
        if point.opened
    ]
    top = [
        (point.sessions, sum(one in high for one in point.shown) / len(point.shown))
        for point in points
        if point.shown
    ]
    sessions = points[-1].sessions if points else 0
    elos = points[-1].elos if points else {}
    best = max(elos.values(), default=None)
    why = (
        "no item is rated yet"
        if best is None
        else f"the highest of {len(elos):,} ratings is {best:,.0f} before decay, and HIGH "
        f"begins at {rule.high:,.0f}; each opened result lowers the others of its search"
    )
    young = f"{sessions} of {SETTLED} sessions" if sessions < SETTLED else ""
    return UsageGoals(
        sessions=sessions,
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
    points: Sequence[tuple[int, float]],
    limit: float,
    reason: str,
    *,
    below: bool = False,
) -> UsageGoal:
    value = points[-1][1] if points else None
    reached = None if value is None else value < limit if below else value >= limit
    return UsageGoal(
        name=name,
        wanted=wanted,
        value=value,
        reached=None if below and reason else reached,
        reason="" if reached and not below else reason,
        curve=tuple(points),
    )
