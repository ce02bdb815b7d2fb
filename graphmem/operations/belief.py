"""Read beliefs: what a slot holds, where a test stands, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.errors import NotFoundError
from graphmem.model import (
    Belief,
    BeliefPage,
    Candidate,
    EvidenceKind,
    HypotheticalEvidence,
    Slot,
    Trail,
    TrailStep,
    Verdict,
)
from graphmem.ports import RequestContext
from graphmem.rules import asking, claims, moments, paging, records, sequential, vitality
from graphmem.rules.asking import ReadOptions
from graphmem.rules.conflicts import consistent


def _belief(row: Mapping[str, Any]) -> tuple[Belief, datetime]:
    """Return a belief and the server's clock when it was read."""
    return records.belief(row), row["now"]


CURRENT = catalog.query("belief/current", dict)
STATES = catalog.query("belief/states", _belief)
TEST = catalog.query("belief/test", dict)


@dataclass(frozen=True, slots=True)
class TrailRequest:
    """How a sequential test is to be read."""

    pooled: bool = False
    extra: tuple[HypotheticalEvidence, ...] = ()
    without: tuple[str, ...] = ()
    skip: int = 0
    limit: int = 100


@consistent
async def current(
    to: RequestContext,
    subject: str,
    predicate: str,
    by: ReadOptions,
    *,
    limit: int,
    from_zero: bool = False,
) -> Slot:
    """Return what a slot holds in the handle's own scope; when that knows nothing, in another.

    Args:
        to: where.
        subject: of the slot.
        predicate: of the slot.
        by: as of when, and by which policy.
        limit: candidates to return.
        from_zero: read every event, and do not go on from a checkpoint.

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
            weights_key=None if from_zero else claims.weights_key(params["weights"]),
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
        names=tuple(row["names"][1:]),
    )


@consistent
async def belief(to: RequestContext, belief_id: str, by: ReadOptions) -> Belief:
    """Return a belief, whatever its status.

    Raises:
        NotFoundError: nothing visible has this id, or nothing was known of it then.
        InvalidInputError: `known` lies in the future.
    """
    found = await _states(to, by, ids=[belief_id], limit=1)
    if not found:
        raise NotFoundError(f"No belief {belief_id!r}.")
    return found[0]


@consistent
async def belief_page(
    to: RequestContext, by: ReadOptions, statuses: Sequence[str], *, cursor: str | None, limit: int
) -> BeliefPage:
    """Return one page of beliefs, newest first, and the cursor of the next.

    Raises:
        InvalidInputError: the cursor was not made by `belief_page`, or `known` lies in the future.
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


@consistent
async def test(to: RequestContext, belief_id: str, by: ReadOptions, suppose: TrailRequest) -> Trail:
    """Return the sequential test of a belief with a page of its trail.

    Raises:
        NotFoundError: nothing visible has this id, or nothing was known of it then.
        InvalidInputError: `known` lies in the future.
    """
    params, bounds = _params(to, by), asking.bounds(to.world.settings)
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
            test=asking.sent(bounds),
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


def _line(line: Mapping[str, Any]) -> TrailStep:
    event = line["event"] or {}
    _, status, log_ratio, confidence = line["after"]
    return TrailStep(
        event_id=line["id"],
        kind=EvidenceKind.of(line["polarity"]),
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


async def _states(to: RequestContext, by: ReadOptions, *, limit: int, **which: Any) -> list[Belief]:
    asked = {"ids": None, "statuses": [], "before_at": None, "before_id": None} | which
    params, test = _params(to, by), asking.sent(asking.bounds(to.world.settings))
    params |= {"test": test, "vital": vitality.vitality_params()}
    rows = await to.world.graph.read(lambda tx: tx.fetch(STATES, **params, **asked, limit=limit))
    for _, now in rows[:1]:
        moments.refuse_future(by.as_of, now)
    return [found for found, _ in rows]


def _params(to: RequestContext, by: ReadOptions) -> dict[str, Any]:
    return asking.params(by, to.wall, to.world.settings, to.world.clock.now())
