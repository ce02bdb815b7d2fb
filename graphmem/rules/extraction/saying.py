"""Evidence for a belief from one turn, as events: EVIDENCE, or a proposal that awaits review."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from graphmem.model import (
    AcceptedProposal,
    EventType,
    EvidenceKind,
    EvidenceSource,
    PendingProposal,
    TenantScope,
)
from graphmem.rules import claims, drafts, identity
from graphmem.rules.claims import Claim, EvidenceDraft
from graphmem.rules.extraction.checking import CheckedProposal

SOURCE = "extraction"
"""Source of the events."""


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """Evidence of one turn for one belief."""

    claim: Claim
    turn_id: str
    episode_id: str
    quote: str
    when: str | None
    """Words that state when the fact began, if they were understood."""
    at: datetime
    kind: EvidenceKind
    confidence: float
    source_type: str
    extractor: str
    dated: bool = False
    proposal_id: str | None = None
    """Id of the accepted proposal; None if it was not reviewed."""

    @property
    def event_id(self) -> str:
        """Id of the evidence event."""
        return claims.passage_evidence_id(self.claim.id, self.turn_id)

    @property
    def own_proposal_id(self) -> str:
        """Id of the proposal event."""
        return "prop_" + identity.digest(self.claim.id, self.turn_id)[:32]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of everything that it would add to the graph."""
        return (self.event_id, self.own_proposal_id, self.claim.id)

    def draft(self, now: datetime) -> EvidenceDraft:
        """Return the evidence event."""
        given = EvidenceSource(
            id=self.event_id,
            at=self.at,
            source=SOURCE,
            actor=self.extractor,
            episode=self.episode_id,
            turn=self.turn_id,
        )
        # The turn exists, so its time is accepted even if it is ahead of this machine's clock.
        now = max(now, self.at)
        drafted = claims.draft_event(self.claim, given, EventType.EVIDENCE, now, self._fields())
        return replace(drafted, payload={**drafted.payload, **self._words()})

    def proposal_row(self, wall: TenantScope) -> dict[str, Any]:
        """Return the PROPOSE event, a row for extract/propose."""
        kind = EventType.PROPOSE
        return {
            "id": self.own_proposal_id,
            "scope": wall.scope,
            "type": kind,
            "occurred_at": self.at,
            "request_hash": drafts.request_hash(wall.scope, kind, self.claim.id, self.turn_id),
            "source": SOURCE,
            "actor": self.extractor,
            "episode_id": self.episode_id,
            "turn_id": self.turn_id,
            **self._fields(),
            "payload": json.dumps(
                {"claim": asdict(self.claim), "turn_id": self.turn_id, **self._words()},
                ensure_ascii=False,
            ),
        }

    def shown(self, event_id: str, *, new: bool) -> AcceptedProposal:
        """Return the result for the caller."""
        claim = self.claim
        return AcceptedProposal(
            event_id=event_id,
            belief_id=claim.id,
            statement=claim.statement,
            subject=claim.subject,
            predicate=claim.predicate,
            object=claim.object,
            kind=self.kind,
            confidence=self.confidence,
            source_type=self.source_type,
            occurred_at=self.at,
            dated=self.dated,
            episode_id=self.episode_id,
            turn_id=self.turn_id,
            quote=self.quote,
            new=new,
        )

    def _fields(self) -> dict[str, Any]:
        return {
            "polarity": self.kind.polarity,
            "confidence": self.confidence,
            "source_type": self.source_type,
        }

    def _words(self) -> dict[str, str]:
        given = {"quote": self.quote, "when": self.when, "proposal_id": self.proposal_id}
        return {name: words for name, words in given.items() if words is not None}


def proposal_evidence(
    passed: CheckedProposal, claim: Claim, episode_id: str, extractor: str
) -> TurnEvidence:
    """Return the evidence for an accepted proposal.

    Args:
        passed: the proposal.
        claim: its claim, worded by the predicate's template.
        episode_id: id of the session's episode.
        extractor: name of the extractor.
    """
    proposal = passed.proposal
    return TurnEvidence(
        claim=claim,
        turn_id=proposal.turn_id,
        episode_id=episode_id,
        quote=passed.quote,
        when=proposal.when if passed.dated else None,
        at=passed.at,
        kind=proposal.kind,
        confidence=proposal.confidence,
        source_type=proposal.source_type,
        extractor=extractor,
        dated=passed.dated,
    )


def parse_evidence(row: Mapping[str, Any]) -> TurnEvidence:
    """Return the evidence that a PROPOSE event proposes; see extract/proposals."""
    payload = json.loads(row["payload"])
    return TurnEvidence(
        claim=Claim(**payload["claim"]),
        turn_id=payload["turn_id"],
        episode_id=row["episode_id"],
        quote=payload["quote"],
        when=payload.get("when"),
        at=row["occurred_at"],
        kind=EvidenceKind.of(row["polarity"]),
        confidence=row["confidence"],
        source_type=row["source_type"],
        extractor=row["actor"],
        proposal_id=row["id"],
    )


def pending_proposal(row: Mapping[str, Any]) -> PendingProposal:
    """Return a PROPOSE event in the form shown to callers."""
    one = parse_evidence(row)
    return PendingProposal(
        id=row["id"],
        status=row["status"],
        scope=row["scope"],
        belief_id=one.claim.id,
        statement=one.claim.statement,
        subject=one.claim.subject,
        predicate=one.claim.predicate,
        object=one.claim.object,
        kind=one.kind,
        confidence=one.confidence,
        source_type=one.source_type,
        occurred_at=one.at,
        recorded_at=row["recorded_at"],
        extractor=one.extractor,
        episode_id=one.episode_id,
        turn_id=one.turn_id,
        quote=one.quote,
    )
