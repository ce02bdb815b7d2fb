"""Read beliefs: what a slot holds, where a test stands, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.errors import NotFoundError
from graphmem.model import (
    AsOf,
    Belief,
    BeliefPage,
    Candidate,
    Kind,
    Line,
    Policy,
    Slot,
    Supposed,
    Trail,
    Verdict,
)
from graphmem.ports import Binding
from graphmem.rules import claims, moments, paging, sequential


def _belief(row: Mapping[str, Any]) -> tuple[Belief, datetime]:
    """Return a belief and the server's clock when it was read."""
    projected, initial = row["projected"] or {}, row["initial"]
    names = ("positive", "negative", "supporting_episodes", "refuting_episodes", "contested")
    alone = projected.get("belief", initial)
    found = Belief(
        **row["card"],
        **{name: projected[name] for name in names if name in projected},
        initial_confidence=initial,
        belief=alone if row["score"] is None else row["score"],
        verdict=Verdict(**row["verdict"]),
    )
    return found, row["now"]


CURRENT = catalog.query("belief/current", dict)
STATES = catalog.query("belief/states", _belief)
TEST = catalog.query("belief/test", dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """By which times and which policy evidence is read."""

    as_of: AsOf = field(default_factory=AsOf)
    policy: Policy | None = None
    """None: as declared."""
    present_policy: bool = False
    """Read by the policy declared by now, and not by that of the time asked about."""


@dataclass(frozen=True, slots=True)
class Suppose:
    """How a sequential test is to be read."""

    pooled: bool = False
    extra: tuple[Supposed, ...] = ()
    without: tuple[str, ...] = ()
    skip: int = 0
    limit: int = 100


async def current(to: Binding, subject: str, predicate: str, by: Reading, *, limit: int) -> Slot:
    """Return what a slot holds in the handle's own scope; when that knows nothing, in another.

    Raises:
        InvalidInputError: `known` lies in the future.
    """
    scopes = [to.wall.scope, *(s for s in to.wall.scopes if s != to.wall.scope)]
    params = _params(to, by) | {"scopes": scopes}
    [row] = await to.world.graph.read(
        lambda tx: tx.fetch(
            CURRENT,
            **params,
            subject=claims.folded(subject),
            predicate=claims.folded(predicate),
            limit=limit,
        )
    )
    found = row["candidates"]
    return Slot(
        scope=row["scope"] or to.wall.scope,
        subject=found[0]["subject"] if found else subject.strip(),
        predicate=predicate.strip(),
        policy=claims.policy_of(row["policy"]),
        candidates=tuple(
            Candidate(**{k: v for k, v in c.items() if k != "subject"}) for c in found
        ),
        total=row["total"],
        valid=params["valid"],
        provisional=moments.is_provisional(by.as_of, row["now"]),
    )


async def belief(to: Binding, belief_id: str, by: Reading) -> Belief:
    """Return a belief, whatever its status.

    Raises:
        NotFoundError: nothing visible has this id, or nothing was known of it then.
        InvalidInputError: `known` lies in the future.
    """
    found = await _states(to, by, ids=[belief_id], limit=1)
    if not found:
        raise NotFoundError(f"No belief {belief_id!r}.")
    return found[0]


async def page(
    to: Binding, by: Reading, statuses: Sequence[str], *, cursor: str | None, limit: int
) -> BeliefPage:
    """Return one page of beliefs, newest first, and the cursor of the next.

    Raises:
        InvalidInputError: the cursor was not made by `page`, or `known` lies in the future.
    """
    before_at, before_id = paging.position(cursor)
    found = await _states(
        to,
        by,
        statuses=list(statuses),
        before_at=before_at,
        before_id=before_id,
        limit=limit,
    )
    last = found[-1] if len(found) == limit else None
    return BeliefPage(
        beliefs=tuple(found),
        next_cursor=paging.cursor(last.created_at, last.id) if last else None,
    )


async def test(to: Binding, belief_id: str, by: Reading, suppose: Suppose) -> Trail:
    """Return the sequential test of a belief with a page of its trail.

    Raises:
        NotFoundError: nothing visible has this id.
        InvalidInputError: `known` lies in the future.
    """
    params, bounds = _params(to, by), _bounds(to)
    extra = [
        {
            "id": f"supposed {place}",
            "at": one.at or params["valid"],
            "polarity": one.kind.polarity,
            "episode": one.episode,
            "strength": claims.clamped(one.strength),
        }
        for place, one in enumerate(suppose.extra)
    ]
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            TEST,
            **{k: params[k] for k in ("tenant", "scopes", "valid", "known", "weights")},
            id=belief_id,
            test=_sent(bounds),
            pooled=suppose.pooled,
            extra=extra,
            without=list(suppose.without),
            skip=suppose.skip,
            limit=suppose.limit,
        )
    )
    if not rows:
        raise NotFoundError(f"No belief {belief_id!r}.")
    [row] = rows
    moments.refuse_future(by.as_of, row["now"])
    verdict = Verdict(**row["verdict"])
    return Trail(
        belief_id=belief_id,
        initial_confidence=row["initial"],
        verdict=verdict,
        needed=sequential.needed(verdict, bounds),
        lines=tuple(_line(line) for line in row["lines"]),
    )


def _line(line: Mapping[str, Any]) -> Line:
    event = line["event"] or {}
    _, status, log_ratio, confidence = line["after"]
    return Line(
        event_id=line["id"],
        kind=Kind.SUPPORTING if line["polarity"] > 0 else Kind.REFUTING,
        occurred_at=line["at"],
        strength=line["strength"],
        llr=line["llr"],
        log_ratio=log_ratio,
        status=status,
        confidence=confidence,
        supposed=not event,
        recorded_at=event.get("recorded_at"),
        type=event.get("type"),
        weight=line["weight"],
        evidence_confidence=event.get("confidence"),
        source_type=event.get("source_type"),
        source=event.get("source"),
        actor=event.get("actor"),
        episode_id=line["episode"],
        turn_id=line["turn_id"],
        note=json.loads(event.get("payload") or "{}").get("note"),
    )


async def _states(to: Binding, by: Reading, *, limit: int, **which: Any) -> list[Belief]:
    asked = {"ids": None, "statuses": [], "before_at": None, "before_id": None} | which
    params = _params(to, by)
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(STATES, **params, **asked, limit=limit, test=_sent(_bounds(to)))
    )
    for _, now in rows[:1]:
        moments.refuse_future(by.as_of, now)
    return [found for found, _ in rows]


def _params(to: Binding, by: Reading) -> dict[str, Any]:
    return {
        "tenant": to.wall.tenant,
        "scopes": list(to.wall.scopes),
        "valid": by.as_of.valid or to.world.clock.now(),
        "known": by.as_of.known,
        "policy": None if by.policy is None else claims.policy_fields(by.policy),
        "present_policy": by.present_policy,
        "default_policy": claims.policy_fields(Policy()),
        "weights": dict(to.world.settings.source_weights),
    }


def _bounds(to: Binding) -> sequential.Test:
    chosen = to.world.settings
    return sequential.Test(
        alpha=chosen.alpha,
        beta=chosen.beta,
        promote_step=chosen.promote_step,
        demote_step=chosen.demote_step,
        most=chosen.most_confidence,
        least=chosen.least_confidence,
    )


def _sent(bounds: sequential.Test) -> dict[str, float]:
    names = ("upper", "lower", "promote_step", "demote_step", "most", "least")
    return {name: getattr(bounds, name) for name in names}
