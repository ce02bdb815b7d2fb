"""Error rates of the sequential test under simulated evidence, with and without echoes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from bench.figures import Cell, Table
from graphmem.model.belief import VerdictStatus
from graphmem.model.policies import SprtParameters
from graphmem.rules.formulas import Evidence
from research.beliefs.metrics import percent, ratio
from tests.oracles import sequential as sequential_oracle

if TYPE_CHECKING:
    from bench.progress import Steps

SEED = 20_240_603
TRIALS, EPISODES = 1000, 100
START = datetime(2024, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
BOUNDS = SprtParameters()


@dataclass(frozen=True, slots=True)
class Setup:
    """Parameters of a trial: how its evidence is generated and tested."""

    reliability: float
    """Probability that an episode states the truth."""
    strength: float
    """Probability that the evidence claims to have."""
    echoes: float = 0.0
    """Mean number of repeats of an episode's evidence."""
    pooled: bool = False


SETUPS = (
    Setup(0.6, 0.6),
    Setup(0.7, 0.7),
    Setup(0.85, 0.85),
    Setup(0.6, 0.6, echoes=2.0),
    Setup(0.7, 0.7, echoes=2.0),
    Setup(0.85, 0.85, echoes=2.0),
    Setup(0.6, 0.6, echoes=2.0, pooled=True),
    Setup(0.7, 0.7, echoes=2.0, pooled=True),
    Setup(0.85, 0.85, echoes=2.0, pooled=True),
    Setup(0.6, 0.85),
    Setup(0.7, 0.85),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of the test in one trial."""

    first: VerdictStatus
    """First boundary crossed; ACCUMULATING if none."""
    ever: frozenset[VerdictStatus]
    episodes: int
    """Number of episodes until the first boundary was crossed; all of them if none was."""


def simulated(setup: Setup, rng: np.random.Generator, *, true: bool) -> list[Evidence]:
    """Return the evidence of independent episodes, with the repeats that `setup` specifies."""
    right = rng.random(EPISODES) < setup.reliability
    repeats = 1 + rng.poisson(setup.echoes, EPISODES)
    observations = [
        (n, 1 if stated == true else -1)
        for n, stated in enumerate(right)
        for _ in range(repeats[n])
    ]
    return [
        Evidence(
            id=f"{place:05d}",
            claim="",
            polarity=polarity,
            confidence=2 * setup.strength - 1,
            weight=1.0,
            episode=str(episode),
            at=START + place * SECOND,
            strength=setup.strength,
        )
        for place, (episode, polarity) in enumerate(observations)
    ]


def outcome(evidence: Sequence[Evidence], *, pooled: bool) -> Outcome:
    """Return the result of the test on evidence in order of arrival."""
    steps = sequential_oracle.test(evidence, 0.5, BOUNDS, pooled=pooled).steps
    decided = [s for s in steps if s.status is not VerdictStatus.ACCUMULATING]
    if not decided:
        return Outcome(VerdictStatus.ACCUMULATING, frozenset(), EPISODES)
    episode = {e.id: e.episode for e in evidence}
    seen = {episode[s.id] for s in steps if s.at <= decided[0].at}
    return Outcome(decided[0].status, frozenset(s.status for s in decided), len(seen))


def measure(steps: Steps) -> Table:
    """Return the observed rates of false promotions and demotions, compared with alpha and beta."""
    rows: list[dict[str, Cell]] = []
    for number, setup in enumerate(steps.over(SETUPS, "simulated tests")):
        untrue = _trials(setup, number, true=False)
        true = _trials(setup, number, true=True)
        promoted = _rate(untrue, VerdictStatus.PROMOTED)
        demoted = _rate(true, VerdictStatus.DEMOTED)
        honest = setup.reliability == setup.strength and (setup.pooled or not setup.echoes)
        # Wald: the guaranteed bounds are alpha / (1 - beta) and beta / (1 - alpha).
        bounds = (
            BOUNDS.alpha / (1 - BOUNDS.beta) + _noise(BOUNDS.alpha),
            BOUNDS.beta / (1 - BOUNDS.alpha) + _noise(BOUNDS.beta),
        )
        rows.append(
            {
                "reliability": setup.reliability,
                "strength": setup.strength,
                "pieces an episode": 1 + setup.echoes,
                "pooled": setup.pooled,
                "false promotions": percent(promoted, 1),
                "promotions ±": percent(_noise(promoted), 1),
                "/ alpha": ratio(promoted, BOUNDS.alpha),
                "promoted ever": percent(_ever(untrue, VerdictStatus.PROMOTED), 1),
                "false demotions": percent(demoted, 1),
                "demotions ±": percent(_noise(demoted), 1),
                "/ beta": ratio(demoted, BOUNDS.beta),
                "demoted ever": percent(_ever(true, VerdictStatus.DEMOTED), 1),
                "undecided": percent(_rate([*untrue, *true], VerdictStatus.ACCUMULATING), 1),
                "episodes to a verdict": round(
                    float(np.mean([o.episodes for o in (*untrue, *true)])), 1
                ),
                "met": (promoted <= bounds[0] and demoted <= bounds[1]) if honest else None,
            }
        )
    return Table("SPRT, simulated evidence", rows)


def _trials(setup: Setup, number: int, *, true: bool) -> list[Outcome]:
    rng = np.random.default_rng((SEED, number, int(true)))
    return [outcome(simulated(setup, rng, true=true), pooled=setup.pooled) for _ in range(TRIALS)]


def _rate(outcomes: Sequence[Outcome], status: VerdictStatus) -> float:
    return sum(o.first is status for o in outcomes) / len(outcomes)


def _ever(outcomes: Sequence[Outcome], status: VerdictStatus) -> float:
    return sum(status in o.ever for o in outcomes) / len(outcomes)


def _noise(rate: float) -> float:
    """Return the half width of the 95 % interval of a rate."""
    return float(1.96 * np.sqrt(rate * (1 - rate) / TRIALS))
