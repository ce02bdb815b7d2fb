"""The sequential probability ratio test of a belief: fold and trail, oracle of cypher/belief/."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from graphmem.model.belief import VerdictStatus
from graphmem.rules.formulas import STANDARD_TEST, Evidence, SprtParameters, evidence_strength
from tests.oracles.projection import episode_of


@dataclass(frozen=True)
class Step:
    """What one event said, and where the test stood after all events of its instant."""

    at: datetime
    id: str
    llr: float
    log_ratio: float
    status: VerdictStatus
    confidence: float


@dataclass(frozen=True)
class Verdict:
    """Where the test stands."""

    status: VerdictStatus
    log_ratio: float
    confidence: float
    steps: tuple[Step, ...]
    """In order of (at, id); pooled, only of the events that count."""

    @property
    def revise_due(self) -> bool:
        """Whether its wording should be revised."""
        return self.status is VerdictStatus.DEMOTED


def llr(e: Evidence) -> float:
    """Return the log likelihood ratio of an event; "support" under 1/2 counts against."""
    s = evidence_strength(e)
    return e.polarity * math.log(s / (1 - s))


def test(
    evidence: Iterable[Evidence],
    initial: float,
    bounds: SprtParameters = STANDARD_TEST,  # noqa: PT028 - the test of a belief, not of this code
    *,
    pooled: bool = False,  # noqa: PT028
) -> Verdict:
    """Return the verdict of the evidence and how it came about.

    A state is entered when its boundary is crossed from another state, so the same state never
    counts twice. What would be if the evidence were different is the same function of it.

    Args:
        evidence: of one claim, as much as is visible, in any order.
        initial: the confidence before all evidence, in [0, 1].
        bounds: of the test.
        pooled: of an episode and polarity only the event that says most counts.
    """
    counted = sorted({e.id: e for e in evidence}.values(), key=attrgetter("at", "id"))
    if pooled:
        counted = _pooled(counted)
    status = VerdictStatus.ACCUMULATING
    log_ratio, confidence = 0.0, initial
    steps: list[Step] = []
    for at, events in groupby(counted, key=attrgetter("at")):
        said = [(e.id, llr(e)) for e in events]
        log_ratio += math.fsum(by for _, by in said)
        crossed = bounds.crossed(log_ratio)
        if crossed is not None and crossed is not status:
            status, confidence = crossed, bounds.stepped(confidence, crossed)
        steps += [Step(at, event_id, by, log_ratio, status, confidence) for event_id, by in said]
    return Verdict(status, log_ratio, confidence, tuple(steps))


def _pooled(evidence: Sequence[Evidence]) -> list[Evidence]:
    best: dict[Hashable, Evidence] = {}
    for e in evidence:
        side = (episode_of(e), e.polarity)
        if side not in best or _loudness(e) > _loudness(best[side]):
            best[side] = e
    return sorted(best.values(), key=attrgetter("at", "id"))


def _loudness(e: Evidence) -> float:
    # Rounded, because s and 1 - s are equally loud and their logarithms are off by a last bit.
    return round(abs(llr(e)), 9)
