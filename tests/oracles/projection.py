"""What evidence makes of claims: the MANY and ONE projections, oracles of cypher/belief/."""

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
"""The defaults of the product, so that these cannot drift from them."""
MOST = 1 - 1e-9
"""No confidence, score or belief is more: ln(1 - p) stays finite."""
CONTESTED = 0.5
"""Both sides above it: contested."""
_DAY = timedelta(days=1)
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ManyBelief:
    """What is believed of one claim that may be true beside others."""

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
    """Unfaded; the ranking and the ambiguity go by it."""
    belief: float
    """The score, faded since the last positive evidence."""
    last_at: datetime | None
    """Of the last positive evidence; None where there was none."""
    last_id: str | None
    ambiguous: bool


@dataclass(frozen=True, slots=True)
class State:
    """Where the fold over a slot left one claim: all that its future depends on."""

    claim: str
    score: float
    last_at: datetime | None
    last_id: str | None


def clipped(x: float) -> float:
    """Return `x` within [0, 1 - 1e-9]."""
    return min(max(x, 0.0), MOST)


def days(span: timedelta) -> float:
    """Return the length of `span` in days."""
    return span / _DAY


def visible(evidence: Iterable[Evidence], valid: datetime) -> list[Evidence]:
    """Return what had happened by `valid`, in order of (instant, id).

    Each event stands once for each claim that it speaks of.
    """
    once = {(e.id, e.claim): e for e in evidence if e.at <= valid}
    return sorted(once.values(), key=attrgetter("at", "id"))


def episode_of(e: Evidence) -> Hashable:
    """Return what names the episode of `e`; without one, the event is its own."""
    return (e.episode,) if e.episode is not None else (None, e.id)


def many(
    evidence: Sequence[Evidence],
    valid: datetime,
    *,
    decay_per_day: float = POLICY.decay_per_day,
    combine: str = POLICY.combine,
    initial: float = 0.5,
) -> ManyBelief:
    """Return what the evidence of one claim makes of it at `valid`.

    Of an episode and polarity only the event that says most counts, so that an echo adds nothing;
    episodes combine by weighted noisy-OR.

    Args:
        evidence: of one claim, in any order.
        valid: what happened later is not seen.
        decay_per_day: lambda >= 0 of the confidences.
        combine: `net` takes P+ - P-, at least 0; `log_odds` the logistic of L- - L+, which still
            tells the sides apart where both are near 1.
        initial: the belief as long as there is no evidence, in [0, 1].
    """
    said: dict[int, dict[Hashable, float]] = {1: {}, -1: {}}
    for e in visible(evidence, valid):
        faded = clipped(e.confidence * math.exp(-decay_per_day * days(valid - e.at)))
        episodes, episode = said[e.polarity], episode_of(e)
        episodes[episode] = min(episodes.get(episode, 0.0), e.weight * math.log1p(-faded))
    log_positive, log_negative = (math.fsum(said[side].values()) for side in (1, -1))
    positive, negative = 0.0 - math.expm1(log_positive), 0.0 - math.expm1(log_negative)
    if not said[1] and not said[-1]:
        belief = initial
    elif Combine(combine) is Combine.NET:
        belief = clipped(positive - negative)
    else:
        # The logistic function, in a form that does not overflow.
        belief = clipped((1 + math.tanh((log_negative - log_positive) / 2)) / 2)
    return ManyBelief(
        belief=belief,
        positive=positive,
        negative=negative,
        log_positive=log_positive,
        log_negative=log_negative,
        supporting_episodes=len(said[1]),
        refuting_episodes=len(said[-1]),
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
    """Return the claims that compete for a slot at `valid`, best first: the definition, a fold.

    Positive evidence suppresses every other claim last affirmed before it and sets its own claim's
    score; negative evidence weakens its own claim. Of one instant, negative evidence comes last.

    Args:
        evidence: of one slot, in any order.
        valid: what happened later is not seen.
        kappa: >= 0, how hard positive evidence suppresses the others.
        tau_days: > 0, time constant by which older claims are spared.
        decay_per_day: lambda >= 0 of the scores since their last positive evidence.
        margin: the two best are ambiguous when their scores are nearer than this.
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
    """Return what `one` returns, in a time that does not grow with the number of claims."""
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
    """Return the state of a slot at `valid`, from an earlier one and what happened since.

    In closed form: score = that of the last positive evidence * product of (1 - s) over the
    negative evidence since * exp(-kappa * A), with A the sum of s * exp(-dt / tau) over the
    positive evidence that is later.

    Args:
        state: of the slot at an instant; empty for its beginning.
        tail: evidence that is strictly later than all that went into `state`, in any order.
        valid: what happened later is not seen.
        kappa: as `one` takes it.
        tau_days: as `one` takes it.
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
    """Return the claims of a slot best first, faded to `valid`, the two best marked if ambiguous.

    Equal scores go to the later positive evidence, then to its larger id, then to the larger claim.
    """
    best = sorted(
        states,
        key=lambda s: (s.last_at is not None, s.score, s.last_at or _NEVER, s.last_id, s.claim),
        reverse=True,
    )
    ambiguous = (
        len(best) > 1 and best[1].last_at is not None and best[0].score - best[1].score < margin
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
        for place, s in enumerate(best)
    ]


def _score(e: Evidence) -> float:
    return e.weight * clipped(e.confidence)


def _pressure(
    seen: Sequence[Evidence], instants: Iterable[datetime], tau_days: float
) -> dict[datetime, float]:
    """Return A at each of the instants: what later positive evidence weighs on it.

    Accumulated from the newest to the oldest, A(t) = (A(t') + s at t') * exp(-(t' - t) / tau) with
    t' the next instant. A claim's own evidence is never later than its last.
    """
    said = dict.fromkeys(instants, 0.0)
    for at, events in groupby((e for e in seen if e.polarity > 0), key=attrgetter("at")):
        said[at] = math.fsum(_score(e) for e in events)
    pressure: dict[datetime, float] = {}
    total, later = 0.0, 0.0
    after: datetime | None = None
    for at in sorted(said, reverse=True):
        if after is not None:
            total = (total + later) * math.exp(-days(after - at) / tau_days)
        pressure[at], later, after = total, said[at], at
    return pressure
