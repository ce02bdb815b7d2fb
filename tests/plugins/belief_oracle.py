"""Differences between reads of beliefs and the oracles' results for the same evidence."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from graphmem.model import (
    AsOf,
    Belief,
    Cardinality,
    HypotheticalEvidence,
    Policy,
    PolicyOrigin,
    Slot,
    Trail,
)
from graphmem.rules import formulas
from graphmem.rules.formulas import Evidence, clamp_strength
from tests.oracles import projection
from tests.oracles import sequential as sequential_oracle
from tests.oracles.projection import CONTESTED, Candidate, ManyBelief, State
from tests.plugins.histories import Written
from tests.rules.strategies_histories import END, TOLERANCE, Overwriting, unlike

LONG = 1_000
"""Number of events from which the closed form replaces the fold; other tests compare the two."""


def close(a: float, b: float) -> bool:
    """Return whether two numbers agree, up to the rounding of large sums."""
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def wrong_slot(written: Written, slot: Slot, as_of: AsOf) -> list[str]:
    """Return the differences between a slot and its history, read by the slot's policy."""
    evidence, valid = written.seen(as_of.known), as_of.valid or END
    seen = by_claim(evidence, valid)
    counts = {claim: len(events) for claim, events in seen.items()}
    found = {c.belief_id: c.events for c in slot.candidates}
    if (found, slot.total) != (counts, len(counts)):
        return [f"{found} of {slot.total}, not {counts}"]
    # Closer to 1 than the tolerance, so that a comparison would not detect it.
    certain = [c.object for c in slot.candidates if max(c.score, c.belief) > projection.MOST]
    if certain:
        return [f"{certain} above the maximum score"]
    if slot.policy.cardinality is Cardinality.ONE:
        return _wrong_candidates(slot, evidence, valid)
    return _wrong_neighbours(slot, seen, valid)


def wrong_belief(written: Written, found: Belief, as_of: AsOf, policy: Policy) -> list[str]:
    """Return the differences between a belief and its history, read by a policy."""
    valid, initial = as_of.valid or END, written.initial(found.id, as_of)
    own = projection.visible(written.of(found.id, as_of.known), valid)
    many = _many(own, valid, policy, initial)
    belief = many.belief
    if policy.cardinality is Cardinality.ONE:
        beliefs = {c.claim: c.belief for c in _one(written.seen(as_of.known), valid, policy)}
        belief = beliefs.get(found.id, belief)
    verdict = sequential_oracle.test(own, initial)
    numbers = {
        "initial": (found.initial_confidence, initial),
        "belief": (found.belief, belief),
        "positive": (found.positive, many.positive),
        "negative": (found.negative, many.negative),
        "supporting": (found.supporting_episodes, many.supporting_episodes),
        "refuting": (found.refuting_episodes, many.refuting_episodes),
        "log_ratio": (found.verdict.log_ratio, verdict.log_ratio),
        "confidence": (found.verdict.confidence, verdict.confidence),
        "evidence": (found.verdict.evidence, len(verdict.steps)),
    }
    problems = [f"{name} {a}, not {b}" for name, (a, b) in numbers.items() if not close(a, b)]
    if found.verdict.status is not verdict.status:
        problems.append(f"{found.verdict.status}, not {verdict.status}")
    if found.contested is not many.contested and not _on_the_edge(many):
        problems.append(f"contested {found.contested}")
    return [f"{found.object}: {problem}" for problem in problems]


def verdict_of(
    written: Written,
    belief_id: str,
    as_of: AsOf,
    extra: Sequence[HypotheticalEvidence] = (),
    without: Sequence[str] = (),
    *,
    pooled: bool = False,
) -> sequential_oracle.Verdict:
    """Return the verdict of the visible evidence of a claim and of hypothetical evidence."""
    valid = as_of.valid or END
    evidence = [e for e in written.of(belief_id, as_of.known) if e.at <= valid]
    evidence = [e for e in evidence if e.id not in without]
    evidence += [
        Evidence(
            id=f"supposed {place}",
            claim=belief_id,
            polarity=extra_evidence.kind.polarity,
            confidence=0.0,
            weight=1.0,
            episode=extra_evidence.episode_id,
            at=extra_evidence.at or valid,
            strength=clamp_strength(extra_evidence.strength),
        )
        for place, extra_evidence in enumerate(extra)
    ]
    return sequential_oracle.test(evidence, written.initial(belief_id, as_of), pooled=pooled)


def wrong_trail(
    trail: Trail, expected: sequential_oracle.Verdict, *, start: int = 0, limit: int = 100
) -> list[str]:
    """Return the differences between a page of a trail and a verdict with its steps."""
    steps = expected.steps[start : start + limit]
    if [line.event_id for line in trail.lines] != [step.id for step in steps]:
        return [f"{[line.event_id for line in trail.lines]}, not {[step.id for step in steps]}"]
    problems = []
    for line, step in zip(trail.lines, steps, strict=True):
        numbers = (
            (line.llr, step.llr),
            (line.log_ratio, step.log_ratio),
            (line.confidence, step.confidence),
        )
        alike = (line.status, line.occurred_at) == (step.status, step.at)
        if not alike or not all(close(a, b) for a, b in numbers):
            problems.append(f"{line}, not {step}")
    needed = formulas.evidence_needed(expected)
    totals = (
        (trail.verdict.log_ratio, expected.log_ratio),
        (trail.verdict.confidence, expected.confidence),
        (trail.needed.promote, needed.promote),
        (trail.needed.demote, needed.demote),
    )
    alike = (trail.verdict.status, trail.verdict.evidence) == (expected.status, len(expected.steps))
    if not alike or not all(close(a, b) for a, b in totals):
        problems.append(f"{trail.verdict}, {trail.needed}, not {expected.status}, {needed}")
    return problems


def by_claim(evidence: Sequence[Evidence], valid: datetime) -> dict[str, list[Evidence]]:
    """Return the evidence that has happened, by claim."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    for e in projection.visible(evidence, valid):
        found[e.claim].append(e)
    return found


def _one(evidence: Sequence[Evidence], valid: datetime, policy: Policy) -> list[Candidate]:
    fold = projection.one if len(evidence) < LONG else projection.one_closed
    return fold(evidence, valid, **Overwriting.of(policy)._asdict())


def _many(
    evidence: Sequence[Evidence], valid: datetime, policy: Policy, initial: float = 0.5
) -> ManyBelief:
    return projection.many(
        evidence, valid, decay_per_day=policy.decay_per_day, combine=policy.combine, initial=initial
    )


def _wrong_candidates(slot: Slot, evidence: Sequence[Evidence], valid: datetime) -> list[str]:
    found = [
        Candidate(c.belief_id, c.score, c.belief, c.last_at, c.last_id, c.ambiguous)
        for c in slot.candidates
    ]
    return unlike(found, _one(evidence, valid, slot.policy), valid, Overwriting.of(slot.policy))


def _wrong_neighbours(slot: Slot, seen: dict[str, list[Evidence]], valid: datetime) -> list[str]:
    problems = []
    for c in slot.candidates:
        own = seen[c.belief_id]
        wanted = _many(own, valid, slot.policy)
        for name, value in asdict(wanted).items():
            edge = name == "contested" and _on_the_edge(wanted)
            if not edge and not close(getattr(c, name), value):
                problems.append(f"{c.object}: {name} {getattr(c, name)}, not {value}")
        last_at = max((e.at for e in own if e.polarity > 0), default=None)
        if c.last_at != last_at:
            problems.append(f"{c.object}: affirmed at {c.last_at}, not {last_at}")
    listed = [State(c.belief_id, c.belief, c.last_at, None) for c in slot.candidates]
    undeclared = slot.policy_origin is PolicyOrigin.DEFAULT
    ordered = projection.many_order(listed, undeclared=undeclared)
    return problems if listed == ordered else [*problems, f"not in order: {listed}"]


def _on_the_edge(wanted: ManyBelief) -> bool:
    """Return whether rounding decides if it is contested."""
    return any(abs(p - CONTESTED) < TOLERANCE for p in (wanted.positive, wanted.negative))
