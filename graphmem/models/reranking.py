"""Rerankers behind litellm or at an HTTP endpoint: requests, reply formats, checks."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from graphmem.errors import ModelReplyError
from graphmem.models.access import ModelAccess
from graphmem.models.embedding import CHARS_READ
from graphmem.models.service import (
    ModelService,
    RequestFault,
    StatusError,
    exception_of,
    post_json,
)

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from graphmem.io_modes import IOMode
    from graphmem.models.ports import Reranker
    from graphmem.settings import Settings

_MAX_BYTES = 1_000_000
"""Maximum bytes of a reply in addition to the texts, which some services repeat."""
_CHAR_BYTES = 6
"""Maximum bytes of a character in JSON."""
_FIRST_ERROR = 300
_Form = Callable[[str, Sequence[str]], dict[str, object]]
_UNSUITABLE = frozenset({400, 422})
"""Statuses by which services refuse fields that they do not know, or miss others."""


def open_service(reranker: str, settings: Settings, mode: IOMode) -> Reranker:
    """Return the reranker with this litellm name or URL, without calling it."""
    is_url = "://" in reranker
    access = ModelAccess(
        service_name="reranking service",
        setting="GRAPHMEM_RERANKER",
        example="cohere/rerank-v3.5, or to the http or https address of a rerank endpoint",
        too_large_hint="Lower GRAPHMEM_RERANKER_MAX_CANDIDATES if it accepts fewer texts.",
        model="" if is_url else reranker,
        url=reranker if is_url else None,
        url_setting="GRAPHMEM_RERANKER",
        key=settings.reranker_key,
        timeout_s=settings.reranker_timeout_s,
        max_bytes=_MAX_BYTES + settings.reranker_max_candidates * CHARS_READ * _CHAR_BYTES,
        # A retry would seldom fit into the time budget.
        retries=0,
    )
    return HttpReranker(access, mode) if is_url else LitellmReranker(access, mode)


class LitellmReranker:
    """A `Reranker` behind litellm; safe to share between threads and event loops."""

    def __init__(self, access: ModelAccess, mode: IOMode) -> None:
        self._access, self._service = access, ModelService(access, mode)

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._access.model

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text; see `ports.Reranker.rerank`.

        The first call in a process also imports litellm, which the time budget does not cover.
        """
        answer, requests = await self._service.ask(
            "arerank", partial(self._request, question, texts)
        )
        if isinstance(answer, RequestFault):
            raise exception_of(answer, self._access, requests)
        return scores(getattr(answer, "results", None), len(texts))

    def _request(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        self._service.provider()
        return self._access.request() | {
            "query": question[:CHARS_READ],
            "documents": [text[:CHARS_READ] for text in texts],
            "top_n": len(texts),
            "return_documents": False,
        }


class HttpReranker:
    """A `Reranker` at an HTTP endpoint; safe to share between threads and event loops.

    It sends the request of Cohere's and Jina's endpoints, which vLLM, Infinity and llama.cpp have,
    too. A service that refuses it gets the one of Text Embeddings Inference.
    """

    def __init__(self, access: ModelAccess, mode: IOMode) -> None:
        self._access, self._service = access, ModelService(access, mode)
        self._forms: tuple[_Form, ...] = (_cohere, _tei)

    @property
    def name(self) -> str:
        """Scheme, host and port of the endpoint."""
        return self._access.host

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text; see `ports.Reranker.rerank`."""
        cut = [text[:CHARS_READ] for text in texts]
        answer = await self._service.once(partial(self._post, question[:CHARS_READ], cut))
        if isinstance(answer, RequestFault):
            raise exception_of(answer, self._access, 1)
        items = answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
        return scores(items, len(texts))

    async def _post(self, question: str, texts: Sequence[str], session: ClientSession) -> object:
        fault = StatusError(0, "")
        for form in self._forms:
            status, body = await post_json(session, self._access, form(question, texts))
            if status < _FIRST_ERROR:
                self._forms = (form,)
                return json.loads(body)
            fault = StatusError(status, body.decode(errors="replace"))
            if status not in _UNSUITABLE:
                break
        raise fault


def _cohere(question: str, texts: Sequence[str]) -> dict[str, object]:
    return {"query": question, "documents": texts, "top_n": len(texts)}


def _tei(question: str, texts: Sequence[str]) -> dict[str, object]:
    return {"query": question, "texts": texts, "truncate": True}


def scores(items: object, count: int) -> list[float]:
    """Return the scores of a reply, in the order of the texts.

    `items` is a list of maps with `index` and `relevance_score` or `score`, one for each text.
    """
    if not isinstance(items, list):
        raise ModelReplyError("The reply of the reranking service has no list of results.")
    placed = dict(_index_and_score(item, count) for item in items)
    if len(placed) != len(items):
        raise ModelReplyError("The reranking service returned two scores for one text.")
    if len(placed) != count:
        raise ModelReplyError(
            f"The reranking service returned {len(placed)} scores for {count} texts.",
            hint="Lower GRAPHMEM_RERANKER_MAX_CANDIDATES if it accepts fewer texts.",
        )
    return [placed[index] for index in range(count)]


def _index_and_score(item: Any, count: int) -> tuple[int, float]:
    try:
        index = item["index"]
        score = item["relevance_score"] if "relevance_score" in item else item["score"]
    except (KeyError, TypeError, IndexError):
        raise ModelReplyError(
            "The reranking service returned a result without index or score."
        ) from None
    if type(index) is not int or not 0 <= index < count:
        raise ModelReplyError(f"The reranking service numbered a result outside 0 to {count - 1}.")
    if type(score) not in (int, float) or not abs(score) <= sys.float_info.max:
        raise ModelReplyError("The reranking service returned a score that is not finite.")
    return index, float(score)
