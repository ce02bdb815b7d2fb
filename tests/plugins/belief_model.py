"""What beliefs should be after any evidence, kept in plain lists and read by the oracles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem.model import Cardinality, Policy, Status
from graphmem.rules import claims, identity
from graphmem.rules.claims import Claim
from graphmem.rules.formulas import Evidence
from graphmem.settings import SOURCE_WEIGHTS
from tests.oracles import lineage, projection, retraction, sequential

SEES = {"global": ("global",), "alice": ("alice", "global")}
"""Scopes that a handle can see, its own first."""


@dataclass(frozen=True)
class Happened:
    """One event."""

    id: str
    scope: str
    at: datetime
    kind: str
    target: str | None = None
    """What a retraction retracts."""


@dataclass(frozen=True)
class Moment:
    """A pair of times, and when each event was recorded; known None sees all."""

    valid: datetime
    known: datetime | None = None
    recorded: Mapping[str, datetime] = field(default_factory=dict)

    def sees(self, at: datetime, event_id: str) -> bool:
        """Whether an event is seen then."""
        return at <= self.valid and (self.known is None or self.recorded[event_id] <= self.known)


@dataclass
class Kept:
    """One belief as the model has it."""

    claim: Claim
    wordings: list[tuple[datetime, str, Claim]] = field(default_factory=list)
    thoughts: list[tuple[datetime, str, float]] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    said: list[tuple[datetime, str]] = field(default_factory=list)
    """When and by which event anything was said of it."""
    effects: list[lineage.Effect] = field(default_factory=list)

    @property
    def worded(self) -> Claim:
        """As its earliest event words it."""
        return min(self.wordings, key=lambda w: w[:2])[2]

    @property
    def key(self) -> tuple[str, str | None, str | None]:
        """Of its slot."""
        return self.claim.scope, self.claim.subject_key, self.claim.predicate_key

    def status(self, when: Moment | None = None) -> str:
        """What its lineage makes of it then; by all that is known, when no time is given."""
        seen = [e for e in self.effects if when is None or when.sees(e.occurred_at, e.event_id)]
        return str(lineage.status_of(seen))

    def initial(self, when: Moment) -> float:
        """What was believed before any evidence."""
        seen = [thought for thought in self.thoughts if when.sees(*thought[:2])]
        return min(seen, key=lambda t: t[:2])[2] if seen else 0.5

    def since(self, when: Moment) -> datetime | None:
        """When it was first spoken of, as far as is seen."""
        return min((at for at, name in self.said if when.sees(at, name)), default=None)


class Model:
    """All beliefs of one tenant."""

    def __init__(self) -> None:
        self.kept: dict[str, Kept] = {}
        self.events: dict[str, Happened] = {}
        self.declared: dict[str, list[tuple[datetime, str, Policy, str | None, str]]] = {}
        """By predicate: when, by which event, how it is read, how read aloud, its name."""
        self.edges: list[tuple[str, str, lineage.Effect]] = []
        """Newer, older and what superseded it."""
        self.texts: set[tuple[str, str]] = set()
        """What is remembered, by scope."""

    # What is written.

    def _happen(
        self, event_id: str, scope: str, at: datetime, kind: str, target: str | None = None
    ) -> None:
        self.events[event_id] = Happened(event_id, scope, at, kind, target)

    def _meet(self, claim: Claim, at: datetime, event_id: str) -> Kept:
        found = self.kept.setdefault(claim.id, Kept(claim))
        found.said.append((at, event_id))
        return found

    def claim(self, scope: str, parts: Sequence[str], statement: str | None = None) -> Claim:
        """Return a triple's claim, read aloud as its predicate has it by now."""
        if statement is None:
            newest = max(self.declared.get(claims.folded(parts[1]), []), default=None, key=_when)
            statement = claims.spoken(newest[3] if newest else None, *parts)
        subject, predicate, object_ = parts
        return claims.about_triple(scope, subject, predicate, object_, statement)

    def observe(self, event_id: str, claim: Claim, at: datetime, said: Mapping[str, Any]) -> None:
        """Record an observation."""
        self._happen(event_id, claim.scope, at, "EVIDENCE")
        self._hear(event_id, claim, at, said)

    def remember(
        self,
        event_id: str,
        scope: str,
        text: str,
        asserted: Iterable[Claim],
        at: datetime,
        said: Mapping[str, Any],
    ) -> None:
        """Record a text that asserts something."""
        there = any((seen, text) in self.texts for seen in SEES[scope])
        self._happen(event_id, scope, at, "REINFORCE_EXACT" if there else "ADD")
        if not there:
            self.texts.add((scope, text))
        for claim in asserted:
            self._hear(event_id, claim, at, {"kind": "supporting", "episode": None, **said})

    def _hear(self, event_id: str, claim: Claim, at: datetime, said: Mapping[str, Any]) -> None:
        kept = self._meet(claim, at, event_id)
        kept.wordings.append((at, event_id, claim))
        kept.evidence.append(
            Evidence(
                id=event_id,
                claim=claim.id,
                polarity=1 if said["kind"] == "supporting" else -1,
                confidence=said["confidence"],
                weight=SOURCE_WEIGHTS[said["source_type"]],
                episode=said["episode"],
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
        kept = self._meet(claim, at, event_id)
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
        """Put beliefs in the place of others."""
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
        """Take an event back, which may come later."""
        self._happen(event_id, scope, at, "RETRACT", target)

    def declare(
        self, event_id: str, name: str, at: datetime, policy: Policy, template: str | None
    ) -> None:
        """Declare how a predicate is read."""
        self._happen(event_id, "global", at, "POLICY")
        key = claims.folded(name)
        self.declared.setdefault(key, []).append((at, event_id, policy, template, name))

    # What is read.

    def visible(self, kept: Kept, when: Moment) -> list[Evidence]:
        """Return what counts for a belief, retractions taken into account."""
        known = [
            retraction.Retract(e.id, str(e.target), e.at, when.recorded.get(e.id, when.valid))
            for e in self.events.values()
            if e.kind == "RETRACT" and self._is_own(e)
        ]
        gone = retraction.retracted(known, when.known)
        return [e for e in kept.evidence if when.sees(e.at, e.id) and e.id not in gone]

    def _is_own(self, e: Happened) -> bool:
        """Whether the target of a retraction is of its own scope."""
        target = self.events.get(str(e.target))
        return target is not None and target.scope == e.scope

    def policy(self, predicate_key: str | None, when: Moment) -> Policy:
        """Return the policy in force."""
        told = [d for d in self.declared.get(predicate_key or "", []) if when.sees(*d[:2])]
        return max(told, key=_when)[2] if told else Policy()

    def slot(self, scope: str, subject: str, predicate: str, when: Moment) -> dict[str, Any]:
        """Return what a handle on a scope is shown of a slot."""
        key = claims.folded(subject), claims.folded(predicate)
        policy = self.policy(key[1], when)
        for place in SEES[scope]:
            found = [k for k in self.kept.values() if k.key == (place, *key)]
            if any(k.since(when) is not None for k in found):
                return {
                    "scope": place,
                    "policy": policy,
                    "candidates": self._ranked(found, policy, when),
                }
        return {"scope": scope, "policy": policy, "candidates": []}

    def slots(self, scope: str, when: Moment) -> list[dict[str, Any]]:
        """Return all slots that a handle is shown, in order; what is taken back still makes one."""
        found: dict[tuple[str, str, str], list[Kept]] = {}
        for kept in self.kept.values():
            place, subject, predicate = kept.key
            if place in SEES[scope] and subject and predicate:
                found.setdefault((place, subject, predicate), []).append(kept)
        return [
            {
                "scope": key[0],
                "policy": (policy := self.policy(key[2], when)),
                "candidates": self._ranked(values, policy, when),
            }
            for key, values in sorted(found.items())
            if any(when.sees(e.at, e.id) for kept in values for e in kept.evidence)
        ]

    def _ranked(self, found: Iterable[Kept], policy: Policy, when: Moment) -> list[dict[str, Any]]:
        heard = {k.claim.id: self.visible(k, when) for k in found}
        heard = {claim: evidence for claim, evidence in heard.items() if evidence}
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
                    [e for evidence in heard.values() for e in evidence],
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
                for claim, evidence in heard.items()
            ]
        for row in rows:
            kept = self.kept[str(row["belief_id"])]
            row |= {
                "events": len(heard[kept.claim.id]),
                "object": kept.worded.object,
                "statement": kept.worded.statement,
                "status": kept.status(when),
            }
        return rows

    def card(self, kept: Kept, when: Moment) -> dict[str, Any]:
        """Return what a reader is shown of a belief that is spoken of by then."""
        evidence, initial = self.visible(kept, when), kept.initial(when)
        policy = self.policy(kept.claim.predicate_key, when)
        sides = many_of(evidence, policy, when.valid, initial)
        belief = sides["belief"]
        if evidence and policy.cardinality == Cardinality.ONE and kept.claim.subject_key:
            rivals = [k for k in self.kept.values() if k.key == kept.key]
            [own] = [
                row
                for row in self._ranked(rivals, policy, when)
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
        """Return what a page that is long enough shows to a handle on a scope."""
        seen = [
            self.card(kept, when)
            for kept in self.kept.values()
            if kept.claim.scope in SEES[scope] and kept.since(when) is not None
        ]
        seen.sort(key=lambda card: (card["created_at"], card["id"]), reverse=True)
        return [card for card in seen if superseded or card["status"] == "current"]

    def links(self) -> set[tuple[str, str, str, bool]]:
        """Return newer, older, event and whether in force, of every supersession."""
        return {
            (newer, older, by.event_id, lineage.in_force(by, self.kept[older].effects))
            for newer, older, by in self.edges
        }


_CURRENT, _SUPERSEDED = Status.CURRENT, Status.SUPERSEDED


def told(
    event_id: str,
    claim: str,
    at: datetime,
    kind: str,
    strength: float,
    episode: str | None = None,
) -> Evidence:
    """Return a testimony as the oracles see it."""
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
    """Return what the evidence of one claim makes of it, as a candidate has it."""
    found = projection.many(
        evidence,
        valid,
        decay_per_day=policy.decay_per_day,
        combine=policy.combine,
        initial=initial,
    )
    return {
        "belief": found.belief,
        "score": found.belief,
        "positive": found.positive,
        "negative": found.negative,
        "log_positive": found.log_positive,
        "log_negative": found.log_negative,
        "supporting_episodes": found.supporting_episodes,
        "refuting_episodes": found.refuting_episodes,
        "contested": found.contested,
    }


def _when(declared: tuple[Any, ...]) -> tuple[datetime, str]:
    return declared[0], declared[1]
