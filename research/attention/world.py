"""Simulated agents that search a memory for their interests, and adversaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Vectors: TypeAlias = npt.NDArray[np.float32]
Bools: TypeAlias = npt.NDArray[np.bool_]

ADVERSARY = -1
"""Agent number of an adversary."""
FAR = 0.1
"""Similarity of an item that matches by words only and is unrelated to the question."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Parameters of a world.

    Dimension and blur make results as similar to a question as the offline embedder does on three
    of LoCoMo's conversations: the first 0.49 and the tenth 0.39 on average (LoCoMo: 0.49 and 0.39).
    The wanted item is among the first ten in 70 %, as in LoCoMo with default recall.
    """

    memories: int = 10_000
    topics: int = 200
    dimension: int = 64
    blur: float = 2.1
    """Length of the noise on a question, relative to the vector of the wanted item."""
    agents: int = 5
    zipf: float = 1.0
    """Exponent: the k-th item of an agent's interests is asked for with weight k^-zipf."""
    searches: int = 8
    """Number of searches of a session."""
    results: int = 10
    drift: int = 0
    """Number of sessions after which the next agent in turn gets new interests; 0: never."""
    wanted: float = 0.9
    """Probability that the wanted item is opened when it is found."""
    liked: float = 0.5
    """Probability that another result at the first place of the interests is opened; at the k-th
    liked * k^(-1/4), so of 10,000 the last a tenth as often."""


class SearchRecord(NamedTuple):
    """A search, and the results that were opened."""

    session: int
    agent: int
    items: Ints
    """Results by similarity."""
    similarities: Floats
    opened: Bools
    wanted: int
    """The wanted item."""

    @property
    def found(self) -> bool:
        """Whether the wanted item is among the results."""
        return bool((self.items == self.wanted).any())


Log: TypeAlias = Sequence[SearchRecord]


@dataclass(frozen=True, slots=True)
class World:
    """Memories and their topics, generated from one seed."""

    setting: Setting
    seed: int
    vectors: Vectors
    """Embeddings of the memories, unit rows."""
    topics: Ints
    """Topic of each memory."""

    @staticmethod
    def of(setting: Setting, seed: int) -> World:
        """Return memories around topics: neighbours have a cosine of about 0.5."""
        rng = np.random.default_rng([seed, 0])
        centres = unit(rng.standard_normal((setting.topics, setting.dimension)))
        topics = np.arange(setting.memories) % setting.topics
        around = noise(rng, setting.memories, setting.dimension)
        return World(setting, seed, unit(centres[topics] + around), topics)

    def sessions(self, count: int) -> Iterator[SearchRecord]:
        """Yield the searches of honest agents in `count` sessions, in turn."""
        s, rng = self.setting, np.random.default_rng([self.seed, 1])
        interests = [self.interests(rng) for _ in range(s.agents)]
        shares = np.arange(1, s.memories + 1) ** -s.zipf
        reach = np.cumsum(shares / shares.sum())
        for session in range(count):
            if s.drift and session and session % s.drift == 0:
                interests[session // s.drift % s.agents] = self.interests(rng)
            order = interests[session % s.agents]
            # Rounding may leave the last step below 1.
            place = np.minimum(np.searchsorted(reach, rng.random(s.searches)), s.memories - 1)
            yield from self._session(rng, session, order, order[place])

    def interests(self, rng: np.random.Generator) -> Ints:
        """Return the memories in the order of an agent's interest: mostly by topic."""
        weights = -np.log1p(rng.permutation(self.setting.topics))
        return np.argsort(-(weights[self.topics] + rng.gumbel(size=self.setting.memories)))

    def asking(self, item: int, limit: int) -> tuple[Ints, Floats]:
        """Return the results for the exact words of an item; the item is first."""
        return self._nearest(self.vectors[[item]], limit, 0)

    def _session(
        self, rng: np.random.Generator, session: int, order: Ints, wanted: Ints
    ) -> Iterator[SearchRecord]:
        s = self.setting
        places = np.empty(s.memories)
        places[order] = np.arange(1, s.memories + 1)
        blurred = self.vectors[wanted] + s.blur * noise(rng, len(wanted), s.dimension)
        questions = unit(blurred)
        for n, item in enumerate(wanted):
            items, similarities = self._nearest(questions, s.results, n)
            chances = np.where(items == item, s.wanted, s.liked * places[items] ** -0.25)
            opened = rng.random(len(items)) < chances
            yield SearchRecord(session, session % s.agents, items, similarities, opened, int(item))

    def _nearest(self, questions: Vectors, limit: int, n: int) -> tuple[Ints, Floats]:
        similarities = self.vectors @ questions[n]
        found = np.argpartition(-similarities, limit - 1)[:limit]
        found = found[np.argsort(-similarities[found], kind="stable")]
        return found, similarities[found].astype(np.float64)


class Harm(NamedTuple):
    """Behaviour of an adversary, which has its own session after each honest one."""

    limit: int = 10
    stuffed: bool = False
    """Its item comes last, with low similarity, in the results of any question; if false, it is
    searched for by name."""
    buries: bool = False
    """Whether it opens all results except the item."""


def with_adversary(world: World, honest: Log, harm: Harm, item: int) -> Iterator[SearchRecord]:
    """Yield a log that includes the adversary's searches.

    Args:
        world: The world that is searched.
        honest: Log of the other agents, in order of sessions.
        harm: Behaviour of the adversary.
        item: Item that the adversary raises or buries.
    """
    by_name = _opened(*world.asking(item, harm.limit), item, buries=harm.buries)
    for n, asked in enumerate(honest):
        yield asked
        if n + 1 < len(honest) and honest[n + 1].session == asked.session:
            continue
        for place in range(world.setting.searches):
            search = by_name
            if harm.stuffed:
                search = _stuffed(honest[n - place], item)
            yield search._replace(session=asked.session, agent=ADVERSARY)


def _opened(items: Ints, similarities: Floats, item: int, *, buries: bool) -> SearchRecord:
    return SearchRecord(0, ADVERSARY, items, similarities, (items == item) ^ buries, item)


def _stuffed(asked: SearchRecord, item: int) -> SearchRecord:
    """Return another agent's search as the adversary repeats it."""
    others = np.flatnonzero(asked.items != item)[: len(asked.items) - 1]
    items = np.append(asked.items[others], item)
    similarities = np.append(asked.similarities[others], FAR)
    return _opened(items, similarities, item, buries=False)


def sessions_in(log: Log, first: int, end: int) -> Log:
    """Return the searches of sessions from `first` to before `end`."""
    return [asked for asked in log if first <= asked.session < end]


def noise(rng: np.random.Generator, rows: int, dimension: int) -> Floats:
    """Return random rows with a length of about one."""
    drawn: Floats = rng.standard_normal((rows, dimension)) / np.sqrt(dimension)
    return drawn


def unit(rows: Floats) -> Vectors:
    """Return the rows scaled to unit length."""
    scaled: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return scaled


DRIFTING = replace(Setting(), drift=20)
