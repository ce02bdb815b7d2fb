"""Made-up memories with the structure that matters: clustered vectors, words by Zipf's law."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
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
_SYLLABLES = [consonant + vowel for consonant in "bdfklmnr" for vowel in "aeio"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts with their vectors."""

    texts: Sequence[str]
    """Each once."""
    vectors: Matrix
    """float32[n, 384], unit rows."""


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
            [known] = _unit(rng.normal(size=(1, DIMENSION)))
        return known


def memories(count: int, *, seed: int) -> Corpus:
    """Return `count` different texts; a few repeat an earlier one but for a number."""
    rng = np.random.default_rng(seed)
    vectors = _clustered(rng, count)
    texts = _sentences(rng, count)
    copies = np.flatnonzero(rng.random(count) < NEAR_SHARE)
    for i in copies[copies > 0]:
        earlier = int(rng.integers(0, i))
        texts[i] = f"{texts[earlier].rsplit(' ', 1)[0]} {i}"
        vectors[i] = _unit(vectors[[earlier]] + rng.normal(scale=0.005, size=(1, DIMENSION)))[0]
    return Corpus(texts, vectors)


def questions(about: Corpus, count: int, *, seed: int) -> Corpus:
    """Return `count` questions, each near one of the memories in words and in meaning."""
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, len(about.texts), count)
    texts = []
    for number, target in enumerate(targets):
        words = about.texts[target].split()[:-1]
        picked = rng.choice(words, size=min(6, len(words)), replace=False)
        texts.append(" ".join([*picked, f"q{number}"]))
    noise = rng.normal(scale=0.5 / np.sqrt(DIMENSION), size=(count, DIMENSION))
    return Corpus(texts, _unit(about.vectors[targets] + noise))


def _clustered(rng: np.random.Generator, count: int) -> Matrix:
    centres = _unit(rng.normal(size=(CLUSTERS, DIMENSION)))
    noise = rng.normal(scale=SPREAD / np.sqrt(DIMENSION), size=(count, DIMENSION))
    return _unit(centres[rng.integers(0, CLUSTERS, count)] + noise)


def _sentences(rng: np.random.Generator, count: int) -> list[str]:
    """Sentences of about a dozen words, each ended by its number, which makes it unique."""
    weights = 1.0 / np.arange(1, VOCABULARY + 1) ** ZIPF
    lengths = rng.integers(WORDS - 4, WORDS + 5, count)
    picked = iter(rng.choice(VOCABULARY, size=int(lengths.sum()), p=weights / weights.sum()))
    vocabulary = [_word(number) for number in range(VOCABULARY)]
    return [
        " ".join([*(vocabulary[next(picked)] for _ in range(length)), str(number)])
        for number, length in enumerate(lengths)
    ]


def _word(number: int) -> str:
    """A pronounceable word; frequent ones are shorter."""
    base = len(_SYLLABLES)
    syllables = [_SYLLABLES[number % base]]
    while number := number // base:
        syllables.append(_SYLLABLES[number % base])
    return "".join(syllables) + "n"


def _unit(rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = (rows / lengths).astype(np.float32)
    return unit
