"""The leader of a slot by ONE and by simple rules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from graphmem.rules.formulas import Evidence
from tests.oracles.projection import Candidate, one_closed

Answer: TypeAlias = Callable[[Sequence[Evidence], datetime], "str | None"]
"""Returns the leader, from evidence in order of arrival and the date asked for."""


def one_leader(
    evidence: Sequence[Evidence], valid: datetime, *, kappa: float = 2.0, tau_days: float = math.inf
) -> str | None:
    """Return the claim that leads by ONE."""
    return leader(one_closed(evidence, valid, kappa=kappa, tau_days=tau_days))


def leader(candidates: Sequence[Candidate]) -> str | None:
    """Return the first candidate's claim if it has supporting evidence, else None."""
    return candidates[0].claim if candidates and candidates[0].last_id else None


def last_by_time(evidence: Sequence[Evidence], _: datetime) -> str | None:
    """Return the claim of the latest supporting evidence, by event time."""
    positive = [e for e in evidence if e.polarity > 0]
    return max(positive, key=lambda e: (e.at, e.id)).claim if positive else None


def last_by_arrival(evidence: Sequence[Evidence], _: datetime) -> str | None:
    """Return the claim of the supporting evidence that arrived last."""
    return next((e.claim for e in reversed(evidence) if e.polarity > 0), None)


def majority(evidence: Sequence[Evidence], _: datetime) -> str | None:
    """Return the claim with the greatest number of supports minus refutations; ties: the latest."""
    votes: Counter[str] = Counter()
    last: dict[str, tuple[datetime, str]] = {}
    for e in evidence:
        votes[e.claim] += e.polarity
        if e.polarity > 0:
            last[e.claim] = max((e.at, e.id), last.get(e.claim, (e.at, e.id)))
    return max(last, key=lambda claim: (votes[claim], last[claim]), default=None)


def majority_of_three(evidence: Sequence[Evidence], valid: datetime) -> str | None:
    """Return the majority among the three latest pieces of evidence; ties: the latest."""
    return majority(sorted(evidence, key=lambda e: (e.at, e.id))[-3:], valid)


def most_confident(evidence: Sequence[Evidence], _: datetime) -> str | None:
    """Return the claim of the piece with the greatest weight * confidence; ties: the latest."""
    positive = [e for e in evidence if e.polarity > 0]
    best = max(positive, key=lambda e: (e.weight * e.confidence, e.at, e.id), default=None)
    return best.claim if best else None


ONE = "ONE"
BY_TIME = "last by event time"
RULES: Mapping[str, Answer] = {
    ONE: one_leader,
    BY_TIME: last_by_time,
    "last by arrival": last_by_arrival,
    "majority": majority,
    "majority of last 3": majority_of_three,
    "most confident": most_confident,
}
