"""What is done to texts before any model sees them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from graphmem.adapters.models.embedding.service import unit_rows
from graphmem.errors import InvalidInputError
from graphmem.ports import Role
from graphmem.rules.identity import digest

if TYPE_CHECKING:
    from graphmem.adapters.models.access import IOMode
    from graphmem.adapters.models.embedding.cache import Vector, VectorCache
    from graphmem.ports import Matrix


CHARS_READ = 8_000
"""A longer text is embedded by its beginning. No model here reads more than some 8,000 tokens, and
the local one needs 0.4 s for 1,000 characters, so 1 MB would hold a caller for minutes."""


def cleaned(texts: Sequence[str]) -> list[str]:
    """Return the texts as models take them: stripped, cut, without NUL, which ends a text in C.

    Raises:
        InvalidInputError: a text is blank, no string, or holds a lone surrogate; names its index.
    """
    if isinstance(texts, str):
        raise InvalidInputError("A list of texts is needed, not one string.")
    return [_cleaned(index, text) for index, text in enumerate(texts)]


def _cleaned(index: int, text: object) -> str:
    if not isinstance(text, str):
        raise InvalidInputError(f"Text {index} is a {type(text).__name__}, not a string.")
    bare = text.replace("\0", " ").strip()[:CHARS_READ]
    if not bare:
        raise InvalidInputError(
            f"Text {index} is blank, so there is nothing to embed.", hint="Leave it out."
        )
    try:
        bare.encode()
    except UnicodeEncodeError as error:
        where = error.start
    else:
        return bare
    raise InvalidInputError(
        f"Text {index} has a lone surrogate at position {where}, which UTF-8 cannot hold.",
        hint='Decode its source with errors="replace".',
    )


def batches(texts: Sequence[str], size: int) -> list[list[str]]:
    """Return the texts in groups of at most `size`, each group of similar length.

    Most models pad a group to its longest text.
    """
    ordered = sorted(texts, key=len)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


class EmbeddingEngine(Protocol):
    """One model, asked for one batch at a time."""

    name: str
    """Recorded in the graph."""
    identity: str
    """Everything that decides its vectors; part of the cache's keys."""
    dimension: int | None
    """Length of its vectors; None until the first answer tells."""
    slow: bool
    """Whether looking a vector up is worth while."""

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Any] | Matrix:
        """Return one row of numbers per text, unchecked."""
        ...


class EmbeddingGateway:
    """An `Embedder` over one engine; safe to share between threads and event loops."""

    def __init__(
        self, engine: EmbeddingEngine, face: IOMode, *, batch: int, cache: VectorCache | None
    ) -> None:
        self._engine, self._face, self._batch, self._cache = engine, face, batch, cache
        self._dimension = engine.dimension

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._engine.name

    async def dimension(self) -> int:
        """Return the length of its vectors, embedding one word if nothing told it yet."""
        if self._dimension is None:
            [word] = await self.embed(["dimension"], Role.DOCUMENT)
            return len(word)
        return self._dimension

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return float32[len(texts), dimension], rows of length 1, in the order of `texts`.

        A text longer than `CHARS_READ` characters is embedded by its beginning.

        Raises:
            InvalidInputError: a text is blank or cannot be encoded; names its index.
            ModelUnavailableError: the model cannot be reached or refuses the key.
            ModelReplyError: wrong count, wrong dimension, or a value that is not finite.
        """
        wanted = cleaned(texts)
        if not wanted:
            return np.empty((0, await self.dimension()), dtype=np.float32)
        keys = {text: digest(self._engine.identity, role, text) for text in wanted}
        known = await self._remembered(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in known]
        for batch in batches(missing, self._batch):
            rows = unit_rows(
                await self._engine.vectors(batch, role),
                count=len(batch),
                dimension=self._dimension,
            )
            self._dimension = rows.shape[1]
            fresh = {keys[text]: row for text, row in zip(batch, rows, strict=True)}
            if self._cache is not None:
                await self._face.run(partial(self._cache.put, fresh))
            known.update(fresh)
        return np.stack([known[keys[text]] for text in wanted])

    async def _remembered(self, keys: Sequence[str]) -> dict[str, Vector]:
        if self._cache is None:
            return {}
        found = await self._face.run(partial(self._cache.get, keys))
        if self._dimension is None and found:
            self._dimension = len(next(iter(found.values())))
        return {key: vector for key, vector in found.items() if len(vector) == self._dimension}
