"""Embedding services behind litellm."""

from __future__ import annotations

import itertools
import os
import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from graphmem.adapters.embedding.faults import Fault, error_of, fault_of, pause_s, worth_another
from graphmem.adapters.embedding.replies import in_order
from graphmem.errors import ConfigurationError
from graphmem.ports import Role
from graphmem.rules.identity import digest

if TYPE_CHECKING:
    from graphmem.adapters.embedding.faces import Face
    from graphmem.settings import Settings

T = TypeVar("T")

_ROLE_WORDS = {
    "cohere": ("input_type", "search_document", "search_query"),
    "gemini": ("task_type", "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"),
    "nvidia_nim": ("input_type", "passage", "query"),
    "voyage": ("input_type", "document", "query"),
}
"""How litellm's providers are told which side of a search a text stands on; others are not told,
since a service may refuse a parameter it does not know."""

_IMPORTING = threading.Lock()


class _NoRetries(int):
    """Zero, but true: litellm takes a false `max_retries` for its own default of two.

    Retries are made here, where a setting bounds them and waiting suits both faces.
    """

    def __bool__(self) -> bool:
        return True


class ServiceEngine:
    """A litellm embedding model.

    The awaited face runs litellm's blocking call in a thread: its own awaited one keeps clients
    per event loop and leaves their sockets open when the loop ends.
    """

    slow = True

    def __init__(self, settings: Settings, face: Face) -> None:
        self.name = settings.embedder
        self.dimension = settings.embedder_dimension
        # One name may stand for two models at two addresses.
        self.identity = digest(self.name, settings.embedder_url or "", str(self.dimension))
        self._settings, self._face = settings, face

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Any]:
        """Return one row per text, asking again after passing faults."""
        for attempt in itertools.count():
            answer = await self._face.run(partial(self._ask, texts, role))
            if not isinstance(answer, Fault):
                return in_order(answer, len(texts))
            if attempt == self._settings.embedder_retries or not worth_another(answer):
                # Raised here and not where litellm's exception was caught: as the context of
                # this error that one would carry its request, with the key, to whoever logs it.
                raise error_of(answer, model=self.name, where=self._where, requests=attempt + 1)
            jitter = random.random()  # noqa: S311 - spreads clients, keeps no secret
            await self._face.sleep(pause_s(attempt, answer.wait_s, jitter))
        raise AssertionError  # pragma: no cover

    def _ask(self, texts: Sequence[str], role: Role) -> object:
        """Return litellm's response, or the `Fault` that came instead."""
        litellm = _litellm()
        request = self._request(texts, role)
        try:
            return _off_main_thread(partial(litellm.embedding, **request))
        except Exception as error:  # noqa: BLE001 - every kind becomes a Fault, none is lost
            return fault_of(error, secrets=self._secrets)

    def _request(self, texts: Sequence[str], role: Role) -> dict[str, Any]:
        key, dimension = self._settings.embedder_key, self._settings.embedder_dimension
        request: dict[str, Any] = {
            "model": self.name,
            "input": list(texts),
            "api_base": self._settings.embedder_url,
            "api_key": key.get_secret_value() if key else None,
            "timeout": self._settings.embedder_timeout_s,
            "max_retries": _NoRetries(0),
        }
        if dimension is not None:
            # litellm refuses `dimensions` for models it does not know, unless told to let it by.
            request |= {"dimensions": dimension, "allowed_openai_params": ["dimensions"]}
        if self._provider in _ROLE_WORDS:
            parameter, document, query = _ROLE_WORDS[self._provider]
            request[parameter] = query if role is Role.QUERY else document
        return request

    @cached_property
    def _provider(self) -> str:
        litellm = _litellm()
        try:
            _, provider, _, _ = litellm.get_llm_provider(
                model=self.name, api_base=self._settings.embedder_url
            )
        except litellm.BadRequestError:
            raise ConfigurationError(
                f"litellm does not know whose embedding model {self.name!r} is.",
                hint="Set GRAPHMEM_EMBEDDER to service/model, for example "
                "openai/text-embedding-3-small, or to `local`.",
            ) from None
        return str(provider)

    @property
    def _where(self) -> str:
        """The service without what may be secret in its address."""
        if self._settings.embedder_url is None:
            return "the embedding service"
        parts = urlsplit(self._settings.embedder_url)
        port = f":{parts.port}" if parts.port else ""
        return f"the embedding service at {parts.scheme}://{parts.hostname}{port}"

    @property
    def _secrets(self) -> frozenset[str]:
        """What must not be shown: our key and those litellm finds in the environment."""
        key, url = self._settings.embedder_key, self._settings.embedder_url
        found = {value for name, value in os.environ.items() if name.endswith("_API_KEY")}
        found |= {key.get_secret_value() if key else "", url or ""}
        return frozenset(found - {""})


def _litellm() -> ModuleType:
    """Import litellm (2 s, so when used) without its download of price tables or its adverts."""
    with _IMPORTING:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm

        litellm.suppress_debug_info = True
        module: ModuleType = litellm
    return module


def _off_main_thread(work: Callable[[], T]) -> T:
    """Do the work in another thread if this is the main one.

    litellm asks for the thread's event loop. In the main thread that makes one which nobody
    closes, or puts a task on a loop that this call is holding up.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result()
