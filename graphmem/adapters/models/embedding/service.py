"""Checks on what a model answered."""

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
    from graphmem.adapters.models.access import IOMode
    from graphmem.ports import Matrix
    from graphmem.settings import Settings


def in_order(reply: Any, count: int) -> list[Any]:
    """Return the vectors of an OpenAI-like embedding reply, one per text, in the texts' order.

    Args:
        reply: has `data`, a list of items with `embedding` and, unless they are in order, `index`.
        count: how many texts were sent.

    Raises:
        ModelReplyError: another number of vectors, or indices that are not 0 to count - 1.
    """
    items = getattr(reply, "data", None)
    if not isinstance(items, list):
        raise ModelReplyError("The embedding service answered without a list of vectors.")
    if len(items) != count:
        raise ModelReplyError(
            f"The embedding service answered {len(items)} vectors for {count} texts.",
            hint="Lower GRAPHMEM_EMBEDDER_BATCH if the service takes fewer texts at once.",
        )
    try:
        vectors = [item["embedding"] for item in items]
        indices = [item.get("index") for item in items]
    except (AttributeError, KeyError, TypeError) as error:
        raise ModelReplyError("The embedding service answered an item without a vector.") from error
    if all(index is None for index in indices):
        return vectors
    placed = dict(zip(indices, vectors, strict=True))
    if set(placed) != set(range(count)):
        raise ModelReplyError(
            f"The embedding service numbered {count} vectors {indices[:10]}, not from 0 on."
        )
    return [placed[index] for index in range(count)]


def unit_rows(raw: Sequence[Any] | Matrix, *, count: int, dimension: int | None) -> Matrix:
    """Return float32[count, dimension] with rows of length 1.

    Args:
        raw: what the model answered, one row a text.
        count: how many rows there must be.
        dimension: how long they must be; None if that is not known yet.

    Raises:
        ModelReplyError: wrong shape, a value that is not a finite number, or a zero vector.
    """
    try:
        rows = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelReplyError(
            "The model answered something other than rows of numbers of one length."
        ) from error
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:
        raise ModelReplyError(f"The model answered shape {rows.shape} for {count} texts.")
    if dimension is not None and rows.shape[1] != dimension:
        raise ModelReplyError(
            f"The model answered {rows.shape[1]} numbers a text where {dimension} were expected.",
            hint="Check GRAPHMEM_EMBEDDER and GRAPHMEM_EMBEDDER_DIMENSION; if another model now "
            "answers under this name, give it a name of its own.",
        )
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if wrong.size:
        raise ModelReplyError(f"The model answered NaN or infinity in row {wrong[0]}.")
    # Divided by the largest first, so that squares neither overflow nor vanish.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    wrong = np.flatnonzero(largest == 0)
    if wrong.size:
        raise ModelReplyError(f"The model answered a vector of zeros in row {wrong[0]}.")
    rows = rows / largest
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(unit, dtype=np.float32)


_ROLE_WORDS = {
    "cohere": ("input_type", "search_document", "search_query"),
    "gemini": ("task_type", "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"),
    "nvidia_nim": ("input_type", "passage", "query"),
    "voyage": ("input_type", "document", "query"),
}
"""How litellm's providers are told which side of a search a text stands on; others are not told,
since a service may refuse a parameter it does not know."""


_MAX_TEXT_BYTES = 4_096 * 32
"""Of a reply, for each text: the longest vector that can be stored, each number with 32 octets."""
_MAX_BYTES = 1_000_000
"""Of a reply beside the vectors."""


class ServiceEngine:
    """A litellm embedding model.

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """

    slow = True

    def __init__(self, settings: Settings, face: IOMode) -> None:
        self.name = settings.embedder
        self.dimension = settings.embedder_dimension
        # One name may stand for two models at two addresses.
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
            retries=settings.embedder_retries,
        )
        self._service = ModelService(self._access, face)

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Any]:
        """Return one row per text, asking again after passing faults."""
        answer, requests = await self._service.ask(
            "aembedding", partial(self._request, texts, role)
        )
        if isinstance(answer, RequestFault):
            raise error_of(answer, self._access, requests)
        return in_order(answer, len(texts))

    def _request(self, texts: Sequence[str], role: Role) -> dict[str, Any]:
        request = self._access.request() | {"input": list(texts)}
        if self.dimension is not None:
            # litellm refuses `dimensions` for models it does not know, unless told to let it by.
            request |= {"dimensions": self.dimension, "allowed_openai_params": ["dimensions"]}
        if self._provider in _ROLE_WORDS:
            parameter, document, query = _ROLE_WORDS[self._provider]
            request[parameter] = query if role is Role.QUERY else document
        return request

    @cached_property
    def _provider(self) -> str:
        return self._service.provider()
