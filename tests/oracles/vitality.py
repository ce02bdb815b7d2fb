"""Vitality of a belief: the oracle of cypher/fragments/vitality.cypher, and the gate.

Dual strength (Bjork): storage strength only grows; retrieval strength decays with disuse and
becomes more durable by spaced retrievals. In addition, a mean weighted by precision, and the gate
that decides whether a contradiction flags the belief (Nader; Engram's findings).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from graphmem.model import EventType, Vitality
from graphmem.rules.formulas import Evidence
from graphmem.rules.vitality import STANDARD_VITALITY, VitalityConstants
from tests.oracles import projection
from tests.oracles.sequential import implied_belief

_DAY = timedelta(days=1)
END = datetime(9999, 1, 1, tzinfo=UTC)


class Piece(NamedTuple):
    """A piece of evidence that counts, and its source."""

    evidence: Evidence
    source: str
    importance: float | None = None
    """Importance of the episode that it occurred in; None if it occurred in none."""


class Mark(NamedTuple):
    """A FLAG or a RESOLVE event of a belief."""

    id: str
    type: EventType
    at: datetime


@dataclass(frozen=True)
class Life:
    """Visible history of a belief at a pair of times, in any order, without retracted evidence."""

    created_at: datetime
    """Time of the first visible event about the belief."""
    initial: float
    """Confidence before any evidence."""
    pieces: Sequence[Piece] = ()
    accesses: Sequence[datetime] = ()
    marks: Sequence[Mark] = ()
    returns: Sequence[Sequence[datetime]] = ()
    """Times at which a search returned it, by session."""
    stated_by: Sequence[str] = ()
    """The `source` of each event that states the belief."""


def vitality(life: Life, valid: datetime, by: VitalityConstants = STANDARD_VITALITY) -> Vitality:
    """Return the vitality of a belief.

    Args:
        life: Visible history of the belief at `valid`.
        valid: Valid time.
        by: The constants.
    """
    evidence = sorted((piece.evidence for piece in life.pieces), key=attrgetter("at", "id"))
    supports = [piece for piece in life.pieces if piece.evidence.polarity > 0]
    instants = {*life.accesses, *(piece.evidence.at for piece in supports)}
    instants |= {max(session) for session in life.returns if session}
    instants = instants or {life.created_at}
    found = gated(life, by)
    days = stability(instants, found.flags, by)
    importances = (p.importance for p in supports if p.importance is not None)
    importance = max(importances, default=by.neutral)
    mean, precision = weighted(evidence, life.initial, by)
    return Vitality(
        retrieval=retrieval(valid - max(instants), days, importance, by),
        stability_days=days,
        storage=len(evidence),
        last_access_at=max(life.accesses, default=None),
        mean=mean,
        precision=precision,
        prior=found.prior,
        prior_at=found.prior_at,
        contradiction=found.contradiction,
        gate=gate(found.known, valid - life.created_at, by),
        flagged_at=found.flagged_at,
        importance=importance,
        derived=derived(life, by),
    )


class Gated(NamedTuple):
    """Effect of contradictions and marks on a belief."""

    prior: float
    prior_at: datetime | None
    known: int
    """Number of pieces of evidence at `prior_at`."""
    contradiction: float
    flagged_at: datetime | None
    flags: Sequence[datetime]
    """Times at which it became flagged."""


def gated(life: Life, by: VitalityConstants = STANDARD_VITALITY) -> Gated:
    """Return when a belief became flagged, replaying its evidence and marks in order of time.

    Every belief is that of the projection (log odds, without decay) of the evidence until then.
    """
    pieces = [piece.evidence for piece in life.pieces]
    prior, prior_at, known = life.initial, None, 0
    base: list[Evidence] = []
    flagged: datetime | None = None
    flags: list[datetime] = []
    contradiction = 0.0
    for at in sorted({*(e.at for e in pieces), *(m.at for m in life.marks)}):
        before = [e for e in pieces if e.at < at]
        supports = [e for e in pieces if e.at == at and e.polarity > 0]
        refuting = [e for e in pieces if e.at == at and e.polarity < 0]
        if any(projection.many([e], END).positive > 1e-9 for e in supports):
            base = before + supports
            prior, prior_at, known = _belief(base), at, len(base)
        now = before + supports + refuting
        contradiction = _pooled(now, base)
        error = prior * contradiction
        recent = any(
            timedelta(0) <= at - seen <= timedelta(hours=by.gate_window_hours)
            for seen in life.accesses
        )
        opens = bool(refuting) and (
            error > gate(known, at - life.created_at, by) + 1e-12 or (recent and error > 1e-12)
        )
        marks = [m.type for m in sorted(life.marks, key=lambda m: m.id) if m.at == at]
        if flagged is None and (opens or EventType.FLAG in marks):
            flags.append(at)
            flagged = at
        if marks and marks[-1] is EventType.RESOLVE:
            flagged, base, prior_at, known, contradiction = None, now, at, len(now), 0.0
            prior = _belief(now) if now else prior
    return Gated(prior, prior_at, known, contradiction, flagged, flags)


def _belief(evidence: Sequence[Evidence]) -> float:
    found = projection.many(evidence, END)
    return (1 + math.tanh((found.log_negative - found.log_positive) / 2)) / 2


def _pooled(now: Sequence[Evidence], base: Sequence[Evidence]) -> float:
    """Return what `now` refutes more than `base`: the growth of the projection's L-."""
    log = [projection.many(some, END).log_negative for some in (now, base)]
    return -math.expm1(log[0] - log[1])


def stability(
    retrievals: Iterable[datetime],
    flags: Iterable[datetime] = (),
    by: VitalityConstants = STANDARD_VITALITY,
) -> float:
    """Return S, in days: each retrieval after the first makes it grow, each flag halves it.

    S * (1 + ln(1 + days since the previous retrieval)): an immediate retrieval adds nothing, so a
    burst counts as one. Events at the same timestamp count once. A flag comes after a retrieval of
    its timestamp, because that access flagged the belief.
    """
    days, last = by.stability_days, None
    for at, flag in sorted([(at, False) for at in {*retrievals}] + [(at, True) for at in {*flags}]):
        if flag:
            days = max(by.least_days, days * by.flagged)
        else:
            gap = (at - last) / _DAY if last is not None else 0.0
            days, last = min(by.max_stability_days, days * (1 + math.log1p(gap))), at
    return days


def retrieval(
    since: timedelta,
    stability_days: float,
    importance: float,
    by: VitalityConstants = STANDARD_VITALITY,
) -> float:
    """Return R in [0, 1].

    Args:
        since: Time since the last retrieval; a future retrieval counts as now.
        stability_days: S.
        importance: Importance in [0, 1]; important beliefs decay more slowly.
        by: The constants.
    """
    lasts = stability_days * by.stretch ** (importance - by.neutral)
    return math.exp(-max(since / _DAY, 0.0) / lasts)


def weighted(
    evidence: Iterable[Evidence], initial: float, by: VitalityConstants = STANDARD_VITALITY
) -> tuple[float, float]:
    """Return the mean weighted by precision, and its precision.

    Each piece of evidence moves the mean by its share, weight * confidence, of the sum of
    precisions so far; evidence without precision changes nothing.
    """
    mean, total = initial, by.prior_precision
    for e in evidence:
        precision = e.weight * e.confidence
        if precision > 0:
            total += precision
            mean += precision / total * (implied_belief(e) - mean)
    return mean, total


def gate(storage: int, age: timedelta, by: VitalityConstants = STANDARD_VITALITY) -> float:
    """Return the error that a contradiction must exceed; it grows with age and evidence.

    Args:
        storage: Number of pieces of evidence that count.
        age: Time since the first visible event about the belief.
        by: The constants.
    """
    wanted = by.gate_base * math.log1p(storage) * math.log1p(max(age / _DAY, 0.0))
    return min(max(wanted, by.gate_min), by.gate_max)


def derived(life: Life, by: VitalityConstants = STANDARD_VITALITY) -> bool:
    """Return whether only consolidation states and supports a belief."""
    sources = [*life.stated_by, *(p.source for p in life.pieces if p.evidence.polarity > 0)]
    inferred = any(piece.source == by.consolidation for piece in life.pieces)
    return inferred and all(source == by.consolidation for source in sources)
