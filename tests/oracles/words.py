"""BM25 without repeated words: the oracle of cypher/fragments/word_weights.cypher.

The sum of the inverse document frequencies of the matched words (Robertson and Zaragoza, The
Probabilistic Relevance Framework, 2009), smaller for longer texts. The documents are the matches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

NAME_WEIGHT = 0.1
"""Weight of a match in the name of a speaker, relative to one word of a text."""
HALF_LENGTH = 800
"""Characters of a text whose score is halved."""


def bm25(
    question: Sequence[str],
    texts: Mapping[str, Collection[str]],
    names: Mapping[str, Collection[str]],
    lengths: Mapping[str, int],
) -> dict[str, float]:
    """Return the score of each match by id.

    Args:
        question: Distinct words.
        texts: Words of each text by id.
        names: Words of the names by id, for texts that have a speaker.
        lengths: Characters of each text by id.
    """
    rows = {
        i: [*(word in words for word in question), any(w in names.get(i, ()) for w in question)]
        for i, words in texts.items()
    }
    matches = {i: row for i, row in rows.items() if any(row)}
    if not matches:
        return {}
    found = np.array([*matches.values()], dtype=np.float64)
    frequency = found.sum(axis=0)
    weights = np.log1p((len(found) - frequency + 0.5) / (frequency + 0.5))
    weights[-1] *= NAME_WEIGHT
    length = np.array([lengths[i] for i in matches])
    scores = found @ weights / (1.0 + length / HALF_LENGTH)
    return dict(zip(matches, scores.tolist(), strict=True))
