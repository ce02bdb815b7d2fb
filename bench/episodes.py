"""Made-up episodes, a part of them in groups that say nearly the same: what beliefs come from."""

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
"""Share of the episodes that are in a group."""
LEAST, MOST = 3, 12
"""Episodes of a group."""
NEAR, NEAREST = 0.82, 0.95
"""Cosines inside a group, about; each group has its own."""
SPREAD = 1.0
"""Unrelated episodes of one topic have a cosine of about 0.5."""
OTHER_WORDS = 5
"""Words that tell the texts of a group apart."""
TENANT, WARM_UP = "episodes", "warm up"
ROWS = 1_000
APART = timedelta(seconds=60)
"""Between an episode and the next."""

# The nodes that observing leaves: an episode each, its summary embedded.
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
    """Episodes in the order in which they happened."""

    corpus: synthetic.Corpus
    """Their summaries."""
    groups: tuple[int, ...]
    """Of each, the group's number; -1: it is in none."""

    def ids(self) -> list[str]:
        """Return the id of each."""
        return [f"p{number}" for number in range(len(self.groups))]

    def planted(self) -> dict[int, frozenset[str]]:
        """Return the ids of each group's episodes."""
        found: dict[int, set[str]] = {}
        for one, group in zip(self.ids(), self.groups, strict=True):
            if group >= 0:
                found.setdefault(group, set()).add(one)
        return {group: frozenset(ids) for group, ids in found.items()}


def made(count: int, *, seed: int) -> Episodes:
    """Return so many episodes; the members of a group are scattered among the others."""
    rng = np.random.default_rng([seed, count])
    sizes = _sizes(rng, round(count * GROUPED))
    alone = count - sum(sizes)
    groups = [group for group, size in enumerate(sizes) for _ in range(size)] + [-1] * alone
    # Everybody's own centre: a group's is shared.
    centre = [*groups[: len(groups) - alone], *range(len(sizes), len(sizes) + alone)]
    kinds = len(sizes) + alone
    topics = synthetic.unit(synthetic.normal(rng, synthetic.CLUSTERS))
    away = synthetic.normal(rng, kinds) * np.float32(SPREAD / np.sqrt(synthetic.DIMENSION))
    centres = synthetic.unit(topics[rng.integers(0, synthetic.CLUSTERS, kinds)] + away)
    # Two members that lie r from their centre have a cosine of 1 / (1 + r²).
    lengths = np.sqrt(1 / rng.uniform(NEAR, NEAREST, kinds) - 1).astype(np.float32)
    noise = synthetic.normal(rng, count) / np.float32(np.sqrt(synthetic.DIMENSION))
    vectors = synthetic.unit(centres[centre] + lengths[centre, None] * noise)
    texts = _texts(rng, kinds, centre)
    order = rng.permutation(count)
    corpus = synthetic.Corpus([texts[i] for i in order], vectors[order])
    return Episodes(corpus, tuple(groups[i] for i in order))


def load(episodes: Episodes, tenant: str, bare: Bare, steps: Steps) -> None:
    """Write them into the graph, the last one a day old."""
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
        # What is left of the last group would be too few for one of its own.
        sizes.append(left if left - size < LEAST else size)
    return sizes


def _texts(rng: np.random.Generator, kinds: int, centre: list[int]) -> list[str]:
    """Sentences of about a dozen words; those of one centre differ in a few, the last is unique."""
    stems = [text.split()[:-1] for text in synthetic.sentences(rng, range(kinds))]
    texts = []
    for number, of in enumerate(centre):
        words = list(stems[of])
        for place in rng.integers(0, len(words), OTHER_WORDS):
            words[place] = synthetic.word(int(rng.integers(synthetic.VOCABULARY)))
        texts.append(" ".join([*words, synthetic.word(synthetic.VOCABULARY + number)]))
    return texts
