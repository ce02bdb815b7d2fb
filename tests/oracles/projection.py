"""The MANY and ONE projections of evidence onto claims: oracles of cypher/belief/."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter

from graphmem.model.belief import Combine, Policy
from graphmem.rules.formulas import Evidence

POLICY = Policy()
"""The product's defaults, so that the two stay identical."""
MOST = 1 - 1e-9
"""Upper bound of confidences, scores and beliefs, so that ln(1 - p) stays finite."""
CONTESTED = 0.5
"""A claim is contested if both sides exceed this."""
_DAY = timedelta(days=1)
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ManyBelief:
    """Belief in one claim that may be true together with others."""

    belief: float
    positive: float
    """P+ in [0, 1)."""
    negative: float
    """P- in [0, 1)."""
    log_positive: float
    """L+ <= 0, the logarithm of 1 - P+."""
    log_negative: float
    """L- <= 0, the logarithm of 1 - P-."""
    supporting_episodes: int
    refuting_episodes: int
    contested: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the claims that compete for a slot."""

    claim: str
    score: float
    """Score without decay; ranking and ambiguity use it."""
    belief: float
    """Score, decayed since the last positive evidence."""
    last_at: datetime | None
    """Time of the last positive evidence; None if there is none."""
    last_id: str | None
    ambiguous: bool


@dataclass(frozen=True, slots=True)
class State:
    """State of one claim after the fold over a slot: everything that its future depends on."""

    claim: str
    score: float
    last_at: datetime | None
    last_id: str | None


def many_order(values: Iterable[State], *, undeclared: bool) -> list[State]:
    """Return the values of a MANY slot in order: by belief, then the later one, then the larger id.

    If nothing declares the cardinality, likely values are first, newest first: one may replace the
    others.
    """

    def rank(s: State) -> tuple[bool, datetime, float, datetime, str]:
        is_open = undeclared and s.score >= 0.5 and s.last_at is not None
        last_at = s.last_at or _NEVER
        return is_open, last_at if is_open else _NEVER, s.score, last_at, s.claim

    return sorted(values, key=rank, reverse=True)


def clipped(x: float) -> float:
    """Return `x` within [0, 1 - 1e-9]."""
    return min(max(x, 0.0), MOST)


def days(span: timedelta) -> float:
    """Return the length of `span` in days."""
    return span / _DAY


def visible(evidence: Iterable[Evidence], valid: datetime) -> list[Evidence]:
    """Return the evidence that happened by `valid`, in order of (timestamp, id).

    Each event appears once for each claim that it is about.
    """
    once = {(e.id, e.claim): e for e in evidence if e.at <= valid}
    return sorted(once.values(), key=attrgetter("at", "id"))


def episode_of(e: Evidence) -> Hashable:
    """Return a key for the episode of `e`; an event without one is its own episode."""
    return (e.episode,) if e.episode is not None else (None, e.id)


def many(
    evidence: Sequence[Evidence],
    valid: datetime,
    *,
    decay_per_day: float = POLICY.decay_per_day,
    combine: str = POLICY.combine,
    initial: float = 0.5,
) -> ManyBelief:
    """Return the belief in a claim at `valid`, from its evidence.

    Per episode and polarity only the strongest event counts, so an echo adds nothing; episodes
    combine by weighted noisy-OR.

    Args:
        evidence: Evidence of one claim, in any order.
        valid: Valid time; later events are ignored.
        decay_per_day: Decay rate lambda >= 0 of the confidences.
        combine: `net` takes P+ - P-, at least 0; `log_odds` the logistic of L- - L+, which still
            separates the sides where both are near 1.
        initial: Belief without any evidence, in [0, 1].
    """
    sides: dict[int, dict[Hashable, float]] = {1: {}, -1: {}}
    for e in visible(evidence, valid):
        faded = clipped(e.confidence * math.exp(-decay_per_day * days(valid - e.at)))
        episodes, episode = sides[e.polarity], episode_of(e)
        episodes[episode] = min(episodes.get(episode, 0.0), e.weight * math.log1p(-faded))
    log_positive, log_negative = (math.fsum(sides[side].values()) for side in (1, -1))
    positive, negative = 0.0 - math.expm1(log_positive), 0.0 - math.expm1(log_negative)
    if not sides[1] and not sides[-1]:
        belief = initial
    elif Combine(combine) is Combine.NET:
        belief = clipped(positive - negative)
    else:
        # The logistic function, in a form without overflow.
        belief = clipped((1 + math.tanh((log_negative - log_positive) / 2)) / 2)
    return ManyBelief(
        belief=belief,
        positive=positive,
        negative=negative,
        log_positive=log_positive,
        log_negative=log_negative,
        supporting_episodes=len(sides[1]),
        refuting_episodes=len(sides[-1]),
        contested=positive > CONTESTED and negative > CONTESTED,
    )


def one(
    evidence: Sequence[Evidence],
    valid: datetime,
    *,
    kappa: float = POLICY.kappa,
    tau_days: float = math.inf,
    decay_per_day: float = POLICY.decay_per_day,
    margin: float = POLICY.margin,
) -> list[Candidate]:
    """Return the competing claims of a slot at `valid`, best first: the definition, as a fold.

    Positive evidence suppresses every other claim last affirmed before it and sets its own claim's
    score; negative evidence weakens its own claim. At one timestamp, negative evidence comes last.

    Args:
        evidence: Evidence of one slot, in any order.
        valid: Valid time; later events are ignored.
        kappa: Strength >= 0 with which positive evidence suppresses the others.
        tau_days: Time constant > 0 by which older claims are spared.
        decay_per_day: Decay rate lambda >= 0 of the scores since their last positive evidence.
        margin: The two best are ambiguous if their scores differ by less than this.
    """
    states: dict[str, State] = {}
    for e in sorted(visible(evidence, valid), key=lambda e: (e.at, -e.polarity, e.id)):
        s = _score(e)
        own = states.get(e.claim, State(e.claim, 0.0, None, None))
        if e.polarity < 0:
            states[e.claim] = State(e.claim, clipped(own.score * (1 - s)), own.last_at, own.last_id)
            continue
        for other in states.values():
            if other.claim != e.claim and other.last_at is not None and other.last_at < e.at:
                force = kappa * s * math.exp(-days(e.at - other.last_at) / tau_days)
                score = clipped(other.score * math.exp(-force))
                states[other.claim] = State(other.claim, score, other.last_at, other.last_id)
        states[e.claim] = State(e.claim, s, e.at, e.id)
    return ranked(states.values(), valid, decay_per_day=decay_per_day, margin=margin)


def one_closed(
    evidence: Sequence[Evidence],
    valid: datetime,
    *,
    kappa: float = POLICY.kappa,
    tau_days: float = math.inf,
    decay_per_day: float = POLICY.decay_per_day,
    margin: float = POLICY.margin,
) -> list[Candidate]:
    """Return the result of `one` in a time that does not grow with the number of claims."""
    states = continued((), evidence, valid, kappa=kappa, tau_days=tau_days)
    return ranked(states, valid, decay_per_day=decay_per_day, margin=margin)


def continued(
    state: Sequence[State],
    tail: Sequence[Evidence],
    valid: datetime,
    *,
    kappa: float = POLICY.kappa,
    tau_days: float = math.inf,
) -> list[State]:
    """Return the state of a slot at `valid`, from an earlier state and the evidence since.

    In closed form: score = that of the last positive evidence * product of (1 - s) over the
    negative evidence since * exp(-kappa * A), with A the sum of s * exp(-dt / tau) over the
    positive evidence that is later.

    Args:
        state: State of the slot at some time; empty for its beginning.
        tail: Evidence strictly later than all evidence in `state`, in any order.
        valid: Valid time; later events are ignored.
        kappa: As in `one`.
        tau_days: As in `one`.
    """
    seen = sorted(visible(tail, valid), key=lambda e: (e.at, -e.polarity, e.id))
    start = {s.claim: s for s in state}
    for e in seen:
        own = start.get(e.claim, State(e.claim, 0.0, None, None))
        s = _score(e)
        start[e.claim] = (
            State(e.claim, s, e.at, e.id)
            if e.polarity > 0
            else State(e.claim, own.score * (1 - s), own.last_at, own.last_id)
        )
    pressure = _pressure(seen, [s.last_at for s in start.values() if s.last_at], tau_days)
    return [
        State(s.claim, s.score * math.exp(-kappa * pressure[s.last_at]), s.last_at, s.last_id)
        if s.last_at
        else s
        for s in start.values()
    ]


def ranked(
    states: Iterable[State],
    valid: datetime,
    *,
    decay_per_day: float = POLICY.decay_per_day,
    margin: float = POLICY.margin,
) -> list[Candidate]:
    """Return the claims of a slot best first, decayed to `valid`; the two best may be ambiguous.

    Equal scores are ordered by the later positive evidence, then its larger id, then the larger
    claim.
    """
    candidates = sorted(
        states,
        key=lambda s: (s.last_at is not None, s.score, s.last_at or _NEVER, s.last_id, s.claim),
        reverse=True,
    )
    ambiguous = (
        len(candidates) > 1
        and candidates[1].last_at is not None
        and candidates[0].score - candidates[1].score < margin
    )
    return [
        Candidate(
            claim=s.claim,
            score=s.score,
            belief=clipped(s.score * math.exp(-decay_per_day * days(valid - s.last_at)))
            if s.last_at
            else 0.0,
            last_at=s.last_at,
            last_id=s.last_id,
            ambiguous=ambiguous and place < 2,
        )
        for place, s in enumerate(candidates)
    ]


def _score(e: Evidence) -> float:
    return e.weight * clipped(e.confidence)


def _pressure(
    seen: Sequence[Evidence], instants: Iterable[datetime], tau_days: float
) -> dict[datetime, float]:
    """Return A at each timestamp: the weight of all later positive evidence.

    Accumulated from the newest to the oldest, A(t) = (A(t') + s at t') * exp(-(t' - t) / tau) with
    t' the next timestamp. A claim's own evidence is never later than its last.
    """
    weights = dict.fromkeys(instants, 0.0)
    for at, events in groupby((e for e in seen if e.polarity > 0), key=attrgetter("at")):
        weights[at] = math.fsum(_score(e) for e in events)
    pressure: dict[datetime, float] = {}
    total, later = 0.0, 0.0
    after: datetime | None = None
    for at in sorted(weights, reverse=True):
        if after is not None:
            total = (total + later) * math.exp(-days(after - at) / tau_days)
        pressure[at], later, after = total, weights[at], at
    return pressure
