"""Worlds for judging ratings, and the mean value of ratings in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphmem.rules.rating import STANDARD
from research.attention.measures import AHEAD, Found, measured, window
from research.attention.ratings import DEFAULT, Ratings, Variant, fold
from research.attention.world import Log, Setting, World

SEEDS = (1, 2, 3)
ENDS = (100, 300, 1_000)
"""Numbers of sessions after which ratings are measured."""
STABLE, DRIFTING = "stable", "drifting"
SETTINGS = {STABLE: Setting(), DRIFTING: Setting(drift=20)}
GROWN = (100, 300, 1_000, 3_000, 10_000)
"""Numbers of sessions after which short-term memory is measured."""


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """A world and its log."""

    world: World
    log: Log
    ratings: dict[Variant, dict[int, Ratings]] = field(default_factory=dict)
    """Ratings by the part of a variant that changes them; the rest only changes how they are read.
    """

    @staticmethod
    def of(setting: Setting, seed: int) -> SimulatedRun:
        """Return a world with the sessions to measure and those that follow them."""
        services = World.of(setting, seed)
        return SimulatedRun(services, list(services.sessions(ENDS[-1] + AHEAD)))

    def rated(self, by: Variant) -> dict[int, Ratings]:
        """Return the ratings at the ends, and a tenth of the sessions earlier."""
        high, medium, low = STANDARD.high, STANDARD.medium, STANDARD.low
        rule = replace(by.by, high=high, medium=medium, low=low)
        key = replace(by, by=rule, fades=DEFAULT.fades, top=DEFAULT.top)
        if key not in self.ratings:
            self.ratings[key] = self.fold(ENDS, key)
        return self.ratings[key]

    def fold(self, ends: Collection[int], by: Variant = DEFAULT) -> dict[int, Ratings]:
        """Return the ratings after each number of sessions, and a tenth of them earlier."""
        return fold(self.log, self.world.setting.memories, by, {*ends, *map(window, ends)})

    def found(self, by: Variant, sessions: int) -> Found:
        """Return the measures of the ratings after `sessions` sessions."""
        return measured(self.log, self.rated(by), sessions, by)


def mean(runs: Sequence[SimulatedRun], by: Variant = DEFAULT, sessions: int = ENDS[-1]) -> Found:
    """Return the measures of the ratings, the mean over worlds."""
    return Found(*np.mean([run.found(by, sessions) for run in runs], axis=0))
