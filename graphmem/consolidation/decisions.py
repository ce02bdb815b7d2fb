"""Match passages to beliefs and decide what they change."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from graphmem.consolidation import ConsolidationPolicy, rules, statements
from graphmem.consolidation.sources import NearBelief, Neighborhood, ScopeSnapshot
from graphmem.consolidation.statements import ClauseMatch, ClauseSimilarities
from graphmem.english.passages import Passage
from graphmem.errors import ModelUnavailableError
from graphmem.graph import catalog
from graphmem.model import AsOf, Belief, EventType, EvidenceKind, EvidenceSource, Status
from graphmem.ports import RequestContext, TokenUsage
from graphmem.rules import claims, drafts, formulas, identity, read_options, vitality
from graphmem.rules.claims import Claim, EvidenceDraft
from graphmem.rules.formulas import Evidence
from graphmem.rules.read_options import ReadOptions

if TYPE_CHECKING:
    from datetime import datetime

    from graphmem.model.terms import Embedding


SOURCE_TYPE = "EXTRACTOR"
UNAVAILABLE = ModelUnavailableError.code

Cluster: TypeAlias = tuple[Passage, ...]
"""A central passage, first, and the passages near it."""

PAGE = 200

STATES = catalog.query("belief/states", read_options.parse_belief)
INFERRED = catalog.query("consolidate/inferred", lambda row: row["id"])

NAME = "extractive"


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """The evidence for a belief from which the evidence for its generalisation is drawn."""

    event_id: str
    confidence: float
    trust: int | None
    """Rank of its trust class; None if none is recorded."""


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """The evidence that one passage gives for or against one belief."""

    claim: Claim
    passage: Passage
    kind: EvidenceKind
    confidence: float
    drawn_from: DrawnFrom | None = None
    """None if the passage itself was compared with the belief."""

    @property
    def event_id(self) -> str:
        """Id derived from belief and passage, so that a passage counts once per belief."""
        return claims.passage_evidence_id(self.claim.id, self.passage.id)

    def draft(self, synthesiser: str, now: datetime) -> EvidenceDraft:
        """Return the event draft of this evidence."""
        given = EvidenceSource(
            event_id=self.event_id,
            at=self.passage.at,
            source=vitality.STANDARD_VITALITY.consolidation,
            actor=synthesiser,
            episode_id=self.passage.episode_id,
            turn_id=self.passage.turn_id,
        )
        fields: dict[str, Any] = {
            "polarity": self.kind.polarity,
            "confidence": self.confidence,
            "source_type": SOURCE_TYPE,
        }
        if self.drawn_from is not None:
            fields["target_id"] = self.drawn_from.event_id
            fields["derived_trust"] = self.drawn_from.trust
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


@dataclass(frozen=True, slots=True)
class BeliefWrite:
    """The decisions that are written in one transaction, under one reply id."""

    reply_id: str
    passages: tuple[Passage, ...]
    evidence: tuple[PassageEvidence, ...] = ()
    marks: tuple[StatusMark, ...] = ()
    embeddings: Mapping[str, Embedding] = field(default_factory=dict)
    """Embeddings of statements, by belief id."""
    parts: tuple[str, ...] = ()
    """Ids of the beliefs that its new belief generalises, or of those the model was asked about."""
    archived: frozenset[str] = frozenset()
    """Ids of beliefs that were archived when the run started."""
    raw: str | None = None
    """Unparsed reply of a model; None if no model was called."""
    spent: TokenUsage = field(default_factory=TokenUsage)
    problem: tuple[str, str] | None = None
    """Error code and message; None on success. A failed unit has no evidence."""

    @property
    def is_unanswered(self) -> bool:
        """Return whether a model was unavailable, which does not count as an attempt."""
        return self.problem is not None and self.problem[0] == UNAVAILABLE

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
        # With the parts, the erasure of one of them finds the reply.
        parts = {"parts": self.parts} if self.parts else {}
        return json.dumps(
            {
                "beliefs": [asdict(claim) for claim in beliefs.values()],
                "evidence": [
                    [one.event_id, one.claim.id, one.passage.id, one.kind, one.confidence]
                    for one in self.evidence
                ],
                "marks": [[self.mark_id(mark), mark.belief_id, mark.type] for mark in self.marks],
                **parts,
            },
            ensure_ascii=False,
        )


async def matched(
    scope: str,
    ground: Neighborhood,
    similarities: ClauseSimilarities,
    policy: ConsolidationPolicy,
) -> list[BeliefWrite]:
    """Return the evidence that passages give for or against existing beliefs, by belief.

    Each passage counts for the nearest belief that it clearly supports or refutes, and no other. It
    is compared as a whole, and clause by clause.
    """
    pairs = [(ground.passages[place], one) for place, same in ground.same.items() for one in same]
    parts = await statements.clause_matches(similarities, pairs, policy)
    by_belief: dict[str, list[PassageEvidence]] = defaultdict(list)
    archived, counted = set(), set()
    for (passage, one), part in zip(pairs, parts, strict=True):
        found = _whole_match(passage, one, policy) or part
        if found is None or passage.id in counted:
            continue
        counted.add(passage.id)
        confidence = min(policy.max_confidence, found.similarity)
        by_belief[one.claim.id].append(PassageEvidence(one.claim, passage, found.kind, confidence))
        if one.status == "archived":
            archived.add(one.claim.id)
    return [
        BeliefWrite(
            reply_id=reply_id(scope, "match", belief_id, *(s.passage.id for s in items)),
            passages=tuple(s.passage for s in items),
            evidence=tuple(items),
            archived=frozenset({belief_id} & archived),
        )
        for belief_id, items in sorted(by_belief.items())
    ]


def _whole_match(
    passage: Passage, near: NearBelief, policy: ConsolidationPolicy
) -> ClauseMatch | None:
    kind = rules.relation(passage, near.wording)
    least = policy.refute_similarity if kind is EvidenceKind.REFUTING else policy.match_similarity
    return ClauseMatch(kind, near.similarity) if kind and near.similarity >= least else None


def gathered(
    ground: Neighborhood, matched_ids: set[str], policy: ConsolidationPolicy
) -> Iterator[Cluster]:
    """Yield clusters with at least one new passage, those from the most episodes first.

    Args:
        matched_ids: ids of passages that are evidence for or against an existing belief.
    """
    free = [i for i, one in enumerate(ground.passages) if one.id not in matched_ids]
    place = {i: n for n, i in enumerate(free)}
    episodes: dict[str, int] = {}
    near = [{place[j]: s for j, s in ground.near[i].items() if j in place} for i in free]
    numbers = [episodes.setdefault(ground.passages[i].episode_id, len(episodes)) for i in free]
    for star in rules.star_clusters(near, numbers, policy.min_belief_episodes):
        members = [free[n] for n in star]
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


async def marked(
    context: RequestContext, seen: ScopeSnapshot, units: Sequence[BeliefWrite]
) -> list[BeliefWrite]:
    """Return units with the status changes that they cause: flags and restores.

    A belief is flagged once, by all contradictions since its last support together. An archived
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
    by_belief: dict[str, list[PassageEvidence]] = defaultdict(list)
    for one in unit.evidence:
        by_belief[one.claim.id].append(one)
    found = (
        _flag(context, seen, standing[belief_id], evidence)
        for belief_id, evidence in by_belief.items()
        if belief_id in standing
    )
    return [mark for mark in found if mark is not None]


def _flag(
    context: RequestContext,
    seen: ScopeSnapshot,
    belief: Belief,
    evidence: Sequence[PassageEvidence],
) -> StatusMark | None:
    """Return the flag that a unit's contradictions since the last support cause, if any."""
    alive = belief.vitality
    supports = [one.passage.at for one in evidence if one.kind is EvidenceKind.SUPPORTING]
    if alive is None or alive.flagged_at is not None:
        return None
    since = max([*supports, *([] if alive.prior_at is None else [alive.prior_at])], default=None)
    fresh = [
        one
        for one in evidence
        if one.kind is EvidenceKind.REFUTING and (since is None or one.passage.at >= since)
    ]
    if not fresh:
        return None
    by = read_options.vitality_constants(context.services.settings)
    refuted = formulas.refutation(_evidence(context, one) for one in fresh)
    earlier = 0.0 if supports else alive.contradiction
    error = alive.prior * (1 - (1 - earlier) * (1 - refuted))
    accessed = alive.last_access_at
    gaps = [one.passage.at - accessed for one in fresh if accessed and one.passage.at >= accessed]
    if not formulas.is_destabilised(error, alive.gate, min(gaps, default=None), by):
        return None
    passes = error > alive.gate
    reason = (
        f"error {error:.2f} passes the gate of {alive.gate:.2f}"
        if passes
        else f"contradicted within {by.gate_window_hours:g} h after an access; error {error:.2f}"
    )
    payload = {
        "error": error,
        "threshold": alive.gate,
        "last_access_at": accessed.isoformat() if accessed else None,
        "event_id": max(fresh, key=lambda one: (one.confidence, one.passage.id)).event_id,
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


async def worded(
    context: RequestContext,
    waiting: Sequence[tuple[str, Cluster]],
    similarities: ClauseSimilarities,
    policy: ConsolidationPolicy,
) -> list[BeliefWrite]:
    """Return units that state each cluster in a clause of it; write nothing.

    A unit has no evidence unless passages of `policy.min_belief_episodes` episodes state a clause.
    """
    shared = [
        (reply_id, cluster, await statements.shared_statement(similarities, cluster, policy))
        for reply_id, cluster in waiting
    ]
    texts = [found.text for _, _, found in shared if found]
    embeddings = dict(
        zip(texts, await context.services.embed_documents(texts), strict=True) if texts else ()
    )
    units = []
    for reply_id, cluster, found in shared:
        if found is None:
            units.append(BeliefWrite(reply_id, cluster))
            continue
        claim = claims.statement_claim(context.scope, found.text)
        evidence = tuple(
            PassageEvidence(
                claim, one, EvidenceKind.SUPPORTING, min(policy.max_confidence, similarity)
            )
            for one, similarity in found.support.items()
        )
        own = {claim.id: embeddings[found.text]}
        units.append(BeliefWrite(reply_id, cluster, evidence, embeddings=own))
    return units
