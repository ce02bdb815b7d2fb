"""Embedding services behind litellm."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from graphmem.adapters.models.access import ModelAccess
from graphmem.adapters.models.embedding.replies import in_order
from graphmem.adapters.models.faults import RequestFault, error_of
from graphmem.adapters.models.service import ModelService
from graphmem.ports import Role
from graphmem.rules.identity import digest

if TYPE_CHECKING:
    from graphmem.adapters.models.faces import IOMode
    from graphmem.settings import Settings

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
