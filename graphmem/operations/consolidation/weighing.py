"""The gate and PRUNE: which contradictions unsettle a belief, and which beliefs are put away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphmem import catalog
from graphmem.model import AsOf, Belief, ConsolidationPolicy, EventType, EvidenceKind, Status
from graphmem.operations.consolidation.deciding import (
    SOURCE_TYPE,
    BeliefWrite,
    PassageEvidence,
    StatusMark,
)
from graphmem.operations.consolidation.extracting import ScopeSnapshot
from graphmem.ports import RequestContext
from graphmem.rules import asking, records, vitality
from graphmem.rules.asking import ReadOptions
from graphmem.rules.conflicts import consistent
from graphmem.rules.projection import Evidence

PAGE = 200

STATES = catalog.query("belief/states", records.belief)
INFERRED = catalog.query("consolidate/inferred", lambda row: row["id"])


@consistent
async def marked(to: RequestContext, seen: ScopeSnapshot, units: Sequence[BeliefWrite]) -> list[BeliefWrite]:
    """Return units with what they do to the standing of beliefs: flags, and what comes back.

    A belief is flagged by the contradiction that unsettles it most, once; one that was archived
    and is supported again comes back.
    """
    refuted = sorted(
        {one.claim.id for unit in units for one in unit.said if one.kind is EvidenceKind.REFUTING}
    )
    standing = {one.id: one for one in await states(to, seen, refuted)}
    return [
        replace(unit, marks=(*_flags(to, seen, unit, standing), *_back(seen, unit)))
        for unit in units
    ]


@consistent
async def faint(
    to: RequestContext, seen: ScopeSnapshot, supported: set[str], policy: ConsolidationPolicy
) -> list[StatusMark]:
    """Return what is to be archived: only inferred, believed too little, and not supported now."""
    found: list[StatusMark] = []
    after = ""
    while True:
        ids = await _inferred(to, seen, after)
        if not ids:
            return found
        after = ids[-1]
        for one in await states(to, seen, [i for i in ids if i not in supported]):
            alive = one.vitality
            if alive and alive.derived and one.belief < policy.archive:
                reason = f"believed {one.belief:.2f}, less than {policy.archive:g}"
                payload = {"belief": one.belief, "threshold": policy.archive}
                found.append(
                    StatusMark(one.id, one.statement, EventType.ARCHIVE, seen.known, reason, payload)
                )


async def states(to: RequestContext, seen: ScopeSnapshot, ids: Sequence[str]) -> list[Belief]:
    """Return beliefs of the scope as a run sees them; what it writes itself it does not see."""
    wall = to.wall.model_copy(update={"scopes": (to.wall.scope,)})
    asked = asking.params(
        ReadOptions(as_of=AsOf(valid=seen.known, known=seen.known)),
        wall,
        to.world.settings,
        seen.known,
    )
    found: list[Belief] = []
    asked |= {
        "statuses": list(Status),
        "before_at": None,
        "before_id": "",
        "limit": PAGE,
        "test": asking.sent(asking.bounds(to.world.settings)),
        "vital": vitality.vitality_params(),
    }
    for start in range(0, len(ids), PAGE):
        asked["ids"] = list(ids[start : start + PAGE])
        found += await to.world.graph.read(lambda tx: tx.fetch(STATES, **asked))
    return found


async def _inferred(to: RequestContext, seen: ScopeSnapshot, after: str) -> list[str]:
    return await to.world.graph.read(
        lambda tx: tx.fetch(
            INFERRED,
            tenant=to.wall.tenant,
            scope=to.wall.scope,
            known=seen.known,
            after=after,
            limit=PAGE,
        )
    )


def _flags(to: RequestContext, seen: ScopeSnapshot, unit: BeliefWrite, standing: Mapping[str, Belief]) -> list[StatusMark]:
    worst: dict[str, tuple[float, PassageEvidence]] = {}
    for one in unit.said:
        belief = standing.get(one.claim.id)
        if one.kind is not EvidenceKind.REFUTING or belief is None or belief.vitality is None:
            continue
        alive = belief.vitality
        error = vitality.prediction_error(_evidence(to, one), alive.mean)
        unsettled = vitality.destabilises(error, alive.gate, one.passage.at, alive.last_access_at)
        if unsettled and alive.flagged_at is None:
            worst[one.claim.id] = max(
                worst.get(one.claim.id, (error, one)),
                (error, one),
                key=lambda found: (found[0], found[1].passage.id),
            )
    return [
        _flag(seen, error, one, standing[belief_id]) for belief_id, (error, one) in worst.items()
    ]


def _flag(seen: ScopeSnapshot, error: float, one: PassageEvidence, belief: Belief) -> StatusMark:
    alive = belief.vitality
    assert alive is not None  # noqa: S101 - it was read of every belief that is refuted
    looked = alive.last_access_at
    passes = error > alive.gate
    reason = (
        f"error {error:.2f} passes the gate of {alive.gate:.2f}"
        if passes
        else f"contradicted within 6 h after it was looked at; error {error:.2f}"
    )
    payload = {
        "error": error,
        "threshold": alive.gate,
        "last_access_at": looked.isoformat() if looked else None,
        "event_id": one.event_id,
    }
    return StatusMark(belief.id, belief.statement, EventType.FLAG, seen.known, reason, payload)


def _back(seen: ScopeSnapshot, unit: BeliefWrite) -> list[StatusMark]:
    supported = {
        one.claim.id: one.claim.statement
        for one in unit.said
        if one.kind is EvidenceKind.SUPPORTING and one.claim.id in unit.archived
    }
    return [
        StatusMark(belief_id, statement, EventType.RESTORE, seen.known, "supported again", {})
        for belief_id, statement in sorted(supported.items())
    ]


def _evidence(to: RequestContext, one: PassageEvidence) -> Evidence:
    return Evidence(
        id=one.event_id,
        claim=one.claim.id,
        polarity=one.kind.polarity,
        confidence=one.confidence,
        weight=to.world.settings.source_weights[SOURCE_TYPE],
        episode=one.passage.episode_id,
        at=one.passage.at,
    )
