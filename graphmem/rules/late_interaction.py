"""Late interaction: the similarity of a question and a text, token by token.

The score of a passage is the mean, weighted by inverse document frequency, over the tokens of the
question of the greatest cosine with any of its tokens (ColBERT's max-sim, Khattab and Zaharia,
SIGIR 2020); that of a text is the score of its best passage. Tokens of texts are stored as signs,
18 bytes each for 128 components.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphmem.model.terms import TokenStates

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

ID_BYTES = 2
BLOCK = 16
"""Tokens of half a passage. Max-sim grows with the length of a text, so a long text is compared by
its best passage, of 32 tokens; each token is in two of them."""
SINGLE_THREADED = 65_536 * 4
"""Number of multiplications that OpenBLAS does without other threads. Its threads wait actively: a
larger product takes 37 instead of 11 ms while other processes work."""
MAX_QUESTION_TOKENS = 128
"""Maximum tokens of a question that are compared; of a longer one, those that are rarest in the
candidates. A question of 100,000 characters against 300 long texts would take gigabytes."""
SLICE = 32_768
"""Number of tokens of texts that are compared at once, which bounds memory."""
MIN_IDF = 0.1
"""Weight of a token that every candidate contains."""


def pack(tokens: TokenStates) -> bytes:
    """Return the tokens of a text as bytes: per token its number modulo 2^16, and its signs.

    Args:
        tokens: float32[n, d] states; d is a multiple of 8.
    """
    ids = tokens.ids.astype("<u2").view(np.uint8).reshape(-1, ID_BYTES)
    return np.hstack([ids, np.packbits(tokens.states > 0, axis=1)]).tobytes()


class MaxSim(NamedTuple):
    """Scores of the candidates, in [-1, 1]; NaN for a candidate without tokens."""

    own: Floats
    """float32[n], of the candidate's own tokens."""
    context: Floats
    """float32[n], of its tokens and those of the last passage of the text before it."""


def max_sim(
    question: TokenStates, texts: Sequence[bytes | None], before: Sequence[bytes | None]
) -> MaxSim:
    """Return the similarity of a question to each candidate.

    Document frequencies are those among the candidates, so no other tenant's texts affect them.

    Args:
        question: float32[m, d] states.
        texts: packed tokens of each candidate; None if it has none.
        before: packed tokens of the text before each candidate; None if there is none.
    """
    width = ID_BYTES + question.states.shape[1] // 8
    # A length that is not a multiple was written by another version, and is not read.
    readable = [text for text in (*texts, *before) if text and len(text) % width == 0]
    # The text before a candidate is often a candidate, too.
    place = {text: i for i, text in enumerate(dict.fromkeys(readable))}
    if not place or not len(question.ids):
        nothing = np.full(len(texts), np.nan, dtype=np.float32)
        return MaxSim(nothing, nothing)
    rows = np.frombuffer(b"".join(place), np.uint8).reshape(-1, width)
    passages = _Passages.of([len(text) // width for text in place])
    there, previous = ([place.get(text or b"", -1) for text in side] for side in (texts, before))
    among = sorted({i for i in there if i >= 0})
    stored = np.ascontiguousarray(rows[:, :ID_BYTES]).view("<u2")[:, 0]
    question = _shortened(question, stored)
    weights = _idf(passages.contain(question.ids, stored)[:, among])
    best = passages.best(question.states, rows[:, ID_BYTES:])
    return passages.scores(weights, best, there, previous)


@dataclass(frozen=True, slots=True)
class _Passages:
    """Overlapping passages of two blocks of tokens each, of several texts one after another."""

    blocks: npt.NDArray[np.intp]
    """First token of each block."""
    pairs: npt.NDArray[np.intp]
    """[2, p], the blocks of each passage; the same block twice in a text of one block."""
    texts: npt.NDArray[np.intp]
    """First token of each text."""
    starts: npt.NDArray[np.intp]
    """First passage of each text."""
    counts: npt.NDArray[np.intp]

    @classmethod
    def of(cls, lengths: Sequence[int]) -> _Passages:
        sizes = np.array(lengths)
        texts = np.cumsum(sizes) - sizes
        number = -(-sizes // BLOCK)
        first = np.cumsum(number) - number
        of_text = np.repeat(np.arange(len(sizes)), number)
        within = np.arange(number.sum()) - first[of_text]
        counts = np.maximum(number - 1, 1)
        starts = np.cumsum(counts) - counts
        left = np.arange(counts.sum()) - np.repeat(starts, counts) + np.repeat(first, counts)
        pairs = np.stack([left, left + np.repeat(number > 1, counts)])
        return cls(texts[of_text] + BLOCK * within, pairs, texts, starts, counts)

    def contain(
        self, tokens: npt.NDArray[np.int32], stored: npt.NDArray[np.uint16]
    ) -> npt.NDArray[np.bool_]:
        """Return bool[m, n], whether each text contains each token of the question."""
        equal = tokens.astype(np.uint16)[:, None] == stored
        return np.logical_or.reduceat(equal, self.texts, axis=1)

    def best(self, states: Floats, signs: npt.NDArray[np.uint8]) -> Floats:
        """Return float32[m, p], the greatest cosine of each token of the question in a passage."""
        edges = np.searchsorted(self.blocks, np.arange(0, len(signs), SLICE))
        ends = np.append(self.blocks, len(signs))
        blocks = np.concatenate(
            [
                np.maximum.reduceat(
                    _cosines(states, signs[ends[first] : ends[last]]),
                    self.blocks[first:last] - ends[first],
                    axis=1,
                )
                for first, last in itertools.pairwise([*edges, len(self.blocks)])
                if first < last
            ],
            axis=1,
        )
        best: Floats = np.maximum(blocks[:, self.pairs[0]], blocks[:, self.pairs[1]])
        return best

    def scores(
        self, weights: Floats, best: Floats, there: Sequence[int], before: Sequence[int]
    ) -> MaxSim:
        """Return the score of the best passage of each candidate; -1 is the place of no text."""
        own = np.append(np.maximum.reduceat(weights @ best, self.starts), np.float32(np.nan))[there]
        context = own.copy()
        both = [i for i in range(len(there)) if there[i] >= 0 <= before[i]]
        if both:
            counts = self.counts[[there[i] for i in both]]
            starts = np.cumsum(counts) - counts
            shift = np.repeat(self.starts[[there[i] for i in both]] - starts, counts)
            # Only the end of the text before it: all of a long text would match any question.
            last = np.array([self.starts[before[i]] + self.counts[before[i]] - 1 for i in both])
            joined = np.maximum(
                best[:, np.arange(counts.sum()) + shift], best[:, np.repeat(last, counts)]
            )
            context[both] = np.maximum.reduceat(weights @ joined, starts)
        return MaxSim(own, context)


def _shortened(question: TokenStates, stored: npt.NDArray[np.uint16]) -> TokenStates:
    """Return the question with at most `MAX_QUESTION_TOKENS` tokens, in their order."""
    if len(question.ids) <= MAX_QUESTION_TOKENS:
        return question
    found = np.bincount(stored, minlength=1 << 16)[question.ids.astype(np.uint16)]
    rarest = np.argsort(np.where(found, found, len(stored) + 1), kind="stable")
    kept = np.sort(rarest[:MAX_QUESTION_TOKENS])
    return TokenStates(question.ids[kept], question.states[kept])


def _cosines(states: Floats, signs: npt.NDArray[np.uint8]) -> Floats:
    """Return float32[m, n], the cosines of states and packed signs."""
    width = states.shape[1]
    size = max(1, SINGLE_THREADED // max(1, states.size))
    padded = -(-len(signs) // size) * size
    bits = np.zeros((padded, width), dtype=np.float32)
    bits[: len(signs)] = np.unpackbits(signs, axis=1)
    # With s in {-1, 1} for bits b: s q = 2 b q - sum(q); the length of s is sqrt(d).
    scale = np.float32(1 / np.sqrt(width))
    products = np.matmul(states * (2 * scale), bits.reshape(-1, size, width).transpose(0, 2, 1))
    products -= states.sum(axis=1, keepdims=True) * scale
    cosines: Floats = products.transpose(1, 0, 2).reshape(len(states), -1)[:, : len(signs)]
    return cosines


def _idf(found: npt.NDArray[np.bool_]) -> Floats:
    """Return float32[m], weights with a sum of 1.

    Args:
        found: bool[m, n], whether a text contains a token.
    """
    frequency = found.sum(axis=1)
    idf = np.log1p((found.shape[1] - frequency + 0.5) / (frequency + 0.5))
    weights = np.maximum(idf, MIN_IDF)
    shares: Floats = (weights / weights.sum()).astype(np.float32)
    return shares
