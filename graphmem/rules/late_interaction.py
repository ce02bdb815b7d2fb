"""Late interaction: the similarity of a question and a text, token by token.

The score of a text is the mean, weighted by inverse document frequency, over the tokens of the
question of the greatest cosine with any of its tokens (ColBERT's max-sim, Khattab and Zaharia,
SIGIR 2020). Tokens of texts are stored as signs: 18 bytes each for 128 components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from graphmem.model.terms import TokenStates

    Floats = npt.NDArray[np.float32]

ID_BYTES = 2
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
    """float32[n], of its tokens and those of the text before it."""


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
    counts = np.array([len(text) // width for text in place])
    rows = np.frombuffer(b"".join(place), np.uint8).reshape(-1, width)
    starts = np.cumsum(counts) - counts
    best = np.maximum.reduceat(_cosines(question.states, rows[:, ID_BYTES:]), starts, axis=1)
    # The last column is that of a text that does not exist.
    best = np.hstack([best, np.full((len(best), 1), np.nan, dtype=np.float32)])
    own, previous = (best[:, [place.get(text, -1) for text in side]] for side in (texts, before))
    among = sorted({place[text] for text in texts if text in place})
    ids = np.ascontiguousarray(rows[:, :ID_BYTES]).view("<u2")[:, 0]
    found = np.logical_or.reduceat(question.ids.astype(np.uint16)[:, None] == ids, starts, axis=1)
    weights = _idf(found[:, among])
    return MaxSim(weights @ own, weights @ np.where(previous > own, previous, own))


def _cosines(states: Floats, signs: npt.NDArray[np.uint8]) -> Floats:
    """Return float32[m, n], the cosines of states and packed signs."""
    bits = np.unpackbits(signs, axis=1).astype(np.float32)
    # With s in {-1, 1} for bits b: s q = 2 b q - sum(q); the length of s is sqrt(d).
    cosines: Floats = (2.0 * (states @ bits.T) - states.sum(axis=1, keepdims=True)) / np.sqrt(
        np.float32(states.shape[1])
    )
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


def scored(question: TokenStates, candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the candidates of recall/current or recall/filtered as recall/hits reads them."""
    texts = [one["states"] for one in candidates]
    found = max_sim(question, texts, [one["before"] for one in candidates])
    return [
        {name: one[name] for name in ("node", "kind", "vector", "words")}
        | {"late": None if own != own else own, "late_context": None if own != own else both}
        for one, own, both in zip(
            candidates, found.own.tolist(), found.context.tolist(), strict=True
        )
    ]
