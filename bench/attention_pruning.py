"""How short-term memory grows when every session leaves an episode and pruning does its work."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from bench.attention_world import Vectors, noise, unit
from graphmem.model import PruneAction, Tier
from graphmem.rules import upkeep, usage
from tests.oracles import rating as rating_oracle
from tests.oracles.rating import Result, Standing

SESSIONS_A_DAY = 5
PRUNED_DAYS = 7
"""From one pruning to the next."""
SEARCHES, RESULTS = 2, 10
"""Of a session, those that return episodes."""
TOPICS, DIMENSION = 200, 64
LIKED = 0.5
"""How often an episode of today that is about the question is opened; one d days old is with
LIKED / sqrt(1 + d)."""
OTHER = 0.02
"""How often one about something else is."""
EPISODE_KB = 20.0
SUMMARY = 0.2
"""What is left of it when it is compressed."""
LOG_KB = 10.0
"""Of a session: eight searches with ten results each, 120 bytes a result."""
ROLLED_UP_DAYS = 30
"""After so many days the log is rolled up, its ratings being checkpointed."""


class Kept(NamedTuple):
    """What pruning leaves alone for ever; as shipped both."""

    reopened: bool = True
    """What is LOW and was opened after it was compressed; else it is archived like what was not,
    30 days after its last opening."""
    unrated: bool = True
    """What no search has judged; else it is taken for LOW."""


class Size(NamedTuple):
    """What there is after some sessions, each of which wrote an episode."""

    sessions: int
    live: int
    unrated: int
    """Of these: no search has judged them."""
    compressed: int
    """Of these."""
    reopened: int
    """Of these: opened after they were compressed."""
    megabytes: float
    """Of live episodes and the log."""
    unpruned_megabytes: float
    """Of all of them and the whole log."""


class Shelf:
    """Episodes by number, which is that of their session."""

    def __init__(self, most: int, kept: Kept) -> None:
        self.kept = kept
        self.vectors: Vectors = np.empty((most, DIMENSION), dtype=np.float32)
        self.topics: list[int] = []
        self.live: list[int] = []
        self.touched: list[float] = []
        """The day when it was last written or opened."""
        self.compressed: dict[int, float] = {}
        """The day when it was."""
        self.standings: dict[str, Standing] = {}

    def put(self, vector: Vectors, topic: int, day: float) -> None:
        """Write an episode."""
        self.vectors[len(self.topics)] = vector
        self.live.append(len(self.topics))
        self.topics.append(topic)
        self.touched.append(day)

    def search(self, rng: np.random.Generator, question: Vectors, topic: int, day: float) -> None:
        """Find live episodes, open some of them and settle the games."""
        cosines = self.vectors[self.live] @ question
        results = []
        for place in np.argsort(-cosines, kind="stable")[:RESULTS]:
            episode = self.live[place]
            age = day - episode / SESSIONS_A_DAY
            chance = LIKED / np.sqrt(1 + age) if self.topics[episode] == topic else OTHER
            opened = bool(rng.random() < chance)
            results.append(Result(str(episode), opened, float(cosines[place])))
            if opened:
                self.touched[episode] = day
        self.standings.update(rating_oracle.played(results, self.standings))

    def prune(self, day: float) -> None:
        """Compress and archive what is due."""
        fates = {episode: upkeep.judged(self._case(episode, day)).fate for episode in self.live}
        self.compressed |= {e: day for e, fate in fates.items() if fate is PruneAction.COMPRESS}
        self.live = [e for e, fate in fates.items() if fate is not PruneAction.ARCHIVE]

    def reopened(self, episode: int) -> bool:
        """Return whether an episode was opened after it was compressed."""
        at = self.compressed.get(episode)
        return at is not None and self.touched[episode] > at

    def size(self) -> Size:
        """Return what there is."""
        sessions = len(self.topics)
        compressed = sum(episode in self.compressed for episode in self.live)
        logged = min(sessions, ROLLED_UP_DAYS * SESSIONS_A_DAY)
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

    def _case(self, episode: int, day: float) -> upkeep.PruneCase:
        idle = day - self.touched[episode]
        rated, at = self.standings.get(str(episode)), self.compressed.get(episode)
        unrated = None if self.kept.unrated else Tier.LOW
        return upkeep.PruneCase(
            tier=usage.tier(rating_oracle.faded(rated.elo, idle)) if rated else unrated,
            idle_days=idle,
            compressed_days=None if at is None else day - at,
            opened_since=self.kept.reopened and self.reopened(episode),
        )


def grown(ends: Collection[int], seed: int, kept: Kept) -> Iterator[Size]:
    """Yield what there is after so many sessions.

    Each session is about a topic drawn by Zipf's law. It searches the live episodes for topics
    drawn so, opens mostly new ones that are about them, and leaves one of its own.
    """
    rng = np.random.default_rng([seed, 2])
    centres = unit(rng.standard_normal((TOPICS, DIMENSION)))
    shares = 1 / np.arange(1, TOPICS + 1)
    shelf = Shelf(max(ends), kept)
    for session in range(max(ends)):
        day = session / SESSIONS_A_DAY
        drawn = rng.choice(TOPICS, SEARCHES + 1, p=shares / shares.sum())
        near = unit(centres[drawn] + noise(rng, SEARCHES + 1, DIMENSION))
        for n in range(SEARCHES if shelf.live else 0):
            shelf.search(rng, near[n], int(drawn[n]), day)
        shelf.put(near[-1], int(drawn[-1]), day)
        if session % (SESSIONS_A_DAY * PRUNED_DAYS) == 0:
            shelf.prune(day)
        if session + 1 in ends:
            yield shelf.size()
