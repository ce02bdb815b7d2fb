"""Embedder that hashes words, for tests that need similarity without a model."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from graphmem.adapters.models.embedding.gateway import cleaned
from graphmem.adapters.models.embedding.service import unit_rows

if TYPE_CHECKING:
    from graphmem.ports import Matrix, Role

_WORD = re.compile(r"\w+")
_GRAM = 3
_WORD_WEIGHT = 2.0
"""Weight of a word; a shared word matters more than a shared trigram."""


class HashEmbedder:
    """Words and letter trigrams hashed into signed buckets: the more shared, the closer.

    Deterministic on every machine, the same for both roles, never suspends. Unrelated texts have
    a cosine of about 0.1. Meaning has no influence.
    """

    DIMENSION: ClassVar[int] = 256

    def __init__(self, dimension: int = DIMENSION) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        """Stable name, with the dimension in it."""
        return f"hash-{self._dimension}"

    async def dimension(self) -> int:
        """Return the length of its vectors."""
        return self._dimension

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:  # noqa: ARG002
        """Return float32[len(texts), dimension], rows of length 1, in the order of `texts`.

        Raises:
            InvalidInputError: a text is blank or cannot be encoded; names its index.
        """
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(rows, cleaned(texts), strict=True):
            for feature, weight in _features(text.casefold()):
                number = zlib.crc32(feature.encode())
                row[(number >> 1) % self._dimension] += weight if number & 1 else -weight
            # Signs may cancel in a small dimension, but the result must not be the zero vector.
            if not row.any():
                row[zlib.crc32(text.encode()) % self._dimension] = 1.0
        return unit_rows(rows, count=len(texts), dimension=self._dimension) if len(texts) else rows


def _features(text: str) -> list[tuple[str, float]]:
    words = [(word, _WORD_WEIGHT) for word in _WORD.findall(text)]
    grams = [(text[i : i + _GRAM], 1.0) for i in range(max(1, len(text) - _GRAM + 1))]
    return words + grams
