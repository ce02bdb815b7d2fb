"""Made-up memories with the structure that matters: clustered vectors, words by Zipf's law."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from graphmem.ports import Matrix, Role

DIMENSION = 384
CLUSTERS = 200
SPREAD = 0.8
"""Length of the noise around a cluster's centre: neighbours have a cosine of about 0.6."""
NEAR_SHARE = 0.02
"""Texts that repeat an earlier one but for a number: what the near-duplicate check has to part."""
VOCABULARY = 20_000
ZIPF = 1.1
WORDS = 12
BLOCK = 10_000
_SYLLABLES = [consonant + vowel for consonant in "bdfklmnr" for vowel in "aeio"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts with their vectors."""

    texts: Sequence[str]
    """Each once."""
    vectors: Matrix
    """float32[n, 384], unit rows."""


@dataclass(frozen=True, slots=True)
class Memories:
    """So many different texts, made a block at a time: a million take no more room than 10,000.

    A block depends on the seed, its number and, the last one, on its length. A few texts repeat an
    earlier one of their block but for a number.
    """

    count: int
    seed: int

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.count // BLOCK)

    def block(self, number: int) -> Corpus:
        """Return the memories from `number` * 10,000 on, 10,000 or what is left."""
        first = number * BLOCK
        count = min(BLOCK, self.count - first)
        rng = np.random.default_rng([self.seed, number])
        centres = unit(normal(np.random.default_rng(self.seed), CLUSTERS))
        noise = normal(rng, count) * np.float32(SPREAD / np.sqrt(DIMENSION))
        vectors = unit(centres[rng.integers(0, CLUSTERS, count)] + noise)
        texts = sentences(rng, range(first, first + count))
        copies = np.flatnonzero(rng.random(count) < NEAR_SHARE)
        for i in copies[copies > 0]:
            earlier = int(rng.integers(0, i))
            texts[i] = f"{texts[earlier].rsplit(' ', 1)[0]} {first + i}"
            vectors[[i]] = unit(vectors[[earlier]] + np.float32(0.005) * normal(rng, 1))
        return Corpus(texts, vectors)

    def picked(self, numbers: Sequence[int]) -> Corpus:
        """Return the memories of these numbers, in their order."""
        wanted = np.asarray(numbers)
        texts = [""] * len(wanted)
        vectors = np.empty((len(wanted), DIMENSION), dtype=np.float32)
        for number in np.unique(wanted // BLOCK):
            block = self.block(int(number))
            for place in np.flatnonzero(wanted // BLOCK == number):
                texts[place] = block.texts[wanted[place] % BLOCK]
                vectors[place] = block.vectors[wanted[place] % BLOCK]
        return Corpus(texts, vectors)


class LookupEmbedder:
    """An embedder that knows its vectors by heart, so that embedding takes no time.

    Other texts get a random vector that depends on nothing but the text.
    """

    name = "lookup-384"

    def __init__(self, *corpora: Corpus) -> None:
        self._vectors: dict[str, Matrix] = {
            text: vector
            for corpus in corpora
            for text, vector in zip(corpus.texts, corpus.vectors, strict=True)
        }

    async def dimension(self) -> int:
        """Return the length of its vectors."""
        return DIMENSION

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:  # noqa: ARG002
        """Return float32[len(texts), 384], rows of length 1, in the order of `texts`."""
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> Matrix:
        known = self._vectors.get(text)
        if known is None:
            rng = np.random.default_rng(zlib.crc32(text.encode()))
            [known] = unit(normal(rng, 1))
        return known


def memories(count: int, *, seed: int) -> Corpus:
    """Return all of `count` different texts at once; see `Memories`."""
    source = Memories(count, seed)
    blocks = [source.block(number) for number in range(source.blocks)]
    return Corpus(
        [text for block in blocks for text in block.texts],
        np.concatenate([block.vectors for block in blocks]),
    )


def questions(targets: Corpus, *, seed: int) -> Corpus:
    """Return a question for each of these memories, near it in words and in meaning."""
    rng = np.random.default_rng(seed)
    texts = []
    for number, target in enumerate(targets.texts):
        words = target.split()[:-1]
        picked = rng.choice(words, size=min(6, len(words)), replace=False)
        texts.append(" ".join([*picked, f"q{number}"]))
    noise = normal(rng, len(texts)) * np.float32(0.5 / np.sqrt(DIMENSION))
    return Corpus(texts, unit(targets.vectors + noise))


def sentences(rng: np.random.Generator, numbers: range) -> list[str]:
    """Sentences of about a dozen words, each ended by its number, which makes it unique."""
    vocabulary, shares = _vocabulary()
    lengths = rng.integers(WORDS - 4, WORDS + 5, len(numbers))
    picked = iter(rng.choice(VOCABULARY, size=int(lengths.sum()), p=shares))
    return [
        " ".join([*(vocabulary[next(picked)] for _ in range(length)), str(number)])
        for number, length in zip(numbers, lengths, strict=True)
    ]


@cache
def _vocabulary() -> tuple[list[str], Matrix]:
    """Every word with its share of the running text."""
    weights = 1.0 / np.arange(1, VOCABULARY + 1) ** ZIPF
    return [word(number) for number in range(VOCABULARY)], weights / weights.sum()


def word(number: int) -> str:
    """A pronounceable word; frequent ones are shorter."""
    base = len(_SYLLABLES)
    syllables = [_SYLLABLES[number % base]]
    while number := number // base:
        syllables.append(_SYLLABLES[number % base])
    return "".join(syllables) + "n"


def normal(rng: np.random.Generator, count: int) -> Matrix:
    """Return rows of normal noise, of about the length of the root of the dimension."""
    return rng.standard_normal((count, DIMENSION), dtype=np.float32)


def unit(rows: Matrix) -> Matrix:
    """Return the rows at length 1."""
    rows_of_one: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return rows_of_one
