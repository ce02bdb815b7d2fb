"""MATCH for the beliefs that a run makes: what else was said of them, before it was their time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmem import catalog
from graphmem.model import ConsolidationPolicy, Status
from graphmem.operations.consolidation import extracting
from graphmem.operations.consolidation.extracting import NearBelief, Neighborhood, ScopeSnapshot
from graphmem.ports import RequestContext
from graphmem.rules import gathering, passages
from graphmem.rules.claims import Claim
from graphmem.rules.conflicts import consistent
from graphmem.rules.passages import Passage

if TYPE_CHECKING:
    from graphmem.rules.verdicts import Vector

NEIGHBOR_PAGE = 16
"""Beliefs of one read, two vector searches each."""
MOST = 200
"""Nearest turns, and nearest episodes, looked at for each belief."""

AROUND = catalog.query("consolidate/around", dict)


@dataclass(frozen=True, slots=True)
class NewBelief:
    """A belief that a run makes."""

    claim: Claim
    vector: Vector | None
    """Of its statement; None: in the graph already."""


@consistent
async def around(
    to: RequestContext,
    seen: ScopeSnapshot,
    made: Mapping[str, NewBelief],
    spoken_for: Collection[str],
    policy: ConsolidationPolicy,
) -> Neighborhood:
    """Return the passages near beliefs that were not there when the run began, as a ground.

    Args:
        to: where.
        seen: what the run sees.
        made: the beliefs, by id; any that are older are passed over.
        spoken_for: ids of passages that speak of another belief.
        policy: by what rules.
    """
    told: dict[str, Passage] = {}
    same: dict[str, list[NearBelief]] = defaultdict(list)
    ids = sorted(made)
    for start in range(0, len(ids), NEIGHBOR_PAGE):
        for row in await _read_neighbors(to, seen, [made[one] for one in ids[start : start + NEIGHBOR_PAGE]], policy):
            passage = extracting.said(row)
            if passage.id in spoken_for or not passages.telling(passage.text):
                continue
            told[passage.id] = passage
            near = extracting.similarity(to, row["score"])
            same[passage.id].append(NearBelief(made[row["belief_id"]].claim, Status.CURRENT, near))
    return Neighborhood(
        passages=list(told.values()),
        same={
            place: tuple(sorted(same[one], key=lambda near: (-near.similarity, near.claim.id)))
            for place, one in enumerate(told)
        },
    )


async def _read_neighbors(
    to: RequestContext, seen: ScopeSnapshot, made: list[NewBelief], policy: ConsolidationPolicy
) -> list[dict[str, Any]]:
    beliefs = [{"id": one.claim.id, "vector": one.vector} for one in made]
    return await to.world.graph.read(
        lambda tx: tx.fetch(
            AROUND,
            tenant=to.wall.tenant,
            scope=to.wall.scope,
            beliefs=beliefs,
            known=seen.known,
            machines=sorted(gathering.NOT_PEOPLE),
            limit=MOST,
            least=extracting.least_same(to, policy),
        )
    )
