"""Growth of short-term memory when every session writes an episode and pruning runs regularly."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from graphmem.model import Tier
from graphmem.rules import rating
from graphmem.rules.rating import STANDARD, Rating
from graphmem.upkeep import PruneAction, rules
from research.attention.world import Vectors, noise, unit
from tests.oracles import rating as rating_oracle
from tests.oracles.rating import Result, Standing

SESSIONS_A_DAY = 5
YEAR_AGENTS = 100
"""Agents of the simulated year, each with one session a day."""
PRUNED_DAYS = 7
"""Days between two prunings."""
SEARCHES, RESULTS = 2, 10
"""Searches of a session that return episodes, and results of each."""
TOPICS, DIMENSION = 200, 64
LIKED = 0.5
"""Probability that an episode of today about the topic of the question is opened; for one d days
old it is LIKED / sqrt(1 + d)."""
OTHER = 0.02
"""Probability that an episode about another topic is opened."""
EPISODE_KB = 20.0
SUMMARY = 0.2
"""Share of an episode's size that remains after compression."""
LOG_KB = 10.0
"""Log size of a session: eight searches with ten results each, 120 bytes a result."""
ROLLED_UP_DAYS = 30
"""Age in days at which the log is rolled up; its ratings are checkpointed by then."""


class RetentionRule(NamedTuple):
    """Episodes that pruning never touches."""

    reopened: bool = False
    """LOW episodes opened after compression; if false, as shipped, they are archived like others,
    30 days after they were last opened."""
    unrated: bool = True
    """Episodes that no search has rated; if false, they count as LOW."""


class Size(NamedTuple):
    """Sizes after a number of sessions, each of which wrote an episode."""

    sessions: int
    live: int
    unrated: int
    """Live episodes that no search has rated."""
    compressed: int
    """Live episodes that are compressed."""
    reopened: int
    """Live episodes opened after they were compressed."""
    megabytes: float
    """Size of live episodes and the log."""
    unpruned_megabytes: float
    """Size of all episodes and the whole log, without pruning."""


class ShortTermMemory:
    """Episodes by number; the number is that of their session."""

    def __init__(
        self,
        most: int,
        kept: RetentionRule,
        sessions_a_day: int = SESSIONS_A_DAY,
        by: Rating = STANDARD,
    ) -> None:
        self.kept = kept
        self.by = by
        self.sessions_a_day = sessions_a_day
        self.vectors: Vectors = np.empty((most, DIMENSION), dtype=np.float32)
        self.topics: list[int] = []
        self.live: list[int] = []
        self.touched: list[float] = []
        """Day on which each episode was last written or opened."""
        self.compressed: dict[int, float] = {}
        """Day on which each episode was compressed."""
        self.standings: dict[str, Standing] = {}

    def put(self, vector: Vectors, topic: int, day: float) -> None:
        """Write an episode."""
        self.vectors[len(self.topics)] = vector
        self.live.append(len(self.topics))
        self.topics.append(topic)
        self.touched.append(day)

    def search(self, rng: np.random.Generator, question: Vectors, topic: int, day: float) -> None:
        """Search live episodes, open some of them and rate the results."""
        cosines = self.vectors[self.live] @ question
        results = []
        for place in np.argsort(-cosines, kind="stable")[:RESULTS]:
            episode = self.live[place]
            age = day - episode / self.sessions_a_day
            chance = LIKED / np.sqrt(1 + age) if self.topics[episode] == topic else OTHER
            opened = bool(rng.random() < chance)
            results.append(Result(str(episode), opened, float(cosines[place])))
            if opened:
                self.touched[episode] = day
        self.standings.update(rating_oracle.played(results, self.standings, by=self.by))

    def prune(self, day: float) -> None:
        """Compress and archive the episodes that are due."""
        fates = {
            episode: rules.prune_verdict(self._case(episode, day)).action for episode in self.live
        }
        self.compressed |= {e: day for e, fate in fates.items() if fate is PruneAction.COMPRESS}
        self.live = [e for e, fate in fates.items() if fate is not PruneAction.ARCHIVE]

    def reopened(self, episode: int) -> bool:
        """Return whether an episode was opened after it was compressed."""
        at = self.compressed.get(episode)
        return at is not None and self.touched[episode] > at

    def size(self) -> Size:
        """Return the current sizes."""
        sessions = len(self.topics)
        compressed = sum(episode in self.compressed for episode in self.live)
        logged = min(sessions, ROLLED_UP_DAYS * self.sessions_a_day)
        kept = EPISODE_KB * (len(self.live) - (1 - SUMMARY) * compressed) + LOG_KB * logged
        return Size(
            sessions=sessions,
            live=len(self.live),
            unrated=sum(str(episode) not in self.standings for episode in self.live),
            compressed=compressed,
            reopened=sum(map(self.reopened, self.live)),
            megabytes=kept / 1_000,
            unpruned_megabytes=sessions * (EPISODE_KB + LOG_KB) / 1_000,
        )

    def _case(self, episode: int, day: float) -> rules.PruneCase:
        idle = day - self.touched[episode]
        rated = self.standings.get(str(episode))
        unrated = None if self.kept.unrated else Tier.LOW
        return rules.PruneCase(
            tier=self._tier(rated, idle) if rated else unrated,
            idle_days=idle,
            compressed=episode in self.compressed,
            pinned=self.kept.reopened and self.reopened(episode),
        )

    def _tier(self, rated: Standing, idle: float) -> Tier:
        return rating.tier(rating_oracle.faded(rated.elo, idle, self.by), self.by)


def simulate_year(seed: int, kept: RetentionRule) -> tuple[Size, Size]:
    """Return the sizes at the peak of a year of YEAR_AGENTS agents, and at its end."""
    days = range(1, 366)
    sizes = [*simulate_growth([day * YEAR_AGENTS for day in days], seed, kept, YEAR_AGENTS)]
    return max(sizes, key=lambda size: size.megabytes), sizes[-1]


def simulate_growth(
    ends: Collection[int],
    seed: int,
    kept: RetentionRule,
    sessions_a_day: int = SESSIONS_A_DAY,
    by: Rating = STANDARD,
) -> Iterator[Size]:
    """Yield the sizes after each number of sessions in `ends`.

    The topic of a session is drawn by Zipf's law. The session searches the live episodes for topics
    drawn the same way, opens mostly recent ones about them, and writes one episode.
    """
    rng = np.random.default_rng([seed, 2])
    centres = unit(rng.standard_normal((TOPICS, DIMENSION)))
    shares = 1 / np.arange(1, TOPICS + 1)
    shelf = ShortTermMemory(max(ends), kept, sessions_a_day, by)
    for session in range(max(ends)):
        day = session / sessions_a_day
        drawn = rng.choice(TOPICS, SEARCHES + 1, p=shares / shares.sum())
        near = unit(centres[drawn] + noise(rng, SEARCHES + 1, DIMENSION))
        for n in range(SEARCHES if shelf.live else 0):
            shelf.search(rng, near[n], int(drawn[n]), day)
        shelf.put(near[-1], int(drawn[-1]), day)
        if session % (sessions_a_day * PRUNED_DAYS) == 0:
            shelf.prune(day)
        if session + 1 in ends:
            yield shelf.size()
