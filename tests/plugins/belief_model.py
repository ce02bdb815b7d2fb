"""A model of beliefs in plain lists, evaluated by the oracles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from graphmem.model import Cardinality, Policy, Status
from graphmem.rules import claims, identity
from graphmem.rules.claims import Claim
from graphmem.rules.formulas import Evidence
from graphmem.rules.predicates import SINGLE_VALUED
from graphmem.settings import SOURCE_WEIGHTS
from tests.oracles import lineage, projection, retraction, sequential

SEES = {"global": ("global",), "alice": ("alice", "global")}
"""Read scopes by write scope, the handle's own first."""


@dataclass(frozen=True)
class Happened:
    """One event."""

    id: str
    scope: str
    at: datetime
    kind: str
    target: str | None = None
    """Id of the event that a retraction retracts."""


@dataclass(frozen=True)
class Moment:
    """A pair of times, and when each event was recorded; known None includes all."""

    valid: datetime
    known: datetime | None = None
    recorded: Mapping[str, datetime] = field(default_factory=dict)

    def sees(self, at: datetime, event_id: str) -> bool:
        """Return whether an event is visible at that moment."""
        return at <= self.valid and self.knows(event_id)

    def knows(self, event_id: str) -> bool:
        """Return whether an event was recorded by that moment."""
        return self.known is None or self.recorded[event_id] <= self.known


class Declaration(NamedTuple):
    """A declared policy; the newest by time and event id applies."""

    at: datetime
    event_id: str
    policy: Policy
    template: str | None
    name: str
    valid_from: datetime | None


@dataclass
class Kept:
    """One belief in the model."""

    claim: Claim
    wordings: list[tuple[datetime, str, Claim]] = field(default_factory=list)
    thoughts: list[tuple[datetime, str, float]] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    said: list[tuple[datetime, str]] = field(default_factory=list)
    """Time and id of each event about the belief."""
    effects: list[lineage.Effect] = field(default_factory=list)

    @property
    def worded(self) -> Claim:
        """The claim as its earliest event words it."""
        return min(self.wordings, key=lambda w: w[:2])[2]

    @property
    def key(self) -> tuple[str, str | None, str | None]:
        """Key of the belief's slot."""
        return self.claim.scope, self.claim.subject_key, self.claim.predicate_key

    def status(self, when: Moment | None = None) -> str:
        """Return the status by its lineage at that moment; None uses all events."""
        seen = [e for e in self.effects if when is None or when.sees(e.occurred_at, e.event_id)]
        return str(lineage.status_of(seen))

    def initial(self, when: Moment) -> float:
        """Return the confidence before any evidence."""
        seen = [thought for thought in self.thoughts if when.sees(*thought[:2])]
        return min(seen, key=lambda t: t[:2])[2] if seen else 0.5

    def since(self, when: Moment) -> datetime | None:
        """Return the time of the first visible event about the belief."""
        return min((at for at, name in self.said if when.sees(at, name)), default=None)


class Model:
    """All beliefs of one tenant."""

    def __init__(self) -> None:
        self.kept: dict[str, Kept] = {}
        self.events: dict[str, Happened] = {}
        self.declared: dict[str, list[Declaration]] = {}
        """Declarations, by predicate key."""
        self.edges: list[tuple[str, str, lineage.Effect]] = []
        """Newer belief, older belief, and the superseding event."""
        self.texts: set[tuple[str, str]] = set()
        """Remembered texts, by scope."""

    # Writes.

    def _happen(
        self, event_id: str, scope: str, at: datetime, kind: str, target: str | None = None
    ) -> None:
        self.events[event_id] = Happened(event_id, scope, at, kind, target)

    def _kept_for(self, claim: Claim, at: datetime, event_id: str) -> Kept:
        kept = self.kept.setdefault(claim.id, Kept(claim))
        kept.said.append((at, event_id))
        return kept

    def claim(self, scope: str, parts: Sequence[str], statement: str | None = None) -> Claim:
        """Return the claim of a triple, worded by the predicate's current template."""
        if statement is None:
            declared, gone = (
                self.declared.get(claims.predicate_key(parts[1]), []),
                self._retracted(),
            )
            newest = max((d for d in declared if d.event_id not in gone), default=None, key=_when)
            statement = claims.triple_sentence(newest[3] if newest else None, *parts)
        subject, predicate, object_ = parts
        return claims.triple_claim(scope, subject, predicate, object_, statement)

    def observe(self, event_id: str, claim: Claim, at: datetime, fields: Mapping[str, Any]) -> None:
        """Record an observation."""
        self._happen(event_id, claim.scope, at, "EVIDENCE")
        self._add_evidence(event_id, claim, at, fields)

    def remember(
        self,
        event_id: str,
        scope: str,
        text: str,
        asserted: Iterable[Claim],
        at: datetime,
        fields: Mapping[str, Any],
    ) -> None:
        """Record a text with claims."""
        exists = any((seen, text) in self.texts for seen in SEES[scope])
        self._happen(event_id, scope, at, "REINFORCE_EXACT" if exists else "ADD")
        if not exists:
            self.texts.add((scope, text))
        for claim in asserted:
            self._add_evidence(
                event_id, claim, at, {"kind": "supporting", "episode_id": None, **fields}
            )

    def _add_evidence(
        self, event_id: str, claim: Claim, at: datetime, fields: Mapping[str, Any]
    ) -> None:
        kept = self._kept_for(claim, at, event_id)
        kept.wordings.append((at, event_id, claim))
        kept.evidence.append(
            Evidence(
                id=event_id,
                claim=claim.id,
                polarity=1 if fields["kind"] == "supporting" else -1,
                confidence=fields["confidence"],
                weight=SOURCE_WEIGHTS[fields["source_type"]],
                episode=fields["episode_id"],
                at=at,
            )
        )

    def testify(self, event_id: str, kept: Kept, at: datetime, kind: str, strength: float) -> None:
        """Record evidence with a strength."""
        self._happen(event_id, kept.claim.scope, at, "EVIDENCE")
        kept.said.append((at, event_id))
        kept.evidence.append(told(event_id, kept.claim.id, at, kind, strength))

    def believe(self, event_id: str, claim: Claim, at: datetime, confidence: float) -> Kept:
        """Record a hypothesis."""
        self._happen(event_id, claim.scope, at, "BELIEVE")
        kept = self._kept_for(claim, at, event_id)
        kept.wordings.append((at, event_id, claim))
        kept.thoughts.append((at, event_id, confidence))
        kept.effects.append(lineage.Effect(at, event_id, _CURRENT, is_statement=True))
        return kept

    def replace(
        self,
        event_id: str,
        kind: str,
        at: datetime,
        older: Iterable[Kept],
        newer: Iterable[tuple[Claim, float]],
    ) -> None:
        """Supersede beliefs by others."""
        olds = list(older)
        self._happen(event_id, olds[0].claim.scope, at, kind)
        for claim, confidence in newer:
            own = "believe_" + identity.digest(event_id, claim.id)[:32]
            new = self.believe(own, claim, at, confidence)
            new.said.append((at, event_id))
            new.effects.append(lineage.Effect(at, event_id, _CURRENT))
            self.edges += [
                (claim.id, old.claim.id, lineage.Effect(at, event_id, _SUPERSEDED)) for old in olds
            ]
        for old in olds:
            old.said.append((at, event_id))
            old.effects.append(lineage.Effect(at, event_id, _SUPERSEDED))

    def retract(self, event_id: str, scope: str, target: str, at: datetime) -> None:
        """Retract an event, which may arrive later."""
        self._happen(event_id, scope, at, "RETRACT", target)

    def declare(
        self,
        event_id: str,
        name: str,
        at: datetime,
        policy: Policy,
        template: str | None,
        valid_from: datetime | None,
    ) -> None:
        """Declare the policy of a predicate."""
        self._happen(event_id, "global", at, "POLICY")
        one = Declaration(at, event_id, policy, template, name, valid_from)
        self.declared.setdefault(claims.predicate_key(name), []).append(one)

    # Reads.

    def visible(self, kept: Kept, when: Moment) -> list[Evidence]:
        """Return the evidence that counts for a belief, without retracted events."""
        gone = self._retracted(when)
        return [e for e in kept.evidence if when.sees(e.at, e.id) and e.id not in gone]

    def _retracted(self, when: Moment | None = None) -> frozenset[str]:
        """Return the ids of the retracted events, as known at a moment."""
        known = [
            retraction.Retract(
                e.id, str(e.target), e.at, when.recorded.get(e.id, when.valid) if when else e.at
            )
            for e in self.events.values()
            if e.kind == "RETRACT" and self._is_own(e)
        ]
        return retraction.retracted(known, when.known if when else None)

    def _is_own(self, e: Happened) -> bool:
        """Return whether a retraction and its target have the same scope."""
        target = self.events.get(str(e.target))
        return target is not None and target.scope == e.scope

    def policy(self, predicate_key: str | None, when: Moment) -> Policy:
        """Return the policy in force."""
        gone, declared = self._retracted(when), self.declared.get(predicate_key or "", [])
        known = [d for d in declared if when.knows(d.event_id) and d.event_id not in gone]
        started = [d for d in known if d.valid_from is None or d.valid_from <= when.valid]
        if started:
            return max(started, key=_when).policy
        one = predicate_key in SINGLE_VALUED
        return Policy(cardinality=Cardinality.ONE if one else Cardinality.MANY)

    def slot(self, scope: str, subject: str, predicate: str, when: Moment) -> dict[str, Any]:
        """Return a slot as a handle on a scope shows it."""
        key = claims.name_key(subject), claims.predicate_key(predicate)
        policy = self.policy(key[1], when)
        for place in SEES[scope]:
            beliefs = [k for k in self.kept.values() if k.key == (place, *key)]
            if any(k.since(when) is not None for k in beliefs):
                return {
                    "scope": place,
                    "policy": policy,
                    "candidates": self._ranked(beliefs, policy, when),
                }
        return {"scope": scope, "policy": policy, "candidates": []}

    def slots(self, scope: str, when: Moment) -> list[dict[str, Any]]:
        """Return all slots that a handle shows, in order; retracted evidence also creates slots."""
        by_slot: dict[tuple[str, str, str], list[Kept]] = {}
        for kept in self.kept.values():
            place, subject, predicate = kept.key
            if place in SEES[scope] and subject and predicate:
                by_slot.setdefault((place, subject, predicate), []).append(kept)
        return [
            {
                "scope": key[0],
                "policy": (policy := self.policy(key[2], when)),
                "candidates": self._ranked(values, policy, when),
            }
            for key, values in sorted(by_slot.items())
            if any(when.sees(e.at, e.id) for kept in values for e in kept.evidence)
        ]

    def _ranked(
        self, beliefs: Iterable[Kept], policy: Policy, when: Moment
    ) -> list[dict[str, Any]]:
        visible = {k.claim.id: self.visible(k, when) for k in beliefs}
        visible = {claim: evidence for claim, evidence in visible.items() if evidence}
        if policy.cardinality == Cardinality.ONE:
            rows = [
                {
                    "belief": c.belief,
                    "score": c.score,
                    "last_at": c.last_at,
                    "last_id": c.last_id,
                    "ambiguous": c.ambiguous,
                    "belief_id": c.claim,
                }
                for c in projection.one(
                    [e for evidence in visible.values() for e in evidence],
                    when.valid,
                    kappa=policy.kappa,
                    tau_days=math.inf if policy.tau_days is None else policy.tau_days,
                    decay_per_day=policy.decay_per_day,
                    margin=policy.margin,
                )
            ]
        else:
            rows = [
                many_of(evidence, policy, when.valid)
                | {
                    "belief_id": claim,
                    "last_at": max((e.at for e in evidence if e.polarity > 0), default=None),
                    "last_id": None,
                    "ambiguous": False,
                }
                for claim, evidence in visible.items()
            ]
        for row in rows:
            kept = self.kept[str(row["belief_id"])]
            row |= {
                "events": len(visible[kept.claim.id]),
                "object": kept.worded.object,
                "statement": kept.worded.statement,
                "status": kept.status(when),
            }
        return rows

    def card(self, kept: Kept, when: Moment) -> dict[str, Any]:
        """Return a belief that exists at that moment, as a reader sees it."""
        evidence, initial = self.visible(kept, when), kept.initial(when)
        policy = self.policy(kept.claim.predicate_key, when)
        sides = many_of(evidence, policy, when.valid, initial)
        belief = sides["belief"]
        if evidence and policy.cardinality == Cardinality.ONE and kept.claim.subject_key:
            candidates = [k for k in self.kept.values() if k.key == kept.key]
            [own] = [
                row
                for row in self._ranked(candidates, policy, when)
                if row["belief_id"] == kept.claim.id
            ]
            belief = own["belief"]
        verdict = sequential.test(evidence, initial)
        words = kept.worded
        return {
            "id": kept.claim.id,
            "scope": kept.claim.scope,
            "statement": words.statement,
            "subject": words.subject,
            "predicate": words.predicate,
            "object": words.object,
            "status": kept.status(when),
            "created_at": kept.since(when),
            "initial_confidence": initial,
            "belief": belief,
            "positive": sides["positive"],
            "negative": sides["negative"],
            "supporting_episodes": sides["supporting_episodes"],
            "refuting_episodes": sides["refuting_episodes"],
            "contested": sides["contested"],
            "verdict": {
                "status": str(verdict.status),
                "log_ratio": verdict.log_ratio,
                "confidence": verdict.confidence,
                "evidence": len(evidence),
            },
        }

    def cards(self, scope: str, when: Moment, *, superseded: bool) -> list[dict[str, Any]]:
        """Return all beliefs in one page, as a handle on a scope shows them."""
        seen = [
            self.card(kept, when)
            for kept in self.kept.values()
            if kept.claim.scope in SEES[scope] and kept.since(when) is not None
        ]
        seen.sort(key=lambda card: (card["created_at"], card["id"]), reverse=True)
        return [card for card in seen if superseded or card["status"] == "current"]

    def links(self) -> set[tuple[str, str, str, bool]]:
        """Return newer, older, event id and whether in force, of every supersession."""
        return {
            (newer, older, by.event_id, lineage.in_force(by, self.kept[older].effects))
            for newer, older, by in self.edges
        }


_CURRENT, _SUPERSEDED = Status.CURRENT, Status.SUPERSEDED


def told(
    event_id: str, claim: str, at: datetime, kind: str, strength: float, episode: str | None = None
) -> Evidence:
    """Return evidence with a strength, in the form that the oracles use."""
    counted = min(max(strength, 0.1), 0.9)
    return Evidence(
        id=event_id,
        claim=claim,
        polarity=1 if kind == "supporting" else -1,
        confidence=max(0.0, 2 * counted - 1),
        weight=1.0,
        episode=episode,
        at=at,
        strength=counted,
    )


def many_of(
    evidence: Sequence[Evidence], policy: Policy, valid: datetime, initial: float = 0.5
) -> dict[str, Any]:
    """Return the belief in a claim from its evidence, with the fields of a candidate."""
    result = projection.many(
        evidence, valid, decay_per_day=policy.decay_per_day, combine=policy.combine, initial=initial
    )
    return {
        "belief": result.belief,
        "score": result.belief,
        "positive": result.positive,
        "negative": result.negative,
        "log_positive": result.log_positive,
        "log_negative": result.log_negative,
        "supporting_episodes": result.supporting_episodes,
        "refuting_episodes": result.refuting_episodes,
        "contested": result.contested,
    }


def _when(declared: tuple[Any, ...]) -> tuple[datetime, str]:
    return declared[0], declared[1]
