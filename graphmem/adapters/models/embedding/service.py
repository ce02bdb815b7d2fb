"""Embedding models behind litellm, and checks of their replies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmem.adapters.models.access import ModelAccess
from graphmem.adapters.models.service import ModelService, RequestFault, error_of
from graphmem.errors import ModelReplyError
from graphmem.ports import Role
from graphmem.rules.identity import digest

if TYPE_CHECKING:
    from graphmem.io_modes import IOMode
    from graphmem.ports import Matrix
    from graphmem.settings import Settings


def in_order(reply: Any, count: int) -> list[Any]:
    """Return the vectors of an OpenAI-like embedding reply, in the order of the texts.

    Args:
        reply: has `data`, a list of items with `embedding` and, unless they are in order, `index`.
        count: number of texts that were sent.

    Raises:
        ModelReplyError: wrong number of vectors, or indices that are not 0 to count - 1.
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
    """Return float32[count, dimension] with rows of length 1.

    Args:
        raw: reply of the model, one row per text.
        count: required number of rows.
        dimension: required length of a row; None if it is not known yet.

    Raises:
        ModelReplyError: wrong shape, a value that is not a finite number, or a zero vector.
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


class ServiceEngine:
    """A litellm embedding model.

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """

    slow = True

    def __init__(self, settings: Settings, mode: IOMode) -> None:
        self.name = settings.embedder
        self.dimension = settings.embedder_dimension
        # Two addresses may serve different models under one name.
        self.identity = digest(self.name, settings.embedder_url or "", str(self.dimension))
        self._access = ModelAccess(
            noun="embedding service",
            setting="GRAPHMEM_EMBEDDER",
            example="openai/text-embedding-3-small, or to `local`",
            too_much="Check GRAPHMEM_EMBEDDER_DIMENSION and GRAPHMEM_EMBEDDER_BATCH.",
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
            raise error_of(answer, self._access, requests)
        return in_order(answer, len(texts))

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
