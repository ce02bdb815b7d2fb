"""Synthetic episodes for consolidation; some form groups of nearly the same content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from neo4j.vector import Vector

from bench import synthetic
from graphmem.model import GLOBAL_SCOPE

if TYPE_CHECKING:
    from bench.bare import Bare
    from bench.progress import Steps

GROUPED = 1 / 3
"""Share of the episodes that belong to a group."""
LEAST, MOST = 3, 12
"""Smallest and greatest number of episodes of a group."""
NEAR, NEAREST = 0.82, 0.95
"""Range of the approximate cosines inside a group; each group has its own."""
SPREAD = 1.0
"""Noise at which unrelated episodes of one topic have a cosine of about 0.5."""
TENANT, WARM_UP = "episodes", "warm up"
ROWS = 1_000
APART = timedelta(seconds=60)
"""Time between two episodes."""

# The nodes that observing creates: one episode each, with an embedded summary.
LOAD = """CYPHER 25
UNWIND $rows AS row
LET at = datetime({datetime: row.at, timezone: 'Z'})
CREATE (p:Episode {
  tenant: $tenant, id: row.id, scope: $scope, summary: row.summary, entities: [], importance: 0.5,
  occurred_at: at, recorded_at: at, request_hash: row.id
})
WITH p, row
CALL db.create.setNodeVectorProperty(p, 'embedding', row.embedding)
"""


@dataclass(frozen=True, slots=True)
class Episodes:
    """Episodes in order of time."""

    corpus: synthetic.Corpus
    """Summaries and their embeddings."""
    groups: tuple[int, ...]
    """Group number of each episode; -1 if it belongs to none."""

    def ids(self) -> list[str]:
        """Return the ids of the episodes."""
        return [f"p{number}" for number in range(len(self.groups))]

    def planted(self) -> dict[int, frozenset[str]]:
        """Return the ids of each group's episodes."""
        members: dict[int, set[str]] = {}
        for episode_id, group in zip(self.ids(), self.groups, strict=True):
            if group >= 0:
                members.setdefault(group, set()).add(episode_id)
        return {group: frozenset(ids) for group, ids in members.items()}


def generate(count: int, *, seed: int) -> Episodes:
    """Return `count` episodes; the members of a group are scattered among the others."""
    rng = np.random.default_rng([seed, count])
    sizes = _sizes(rng, round(count * GROUPED))
    alone = count - sum(sizes)
    groups = [group for group, size in enumerate(sizes) for _ in range(size)] + [-1] * alone
    # The members of a group share a centre; every other episode has its own.
    centre = [*groups[: len(groups) - alone], *range(len(sizes), len(sizes) + alone)]
    kinds = len(sizes) + alone
    topics = synthetic.unit(synthetic.normal(rng, synthetic.CLUSTERS))
    away = synthetic.normal(rng, kinds) * np.float32(SPREAD / np.sqrt(synthetic.DIMENSION))
    centres = synthetic.unit(topics[rng.integers(0, synthetic.CLUSTERS, kinds)] + away)
    # Two members at distance r from their centre have a cosine of 1 / (1 + r²).
    lengths = np.sqrt(1 / rng.uniform(NEAR, NEAREST, kinds) - 1).astype(np.float32)
    noise = synthetic.normal(rng, count) / np.float32(np.sqrt(synthetic.DIMENSION))
    vectors = synthetic.unit(centres[centre] + lengths[centre, None] * noise)
    texts = _texts(rng, kinds, centre)
    order = rng.permutation(count)
    corpus = synthetic.Corpus([texts[i] for i in order], vectors[order])
    return Episodes(corpus, tuple(groups[i] for i in order))


def load(episodes: Episodes, tenant: str, bare: Bare, steps: Steps) -> None:
    """Write the episodes into the graph; the last one is a day old."""
    first = datetime.now(UTC) - timedelta(days=1) - len(episodes.groups) * APART
    batches = range(0, len(episodes.groups), ROWS)
    for start in steps.over(batches, f"load {len(episodes.groups):,}"):
        rows = list(_rows(episodes, start, first))
        bare.write(LOAD, tenant=tenant, scope=GLOBAL_SCOPE, rows=rows)
    steps.say("waiting for the indexes")
    bare.await_indexes()


def _rows(episodes: Episodes, start: int, first: datetime) -> Iterator[dict[str, Any]]:
    for number in range(start, min(start + ROWS, len(episodes.groups))):
        yield {
            "id": f"p{number}",
            "summary": episodes.corpus.texts[number],
            "at": first + number * APART,
            "embedding": Vector.from_numpy(episodes.corpus.vectors[number]),
        }


def _sizes(rng: np.random.Generator, count: int) -> list[int]:
    sizes: list[int] = []
    while (left := count - sum(sizes)) >= LEAST:
        size = int(rng.integers(LEAST, MOST + 1))
        # A remainder below LEAST joins the last group.
        sizes.append(left if left - size < LEAST else size)
    return sizes


def _texts(rng: np.random.Generator, kinds: int, centre: list[int]) -> list[str]:
    """Return sentences of two clauses; those of one centre have the first one in common.

    The second one repeats its words in an order of its own: texts that each have words of their own
    do not support one another.
    """
    stems = [text.split()[:-1] for text in synthetic.sentences(rng, range(kinds))]
    return [
        f"I {' '.join(words)}, {' '.join(rng.permutation(words))}"
        for words in map(stems.__getitem__, centre)
    ]
