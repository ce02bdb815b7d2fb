"""SYNTHESISE without a model: a belief in the words of the passage in the midst of its cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphmem.model import ConsolidationPolicy, EvidenceKind
from graphmem.operations.consolidation import deciding
from graphmem.operations.consolidation.deciding import BeliefWrite, Cluster, PassageEvidence
from graphmem.ports import RequestContext, Role
from graphmem.rules import calibration, claims, matching, passages
from graphmem.rules.claims import Claim
from graphmem.rules.passages import Passage

if TYPE_CHECKING:
    from graphmem.ports import Matrix

NAME = "extractive"


async def worded(
    to: RequestContext, waiting: Sequence[tuple[str, Cluster]], policy: ConsolidationPolicy
) -> list[BeliefWrite]:
    """Return what clusters say in the words of their centres; nothing is written.

    A turn is near another one by all that it says, greetings and answers included. So what each
    passage tells is compared with the statement again, and by its facts; of what is left three
    episodes must remain, or nothing is said.

    Args:
        to: where.
        waiting: clusters, each with the id of what is decided of it.
        policy: by what rules.
    """
    scope = to.wall.scope
    made = [claims.about_statement(scope, passages.statement(cluster[0])) for _, cluster in waiting]
    texts = list(
        dict.fromkeys(
            text
            for claim, (_, cluster) in zip(made, waiting, strict=True)
            for text in (claim.statement, *map(_told, cluster))
        )
    )
    if not texts:
        return []
    matrix = await to.world.embedder.embed(texts, Role.DOCUMENT)
    place = {text: n for n, text in enumerate(texts)}
    units = []
    for claim, (reply_id, cluster) in zip(made, waiting, strict=True):
        said = tuple(_said(to, claim, cluster, matrix, place, policy))
        if not deciding.enough(said, policy):
            said = ()
        units.append(
            BeliefWrite(reply_id, cluster, said, vectors={claim.id: matrix[place[claim.statement]]})
        )
    return units


def _said(
    to: RequestContext,
    claim: Claim,
    cluster: Cluster,
    matrix: Matrix,
    place: dict[str, int],
    policy: ConsolidationPolicy,
) -> Iterator[PassageEvidence]:
    stated = matrix[place[claim.statement]]
    for one in cluster:
        cosine = float(matrix[place[_told(one)]] @ stated)
        similarity = calibration.calibrated(cosine, to.model.mu_document)
        speaks = matching.relation(one, claim.statement) is EvidenceKind.SUPPORTING
        if one is cluster[0] or (similarity >= policy.near and speaks):
            confidence = min(policy.most_confidence, similarity)
            yield PassageEvidence(claim, one, EvidenceKind.SUPPORTING, confidence)


def _told(passage: Passage) -> str:
    return passages.spoken(passage.name, passages.telling(passage.text))
