"""Embedders: clean texts, batch them, cache and check vectors; a hash of words for tests."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from graphmem.errors import InvalidInputError, ModelReplyError
from graphmem.model.terms import Encoding
from graphmem.models.access import ModelAccess
from graphmem.models.ports import Role, WrappedEmbedder
from graphmem.models.service import ModelService, RequestFault, exception_of
from graphmem.rules.identity import digest

if TYPE_CHECKING:
    from graphmem.io_modes import IOMode
    from graphmem.models.ports import Matrix
    from graphmem.models.vector_cache import Vector, VectorCache
    from graphmem.settings import Settings


CHARS_READ = 8_000
"""Maximum characters of a text that are embedded, from its beginning. No supported model reads more
than about 8,000 tokens. The local one takes 0.4 s per 1,000 characters, so 1 MB takes minutes."""

_ROLE_WORDS = {
    "cohere": ("input_type", "search_document", "search_query"),
    "gemini": ("task_type", "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"),
    "nvidia_nim": ("input_type", "passage", "query"),
    "voyage": ("input_type", "document", "query"),
}
"""Parameter and values by which a provider distinguishes documents from queries. Other providers
get no such parameter, because a service may reject an unknown one."""

_MAX_TEXT_BYTES = 4_096 * 32
"""Maximum bytes of a reply per text: the longest vector that can be stored, 32 bytes a number."""
_MAX_BYTES = 1_000_000
"""Maximum bytes of a reply in addition to its vectors."""

_WORD = re.compile(r"\w+")
_GRAM = 3
_WORD_WEIGHT = 2.0
"""Weight of a word; a shared word matters more than a shared trigram."""


def clean_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts stripped, truncated, and without NUL, which ends a string in C."""
    if isinstance(texts, str):
        raise InvalidInputError("`texts` must be a list of strings, not one string.")
    return [_clean_text(index, text) for index, text in enumerate(texts)]


def _clean_text(index: int, text: object) -> str:
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
        """
        clean = clean_texts(texts)
        if not clean:
            return np.empty((0, await self.dimension()), dtype=np.float32)
        keys = {text: self._key(text, role) for text in clean}
        vectors = await self._cached(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in vectors]
        for batch in batches(missing, self._batch):
            rows = unit_rows(
                await self._engine.vectors(batch, role), count=len(batch), dimension=self._dimension
            )
            self._dimension = rows.shape[1]
            fresh = dict(zip(batch, rows, strict=True))
            await self._keep(fresh, role)
            vectors.update({keys[text]: row for text, row in fresh.items()})
        return np.stack([vectors[keys[text]] for text in clean])

    def _key(self, text: str, role: Role) -> str:
        return digest(self._engine.identity, role, text)

    async def _keep(self, rows: Mapping[str, Vector], role: Role) -> None:
        if self._cache is not None:
            keyed = {self._key(text, role): row for text, row in rows.items()}
            await self._mode.run(partial(self._cache.put, keyed))

    async def _cached(self, keys: Sequence[str]) -> dict[str, Vector]:
        if self._cache is None:
            return {}
        vectors = await self._mode.run(partial(self._cache.get, keys))
        if self._dimension is None and vectors:
            self._dimension = len(next(iter(vectors.values())))
        return {key: vector for key, vector in vectors.items() if len(vector) == self._dimension}


def ordered_vectors(reply: Any, count: int) -> list[Any]:
    """Return the vectors of an OpenAI-like embedding reply, in the order of the texts.

    `reply.data` is a list of items with `embedding` and, unless they are in order, `index`.
    """
    items = getattr(reply, "data", None)
    if not isinstance(items, list):
        raise ModelReplyError("The reply of the embedding service has no list of vectors.")
    if len(items) != count:
        raise ModelReplyError(
            f"The embedding service returned {len(items)} vectors for {count} texts.",
            hint="Lower GRAPHMEM_EMBEDDER_BATCH if the service accepts fewer texts per request.",
        )
    try:
        vectors = [item["embedding"] for item in items]
        indices = [item.get("index") for item in items]
    except (AttributeError, KeyError, TypeError) as error:
        raise ModelReplyError("The embedding service returned an item without a vector.") from error
    if all(index is None for index in indices):
        return vectors
    placed = dict(zip(indices, vectors, strict=True))
    if set(placed) != set(range(count)):
        raise ModelReplyError(
            f"The embedding service numbered {count} vectors {indices[:10]}, not from 0."
        )
    return [placed[index] for index in range(count)]


def unit_rows(raw: Sequence[Any] | Matrix, *, count: int, dimension: int | None) -> Matrix:
    """Return a model's reply as float32[count, dimension] with rows of length 1.

    Rows may have any length if `dimension` is None.
    """
    try:
        rows = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelReplyError(
            "The model returned something other than rows of numbers of equal length."
        ) from error
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:
        raise ModelReplyError(f"The model returned shape {rows.shape} for {count} texts.")
    if dimension is not None and rows.shape[1] != dimension:
        raise ModelReplyError(
            f"The model returned {rows.shape[1]} numbers per text where {dimension} were expected.",
            hint="Check GRAPHMEM_EMBEDDER and GRAPHMEM_EMBEDDER_DIMENSION. If another model now "
            "has this name, give it a different name.",
        )
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if wrong.size:
        raise ModelReplyError(f"The model returned NaN or infinity in row {wrong[0]}.")
    # Divide by the largest value first, so that squares neither overflow nor underflow.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    wrong = np.flatnonzero(largest == 0)
    if wrong.size:
        raise ModelReplyError(f"The model returned a vector of zeros in row {wrong[0]}.")
    rows = rows / largest
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(unit, dtype=np.float32)


class CheckedEmbedder(WrappedEmbedder):
    """A caller's own embedder, with its vectors checked and set to length 1.

    Neo4j stores a vector of any length, but its indexes leave out those of another dimension and
    zero vectors. Without this check such items would never be found.
    """

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return the checked vectors of texts; see `ports.Embedder.embed`."""
        return await self._checked(await super().embed(texts, role), len(texts))

    async def encode(self, texts: Sequence[str], role: Role) -> Encoding:
        """Return checked vectors, and token states; see `ports.TokenEmbedder.encode`."""
        made = await super().encode(texts, role)
        if len(made.tokens) != len(texts):
            raise ModelReplyError(
                f"The model returned token states of {len(made.tokens)} texts for {len(texts)}."
            )
        return Encoding(await self._checked(made.vectors, len(texts)), made.tokens)

    async def _checked(self, raw: Matrix, count: int) -> Matrix:
        if not count:
            return raw
        return unit_rows(raw, count=count, dimension=await self.dimension())


class ServiceEngine:
    """A litellm embedding model.

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """

    def __init__(self, settings: Settings, mode: IOMode) -> None:
        self.name = settings.embedder
        self.dimension = settings.embedder_dimension
        # Two addresses may serve different models under one name.
        self.identity = digest(self.name, settings.embedder_url or "", str(self.dimension))
        self._access = ModelAccess(
            service_name="embedding service",
            setting="GRAPHMEM_EMBEDDER",
            example="openai/text-embedding-3-small, or to `local`",
            too_large_hint="Check GRAPHMEM_EMBEDDER_DIMENSION and GRAPHMEM_EMBEDDER_BATCH.",
            model=self.name,
            url=settings.embedder_url,
            key=settings.embedder_key,
            timeout_s=settings.embedder_timeout_s,
            max_bytes=_MAX_BYTES + settings.embedder_batch * _MAX_TEXT_BYTES,
            retries=settings.embedder_max_retries,
        )
        self._service = ModelService(self._access, mode)

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Any]:
        """Return one row per text; retry after temporary faults."""
        answer, requests = await self._service.ask(
            "aembedding", partial(self._request, texts, role)
        )
        if isinstance(answer, RequestFault):
            raise exception_of(answer, self._access, requests)
        return ordered_vectors(answer, len(texts))

    def _request(self, texts: Sequence[str], role: Role) -> dict[str, Any]:
        request = self._access.request() | {"input": list(texts)}
        if self.dimension is not None:
            # litellm rejects `dimensions` for models it does not know, unless explicitly allowed.
            request |= {"dimensions": self.dimension, "allowed_openai_params": ["dimensions"]}
        if self._provider in _ROLE_WORDS:
            parameter, document, query = _ROLE_WORDS[self._provider]
            request[parameter] = query if role is Role.QUERY else document
        return request

    @cached_property
    def _provider(self) -> str:
        return self._service.provider()


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
        """Return float32[len(texts), dimension], rows of length 1, in the order of `texts`."""
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(rows, clean_texts(texts), strict=True):
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
