"""MATCH and SYNTHESISE: what passages say of beliefs, and which new ones they make."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from graphmem.model import ConsolidationPolicy, EventType, EvidenceKind, EvidenceSource
from graphmem.operations.consolidation.extracting import NearBelief, Neighborhood
from graphmem.rules import claims, clusters, identity, matching, vitality
from graphmem.rules.claims import Claim, EvidenceDraft
from graphmem.rules.passages import Passage

if TYPE_CHECKING:
    from datetime import datetime

    from graphmem.rules.verdicts import Vector

SOURCE_TYPE = "EXTRACTOR"


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """What one passage says of one belief."""

    claim: Claim
    passage: Passage
    kind: EvidenceKind
    confidence: float

    @property
    def event_id(self) -> str:
        """Made from the belief and the passage: a passage speaks once of a belief."""
        return claims.said_id(self.claim.id, self.passage.id)

    def draft(self, synthesiser: str, now: datetime) -> EvidenceDraft:
        """Return the event of it."""
        given = EvidenceSource(
            id=self.event_id,
            at=self.passage.at,
            source=vitality.STANDARD_VITALITY.consolidation,
            actor=synthesiser,
            episode=self.passage.episode_id,
            turn=self.passage.turn_id,
        )
        fields = {
            "polarity": self.kind.polarity,
            "confidence": self.confidence,
            "source_type": SOURCE_TYPE,
        }
        return claims.draft(self.claim, given, EventType.EVIDENCE, now, fields)


@dataclass(frozen=True, slots=True)
class StatusMark:
    """A FLAG, RESTORE or ARCHIVE of a belief."""

    belief_id: str
    statement: str
    type: EventType
    at: datetime
    reason: str
    payload: Mapping[str, Any]


NOTHING: Mapping[str, Any] = {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cost_usd": None}

Cluster: TypeAlias = tuple[Passage, ...]
"""Passages near one of them, which is the first."""


@dataclass(frozen=True, slots=True)
class BeliefWrite:
    """What is written in one transaction, under one id."""

    reply_id: str
    passages: tuple[Passage, ...]
    said: tuple[PassageEvidence, ...] = ()
    marks: tuple[StatusMark, ...] = ()
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    """Embeddings of statements, by belief."""
    archived: frozenset[str] = frozenset()
    """Beliefs that were archived when the run began."""
    raw: str | None = None
    """A model's own words."""
    spent: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """Calls, tokens and cost of them; the cost is None when nobody knows the price."""
    problem: tuple[str, str] | None = None
    """Code and words of what went wrong; nothing is said then."""

    def mark_id(self, mark: StatusMark) -> str:
        """Return the id of a mark's event."""
        return "mark_" + identity.digest(self.reply_id, mark.type, mark.belief_id)[:32]

    def without(self, gone: frozenset[str]) -> BeliefWrite:
        """Return it without what names something that was forgotten."""
        said = tuple(
            one
            for one in self.said
            if gone.isdisjoint((one.event_id, one.claim.id, one.passage.id, one.passage.episode_id))
        )
        marks = tuple(one for one in self.marks if one.belief_id not in gone)
        return replace(self, said=said, marks=marks)

    def decided(self) -> str:
        """Return all that is written, as JSON: enough to write it again without a model."""
        beliefs = {one.claim.id: one.claim for one in self.said}
        return json.dumps(
            {
                "beliefs": [
                    {name: getattr(claim, name) for name in Claim.__slots__}
                    for claim in beliefs.values()
                ],
                "said": [
                    [one.event_id, one.claim.id, one.passage.id, one.kind, one.confidence]
                    for one in self.said
                ],
                "marks": [[self.mark_id(mark), mark.belief_id, mark.type] for mark in self.marks],
            },
            ensure_ascii=False,
        )


def matched(scope: str, ground: Neighborhood, policy: ConsolidationPolicy) -> list[BeliefWrite]:
    """Return what passages say of beliefs that are there, belief by belief.

    A passage speaks of the nearest belief of which it can be told how; one is enough.
    """
    told: dict[str, list[PassageEvidence]] = defaultdict(list)
    archived = set()
    for place, same in ground.same.items():
        passage = ground.passages[place]
        for one in same:
            kind = matching.relation(passage, one.claim.statement)
            least = policy.against if kind is EvidenceKind.REFUTING else policy.same
            if kind is not None and one.similarity >= least:
                confidence = min(policy.most_confidence, one.similarity)
                told[one.claim.id].append(PassageEvidence(one.claim, passage, kind, confidence))
                if one.status == "archived":
                    archived.add(one.claim.id)
                break
    return [
        BeliefWrite(
            reply_id=reply_id(scope, "match", belief_id, *(s.passage.id for s in said)),
            passages=tuple(s.passage for s in said),
            said=tuple(said),
            archived=frozenset({belief_id} & archived),
        )
        for belief_id, said in sorted(told.items())
    ]


def gathered(
    ground: Neighborhood, spoken_for: set[str], policy: ConsolidationPolicy
) -> Iterator[Cluster]:
    """Yield clusters that hold something new, those of most episodes first.

    Args:
        ground: passages and what is near them.
        spoken_for: ids of passages that speak of a belief that is there.
        policy: by what rules.
    """
    free = [i for i, one in enumerate(ground.passages) if one.id not in spoken_for]
    place = {i: n for n, i in enumerate(free)}
    episodes: dict[str, int] = {}
    near = [{place[j]: s for j, s in ground.near[i].items() if j in place} for i in free]
    numbers = [episodes.setdefault(ground.passages[i].episode_id, len(episodes)) for i in free]
    for star in clusters.stars(near, numbers, policy.least_episodes):
        members = [free[n] for n in star.members]
        if any(i < ground.fresh for i in members):
            yield tuple(ground.passages[i] for i in members)


def enough(said: Sequence[PassageEvidence], policy: ConsolidationPolicy) -> bool:
    """Return whether a new belief may rest on these."""
    return len({one.passage.episode_id for one in said}) >= policy.least_episodes


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
    """Return the id of what is decided of some passages: the same whoever decides it."""
    return "r_" + identity.digest(scope, *parts)[:32]
