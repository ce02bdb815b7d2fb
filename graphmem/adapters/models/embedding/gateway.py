"""The embedder over any engine: clean texts, batch them, cache and check their vectors."""

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
    from graphmem.adapters.models.embedding.cache import Vector, VectorCache
    from graphmem.io_modes import IOMode
    from graphmem.ports import Matrix


CHARS_READ = 8_000
"""Maximum characters of a text that are embedded, from its beginning. No supported model reads more
than about 8,000 tokens. The local one takes 0.4 s per 1,000 characters, so 1 MB takes minutes."""


def cleaned(texts: Sequence[str]) -> list[str]:
    """Return the texts stripped, truncated, and without NUL, which ends a string in C.

    Raises:
        InvalidInputError: a text is blank, not a string, or invalid Unicode; names its index.
    """
    if isinstance(texts, str):
        raise InvalidInputError("`texts` must be a list of strings, not one string.")
    return [_cleaned(index, text) for index, text in enumerate(texts)]


def _cleaned(index: int, text: object) -> str:
    if not isinstance(text, str):
        raise InvalidInputError(f"Text {index} must be a string, not {type(text).__name__}.")
    bare = text.replace("\0", " ").strip()[:CHARS_READ]
    if not bare:
        raise InvalidInputError(f"Text {index} must not be blank.", hint="Leave it out.")
    try:
        bare.encode()
    except UnicodeEncodeError as error:
        position = error.start
    else:
        return bare
    raise InvalidInputError(
        f"Text {index} has invalid Unicode at position {position} (a lone surrogate).",
        hint='Decode its source with errors="replace".',
    )


def batches(texts: Sequence[str], size: int) -> list[list[str]]:
    """Return the texts in batches of at most `size` texts of similar length.

    Most models pad a batch to its longest text.
    """
    ordered = sorted(texts, key=len)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


class EmbeddingEngine(Protocol):
    """Interface of one model, called with one batch at a time."""

    name: str
    """Name of the model, as recorded in the graph."""
    identity: str
    """Text that identifies everything that affects its vectors; part of the cache's keys."""
    dimension: int | None
    """Length of its vectors; None until the first reply."""
    slow: bool
    """Whether a cache lookup is faster than the model."""

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Any] | Matrix:
        """Return one row of numbers per text, without checks."""
        ...


class EmbeddingGateway:
    """An `Embedder` over one engine; safe to share between threads and event loops."""

    def __init__(
        self, engine: EmbeddingEngine, mode: IOMode, *, batch: int, cache: VectorCache | None
    ) -> None:
        self._engine, self._mode, self._batch, self._cache = engine, mode, batch, cache
        self._dimension = engine.dimension

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._engine.name

    async def dimension(self) -> int:
        """Return the length of its vectors; embed one word if it is not known yet."""
        if self._dimension is None:
            [word] = await self.embed(["dimension"], Role.DOCUMENT)
            return len(word)
        return self._dimension

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return float32[len(texts), dimension], rows of length 1, in the order of `texts`.

        A text longer than `CHARS_READ` characters is embedded by its beginning.

        Raises:
            InvalidInputError: a text is blank or cannot be encoded; names its index.
            ModelUnavailableError: the model cannot be reached or rejects the key.
            ModelReplyError: wrong count, wrong dimension, or a value that is not finite.
        """
        clean = cleaned(texts)
        if not clean:
            return np.empty((0, await self.dimension()), dtype=np.float32)
        keys = {text: digest(self._engine.identity, role, text) for text in clean}
        vectors = await self._cached(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in vectors]
        for batch in batches(missing, self._batch):
            rows = unit_rows(
                await self._engine.vectors(batch, role),
                count=len(batch),
                dimension=self._dimension,
            )
            self._dimension = rows.shape[1]
            fresh = {keys[text]: row for text, row in zip(batch, rows, strict=True)}
            if self._cache is not None:
                await self._mode.run(partial(self._cache.put, fresh))
            vectors.update(fresh)
        return np.stack([vectors[keys[text]] for text in clean])

    async def _cached(self, keys: Sequence[str]) -> dict[str, Vector]:
        if self._cache is None:
            return {}
        vectors = await self._mode.run(partial(self._cache.get, keys))
        if self._dimension is None and vectors:
            self._dimension = len(next(iter(vectors.values())))
        return {key: vector for key, vector in vectors.items() if len(vector) == self._dimension}
