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
    if not len(question.ids):
        nothing = np.full(len(texts), np.nan, dtype=np.float32)
        return MaxSim(nothing, nothing)
    width = ID_BYTES + question.states.shape[1] // 8
    own, ids = _cosines(question, texts, width)
    weights = _idf(question.ids.astype(np.uint16), ids)
    previous, _ = _cosines(question, before, width)
    return MaxSim(weights @ own, weights @ np.fmax(own, np.where(np.isnan(own), np.nan, previous)))


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


def _cosines(
    question: TokenStates, texts: Sequence[bytes | None], width: int
) -> tuple[Floats, list[npt.NDArray[np.uint16]]]:
    """Return float32[m, n], each token's greatest cosine with each text, and the texts' ids."""
    best = np.full((len(question.ids), len(texts)), np.nan, dtype=np.float32)
    # A length that is not a multiple was written by another version, and is not read.
    readable = [i for i, text in enumerate(texts) if text and len(text) % width == 0]
    if not readable:
        return best, []
    counts = np.array([len(texts[i] or b"") // width for i in readable])
    rows = np.frombuffer(b"".join(texts[i] or b"" for i in readable), np.uint8).reshape(-1, width)
    starts = np.cumsum(counts) - counts
    signs = np.unpackbits(rows[:, ID_BYTES:], axis=1).astype(np.float32)
    # The cosine with a vector of signs s in {-1, 1}: (2 b - 1) q / sqrt(d), with bits b.
    states = question.states
    cosines = (2.0 * (states @ signs.T) - states.sum(axis=1, keepdims=True)) / np.sqrt(
        np.float32(states.shape[1])
    )
    best[:, readable] = np.maximum.reduceat(cosines, starts, axis=1)
    ids = np.ascontiguousarray(rows[:, :ID_BYTES]).view("<u2")[:, 0]
    return best, np.split(ids, starts[1:])


def _idf(tokens: npt.NDArray[np.uint16], texts: Sequence[npt.NDArray[np.uint16]]) -> Floats:
    """Return float32[m], the weights of the question's tokens, with a sum of 1."""
    found = np.array([np.isin(tokens, ids) for ids in texts], dtype=np.float64)
    frequency = found.sum(axis=0) if texts else np.zeros(len(tokens))
    idf = np.log1p((len(texts) - frequency + 0.5) / (frequency + 0.5))
    weights = np.maximum(idf, MIN_IDF)
    shares: Floats = (weights / max(weights.sum(), MIN_IDF)).astype(np.float32)
    return shares
