"""Histories of evidence: hypothesis strategies over them, long ones by rule, and comparisons."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st

from graphmem.model import Cardinality, Policy
from graphmem.rules.formulas import Evidence
from tests.oracles.projection import Candidate, State, ranked

T = TypeVar("T")

BASE = datetime(2025, 5, 5, 9, tzinfo=UTC)
END = BASE + timedelta(days=1_000)
"""Later than every instant drawn here."""
CLAIMS = ("atlas", "borealis", "cygnus", "draco")
WEIGHTS = (1.0, 0.8, 0.6, 0.5)
"""Weights of the sources EXPLICIT, RULE, CLASSIFIER and EXTRACTOR."""
EPISODES = ("monday", "friday", None)
TOLERANCE = 1e-9
"""Within which two ways to the same number agree."""

instants = st.one_of(
    # Few, so that ties are many; the smallest step a store can keep; hours, days and years.
    st.sampled_from([0, 1, 10**6, 3_600 * 10**6, 86_400 * 10**6, 400 * 86_400 * 10**6]),
    st.integers(0, 900).map(lambda day: day * 86_400 * 10**6),
    st.integers(0, 900 * 86_400 * 10**6),
).map(lambda microseconds: BASE + timedelta(microseconds=microseconds))
"""Times of events, and times to read at: some of the events are in the future then."""
confidences = st.one_of(st.sampled_from([0.0, 0.5, 0.8, 0.9, 1.0]), st.floats(0, 1))
strengths = st.one_of(
    # Unclamped ones; with the standard bounds some sums of these lie on a boundary exactly.
    st.sampled_from([-3.0, 0.0, 0.1, 1 / 3, 0.5, 19 / 37, 2 / 3, 0.85, 0.9, 1.0]),
    st.floats(0, 1),
)
_polarities = st.sampled_from([(1,), (-1,), (1, -1), (1, 1, 1, -1)])


def make_evidence(
    name: str,
    claim: str = "atlas",
    confidence: float = 0.8,
    day: float = 0,
    *,
    polarity: int = 1,
    episode: str | None = None,
    weight: float = 1.0,
) -> Evidence:
    """Return one event, `day` days after the first."""
    return Evidence(
        id=name,
        claim=claim,
        polarity=polarity,
        confidence=confidence,
        weight=weight,
        episode=episode,
        at=BASE + timedelta(days=day),
    )


@st.composite
def histories(
    draw: st.DrawFn, claims: Sequence[str] = CLAIMS, max_size: int = 12, *, testimonies: bool = True
) -> list[Evidence]:
    """Draw the evidence of a slot, in the order of its delivery.

    Instants, episodes and confidences repeat; ids do not follow time; some histories have only
    negatives. What has a strength is a testimony: its confidence follows from it, its weight is 1.

    Args:
        draw: given by hypothesis.
        claims: that compete.
        max_size: most events.
        testimonies: whether some events carry a strength.
    """
    polarities = st.sampled_from(draw(_polarities))
    size = draw(st.integers(0, max_size))
    history = []
    for number in draw(st.permutations(range(size))):
        strength = draw(st.none() | strengths) if testimonies else None
        given = None if strength is None else min(max(2 * strength - 1, 0.0), 1.0)
        history.append(
            Evidence(
                id=f"e{number:02}",
                claim=draw(st.sampled_from(claims)),
                polarity=draw(polarities),
                confidence=draw(confidences) if given is None else given,
                weight=draw(st.sampled_from(WEIGHTS)) if given is None else 1.0,
                episode=draw(st.sampled_from(EPISODES)),
                at=draw(instants),
                strength=strength,
            )
        )
    return history


claim_histories = histories(claims=CLAIMS[:1])
"""The evidence of one claim."""

policies = st.builds(
    Policy,
    kappa=st.sampled_from([0.0, 0.5, 2.0, 10.0]),
    tau_days=st.sampled_from([None, None, 0.5, 3.0, 365.0]),
    decay_per_day=st.sampled_from([0.0, 0.0, 0.01, 1.0, 1_000.0]),
    margin=st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    combine=st.sampled_from(["net", "log_odds"]),
)
both_policies = st.builds(
    lambda by, cardinality: by.model_copy(update={"cardinality": cardinality}),
    policies,
    st.sampled_from(Cardinality),
)
"""Policies of values that compete or coexist."""


@st.composite
def deliveries(draw: st.DrawFn, items: Sequence[T]) -> list[T]:
    """Draw another order of delivery, in which some items arrive more than once."""
    again = draw(st.lists(st.sampled_from(items), max_size=4)) if items else []
    return draw(st.permutations([*items, *again]))


def long_history(n: int, *, claims: int = 4, draw: int = 0) -> list[Evidence]:
    """Return `n` events about claims `c000`, `c001` …, one an hour and now and then a tie.

    The same numbers, the same history; another `draw`, another one.
    """
    chance = random.Random(draw)
    return [
        Evidence(
            id=f"e{number:06}",
            claim=f"c{chance.randrange(claims):03}",
            polarity=1 if chance.random() < 0.8 else -1,
            confidence=chance.choice((chance.random(), 0.0, 1.0, 0.7)),
            weight=chance.choice(WEIGHTS),
            episode=chance.choice((None, f"s{number // 10}")),
            at=BASE + timedelta(hours=number - number % 7 % 2),
        )
        for number in chance.sample(range(n), n)
    ]


class Overwriting(NamedTuple):
    """What a policy says of a slot, as the rules take it."""

    kappa: float
    tau_days: float
    decay_per_day: float
    margin: float

    @classmethod
    def of(cls, policy: Policy) -> Overwriting:
        """Return the terms of `policy`; no time constant is an infinite one."""
        tau_days = math.inf if policy.tau_days is None else policy.tau_days
        return cls(policy.kappa, tau_days, policy.decay_per_day, policy.margin)


def unlike(
    found: Sequence[Candidate], expected: Sequence[Candidate], valid: datetime, terms: Overwriting
) -> list[str]:
    """Return in what two rankings of a slot differ beyond rounding; nothing if they agree.

    Numbers are compared claim by claim. Rounding may turn round what is all but equal, so place
    and ambiguity are held against the found scores.
    """
    wanted = {c.claim: c for c in expected}
    if len(found) != len(expected) or {c.claim for c in found} != wanted.keys():
        return [f"claims {[c.claim for c in found]}, not {sorted(wanted)}"]
    differences = []
    for c in found:
        w = wanted[c.claim]
        if abs(c.score - w.score) > TOLERANCE or abs(c.belief - w.belief) > TOLERANCE:
            differences.append(
                f"{c.claim}: score {c.score}, belief {c.belief}, not {w.score}, {w.belief}"
            )
        if (c.last_at, c.last_id) != (w.last_at, w.last_id):
            differences.append(
                f"{c.claim}: affirmed by {c.last_id} at {c.last_at}, not {w.last_id}"
            )
    again = ranked(
        [State(c.claim, c.score, c.last_at, c.last_id) for c in found],
        valid,
        decay_per_day=terms.decay_per_day,
        margin=terms.margin,
    )
    if [(c.claim, c.ambiguous) for c in found] != [(c.claim, c.ambiguous) for c in again]:
        differences.append(f"ranked {[c.claim for c in found]}, not {[c.claim for c in again]}")
    return differences
