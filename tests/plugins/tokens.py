"""An embedder with token states, without a model."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from graphmem.model.terms import Encoding, TokenStates
from graphmem.ports import Role
from graphmem.testing import HashEmbedder


class TokenHashEmbedder(HashEmbedder):
    """A `HashEmbedder` in which each word is a token with a random state; equal words are equal."""

    COMPONENTS = 64
    has_tokens = True

    async def encode(self, texts: Sequence[str], role: Role) -> Encoding:
        """Return the vectors of `embed`, and the words of each text as tokens."""
        tokens = [self._tokens(re.findall(r"\w+", text.casefold())) for text in texts]
        return Encoding(await self.embed(texts, role), tokens)

    def _tokens(self, words: Sequence[str]) -> TokenStates:
        ids = np.array([zlib.crc32(word.encode()) & 0x7FFF for word in words], dtype=np.int32)
        rows = [np.random.default_rng(one).normal(size=self.COMPONENTS) for one in ids.tolist()]
        states = np.array(rows, dtype=np.float32).reshape(len(ids), self.COMPONENTS)
        lengths = np.linalg.norm(states, axis=1, keepdims=True)
        return TokenStates(ids, (states / np.maximum(lengths, 1e-9)).astype(np.float32))
