"""Match passages to beliefs and decide what they change."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from graphmem import catalog
from graphmem.consolidation import rules
from graphmem.consolidation.records import ConsolidationPolicy
from graphmem.consolidation.sources import NearBelief, Neighborhood, ScopeSnapshot
from graphmem.model import AsOf, Belief, EventType, EvidenceKind, EvidenceSource, Status
from graphmem.ports import RequestContext, TokenUsage
from graphmem.rules import claims, drafts, formulas, identity, read_options, scoring
from graphmem.rules.claims import Claim, EvidenceDraft
from graphmem.rules.conflicts import retry_conversion
from graphmem.rules.formulas import Evidence
from graphmem.rules.passages import (
    Passage,
    extractive_statement,
    informative_sentences,
    prefix_speaker,
)
from graphmem.rules.read_options import ReadOptions

if TYPE_CHECKING:
    from datetime import datetime

    from graphmem.model.terms import Embedding
    from graphmem.ports import Matrix


SOURCE_TYPE = "EXTRACTOR"


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """The evidence that one passage gives for or against one belief."""

    claim: Claim
    passage: Passage
    kind: EvidenceKind
    confidence: float

    @property
    def event_id(self) -> str:
        """Id derived from belief and passage, so that a passage counts once per belief."""
        return claims.passage_evidence_id(self.claim.id, self.passage.id)

    def draft(self, synthesiser: str, now: datetime) -> EvidenceDraft:
        """Return the event draft of this evidence."""
        given = EvidenceSource(
            event_id=self.event_id,
            at=self.passage.at,
            source=formulas.STANDARD_VITALITY.consolidation,
            actor=synthesiser,
            episode_id=self.passage.episode_id,
            turn_id=self.passage.turn_id,
        )
        fields = {
            "polarity": self.kind.polarity,
            "confidence": self.confidence,
            "source_type": SOURCE_TYPE,
        }
        return claims.draft_event(self.claim, given, EventType.EVIDENCE, now, fields)


@dataclass(frozen=True, slots=True)
class StatusMark:
    """A FLAG, RESTORE or ARCHIVE of a belief."""

    belief_id: str
    statement: str
    type: EventType
    at: datetime
    reason: str
    payload: Mapping[str, Any]


Cluster: TypeAlias = tuple[Passage, ...]
"""A central passage, first, and the passages near it."""


@dataclass(frozen=True, slots=True)
class BeliefWrite:
    """The decisions that are written in one transaction, under one reply id."""

    reply_id: str
    passages: tuple[Passage, ...]
    evidence: tuple[PassageEvidence, ...] = ()
    marks: tuple[StatusMark, ...] = ()
    embeddings: Mapping[str, Embedding] = field(default_factory=dict)
    """Embeddings of statements, by belief id."""
    archived: frozenset[str] = frozenset()
    """Ids of beliefs that were archived when the run started."""
    raw: str | None = None
    """Unparsed reply of a model; None if no model was called."""
    spent: TokenUsage = field(default_factory=TokenUsage)
    problem: tuple[str, str] | None = None
    """Error code and message; None on success. A failed unit has no evidence."""

    def mark_id(self, mark: StatusMark) -> str:
        """Return the id of a mark's event."""
        return "mark_" + identity.digest(self.reply_id, mark.type, mark.belief_id)[:32]

    def without(self, erased_ids: frozenset[str]) -> BeliefWrite:
        """Return a copy without evidence and marks that refer to an id in `erased_ids`."""
        evidence = tuple(
            one
            for one in self.evidence
            if erased_ids.isdisjoint(
                (one.event_id, one.claim.id, one.passage.id, one.passage.episode_id)
            )
        )
        marks = tuple(one for one in self.marks if one.belief_id not in erased_ids)
        return replace(self, evidence=evidence, marks=marks)

    def decided(self) -> str:
        """Return the decisions as JSON, sufficient to write them again without a model."""
        beliefs = {one.claim.id: one.claim for one in self.evidence}
        return json.dumps(
            {
                "beliefs": [asdict(claim) for claim in beliefs.values()],
                "evidence": [
                    [one.event_id, one.claim.id, one.passage.id, one.kind, one.confidence]
                    for one in self.evidence
                ],
                "marks": [[self.mark_id(mark), mark.belief_id, mark.type] for mark in self.marks],
            },
            ensure_ascii=False,
        )


def matched(scope: str, ground: Neighborhood, policy: ConsolidationPolicy) -> list[BeliefWrite]:
    """Return the evidence that passages give for or against existing beliefs, by belief.

    Each passage counts for the nearest belief that it clearly supports or refutes, and no other.
    """
    by_belief: dict[str, list[PassageEvidence]] = defaultdict(list)
    archived = set()
    for place, same in ground.same.items():
        passage = ground.passages[place]
        for one in same:
            kind = rules.relation(passage, one.claim.statement)
            least = (
                policy.refute_similarity
                if kind is EvidenceKind.REFUTING
                else policy.match_similarity
            )
            if kind is not None and one.similarity >= least:
                confidence = min(policy.max_confidence, one.similarity)
                by_belief[one.claim.id].append(
                    PassageEvidence(one.claim, passage, kind, confidence)
                )
                if one.status == "archived":
                    archived.add(one.claim.id)
                break
    return [
        BeliefWrite(
            reply_id=reply_id(scope, "match", belief_id, *(s.passage.id for s in items)),
            passages=tuple(s.passage for s in items),
            evidence=tuple(items),
            archived=frozenset({belief_id} & archived),
        )
        for belief_id, items in sorted(by_belief.items())
    ]


def gathered(
    ground: Neighborhood, matched_ids: set[str], policy: ConsolidationPolicy
) -> Iterator[Cluster]:
    """Yield clusters with at least one new passage, those from the most episodes first.

    Args:
        ground: passages and their neighbours.
        matched_ids: ids of passages that are evidence for or against an existing belief.
        policy: thresholds of the run.
    """
    free = [i for i, one in enumerate(ground.passages) if one.id not in matched_ids]
    place = {i: n for n, i in enumerate(free)}
    episodes: dict[str, int] = {}
    near = [{place[j]: s for j, s in ground.near[i].items() if j in place} for i in free]
    numbers = [episodes.setdefault(ground.passages[i].episode_id, len(episodes)) for i in free]
    for star in rules.star_clusters(near, numbers, policy.min_belief_episodes):
        members = [free[n] for n in star.members]
        if any(i < ground.fresh for i in members):
            yield tuple(ground.passages[i] for i in members)


def enough(evidence: Sequence[PassageEvidence], policy: ConsolidationPolicy) -> bool:
    """Return whether the evidence comes from enough episodes for a new belief."""
    return len({one.passage.episode_id for one in evidence}) >= policy.min_belief_episodes


def candidates(ground: Neighborhood, cluster: Cluster, most: int) -> list[NearBelief]:
    """Return the beliefs nearest to any passage of a cluster, nearest first."""
    inside = {one.id for one in cluster}
    best: dict[str, NearBelief] = {}
    for place, same in ground.same.items():
        if ground.passages[place].id in inside:
            for one in same:
                held = best.get(one.claim.id)
                if held is None or one.similarity > held.similarity:
                    best[one.claim.id] = one
    return sorted(best.values(), key=lambda one: (-one.similarity, one.claim.id))[:most]


def reply_id(scope: str, *parts: str) -> str:
    """Return the reply id of a decision; the same inputs give the same id in every process."""
    return "r_" + identity.digest(scope, *parts)[:32]


PAGE = 200

STATES = catalog.query("belief/states", read_options.parse_belief)
INFERRED = catalog.query("consolidate/inferred", lambda row: row["id"])


@retry_conversion
async def marked(
    context: RequestContext, seen: ScopeSnapshot, units: Sequence[BeliefWrite]
) -> list[BeliefWrite]:
    """Return units with the status changes that they cause: flags and restores.

    A belief is flagged once, by the contradiction with the largest prediction error. An archived
    belief that is supported again is restored.
    """
    refuted = sorted(
        {
            one.claim.id
            for unit in units
            for one in unit.evidence
            if one.kind is EvidenceKind.REFUTING
        }
    )
    standing = {one.id: one for one in await states(context, seen, refuted)}
    return [
        replace(unit, marks=(*_flags(context, seen, unit, standing), *_back(seen, unit)))
        for unit in units
    ]


@retry_conversion
async def faint(
    context: RequestContext, seen: ScopeSnapshot, supported: set[str], policy: ConsolidationPolicy
) -> list[StatusMark]:
    """Return archive marks for beliefs that are only inferred, unsupported and below the limit."""
    found: list[StatusMark] = []
    after = ""
    while ids := await context.fetch(INFERRED, known=seen.known, after=after, limit=PAGE):
        after = ids[-1]
        for one in await states(context, seen, [i for i in ids if i not in supported]):
            alive = one.vitality
            if alive and alive.derived and one.belief < policy.archive_below:
                reason = f"believed {one.belief:.2f}, less than {policy.archive_below:g}"
                payload = {"belief": one.belief, "threshold": policy.archive_below}
                found.append(
                    StatusMark(
                        one.id, one.statement, EventType.ARCHIVE, seen.known, reason, payload
                    )
                )
    return found


async def states(context: RequestContext, seen: ScopeSnapshot, ids: Sequence[str]) -> list[Belief]:
    """Return beliefs of the scope as of the start of the run, without the run's own writes."""
    by = ReadOptions(as_of=AsOf(valid=seen.known, known=seen.known))
    found: list[Belief] = []
    asked = context.read_params(STATES, by) | {
        "scopes": [context.scope],
        "statuses": list(Status),
        "before_at": None,
        "before_id": "",
        "limit": PAGE,
    }
    for part in drafts.batches(ids, PAGE):
        found += await context.fetch(STATES, **asked, ids=part)
    return found


def _flags(
    context: RequestContext, seen: ScopeSnapshot, unit: BeliefWrite, standing: Mapping[str, Belief]
) -> list[StatusMark]:
    worst: dict[str, tuple[float, PassageEvidence]] = {}
    for one in unit.evidence:
        belief = standing.get(one.claim.id)
        if one.kind is not EvidenceKind.REFUTING or belief is None or belief.vitality is None:
            continue
        alive = belief.vitality
        error = formulas.prediction_error(_evidence(context, one), alive.mean)
        unsettled = formulas.is_destabilised(
            error, alive.gate, one.passage.at, alive.last_access_at
        )
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
    assert alive is not None  # noqa: S101 - read for every refuted belief
    accessed = alive.last_access_at
    passes = error > alive.gate
    reason = (
        f"error {error:.2f} passes the gate of {alive.gate:.2f}"
        if passes
        else f"contradicted within 6 h after an access; error {error:.2f}"
    )
    payload = {
        "error": error,
        "threshold": alive.gate,
        "last_access_at": accessed.isoformat() if accessed else None,
        "event_id": one.event_id,
    }
    return StatusMark(belief.id, belief.statement, EventType.FLAG, seen.known, reason, payload)


def _back(seen: ScopeSnapshot, unit: BeliefWrite) -> list[StatusMark]:
    supported = {
        one.claim.id: one.claim.statement
        for one in unit.evidence
        if one.kind is EvidenceKind.SUPPORTING and one.claim.id in unit.archived
    }
    return [
        StatusMark(belief_id, statement, EventType.RESTORE, seen.known, "supported again", {})
        for belief_id, statement in sorted(supported.items())
    ]


def _evidence(context: RequestContext, one: PassageEvidence) -> Evidence:
    return Evidence(
        id=one.event_id,
        claim=one.claim.id,
        polarity=one.kind.polarity,
        confidence=one.confidence,
        weight=context.services.settings.source_weights[SOURCE_TYPE],
        episode=one.passage.episode_id,
        at=one.passage.at,
    )


NAME = "extractive"


async def worded(
    context: RequestContext, waiting: Sequence[tuple[str, Cluster]], policy: ConsolidationPolicy
) -> list[BeliefWrite]:
    """Return units that state each cluster in the words of its centre; write nothing.

    Similarity between turns covers their whole text, greetings and answers included. So the
    factual part of each passage is compared with the statement again. The unit has no evidence
    unless passages of `policy.min_belief_episodes` episodes remain.

    Args:
        context: request context.
        waiting: clusters, each with its reply id.
        policy: thresholds of the run.
    """
    scope = context.scope
    made = [
        claims.statement_claim(scope, extractive_statement(cluster[0])) for _, cluster in waiting
    ]
    texts = list(
        dict.fromkeys(
            text
            for claim, (_, cluster) in zip(made, waiting, strict=True)
            for text in (claim.statement, *map(_passage_text, cluster))
        )
    )
    if not texts:
        return []
    embeddings = await context.services.embed_documents(texts)
    matrix = np.stack([one.vector for one in embeddings])
    place = {text: n for n, text in enumerate(texts)}
    units = []
    for claim, (reply_id, cluster) in zip(made, waiting, strict=True):
        evidence = tuple(_cluster_evidence(context, claim, cluster, matrix, place, policy))
        if not enough(evidence, policy):
            evidence = ()
        units.append(
            BeliefWrite(
                reply_id,
                cluster,
                evidence,
                embeddings={claim.id: embeddings[place[claim.statement]]},
            )
        )
    return units


def _cluster_evidence(
    context: RequestContext,
    claim: Claim,
    cluster: Cluster,
    matrix: Matrix,
    place: dict[str, int],
    policy: ConsolidationPolicy,
) -> Iterator[PassageEvidence]:
    stated = matrix[place[claim.statement]]
    for one in cluster:
        cosine = float(matrix[place[_passage_text(one)]] @ stated)
        similarity = scoring.calibrate(cosine, context.model.mu_document)
        supports = rules.relation(one, claim.statement) is EvidenceKind.SUPPORTING
        if one is cluster[0] or (similarity >= policy.cluster_similarity and supports):
            confidence = min(policy.max_confidence, similarity)
            yield PassageEvidence(claim, one, EvidenceKind.SUPPORTING, confidence)


def _passage_text(passage: Passage) -> str:
    return prefix_speaker(passage.name, informative_sentences(passage.text))
