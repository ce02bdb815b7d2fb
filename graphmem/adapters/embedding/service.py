"""Embedding services behind litellm."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import SecretStr

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

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """

    slow = True

    def __init__(self, settings: Settings, face: Face) -> None:
        self.name = settings.embedder
        self.dimension = settings.embedder_dimension
        # One name may stand for two models at two addresses.
        self.identity = digest(self.name, settings.embedder_url or "", str(self.dimension))
        self._settings, self._face = settings, face
        self._where = _where(settings.embedder_url)
        self._key = _key(settings.embedder_key)

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Any]:
        """Return one row per text, asking again after passing faults."""
        requests = 0
        while True:
            answer = await self._face.run(partial(self._ask, texts, role))
            if not isinstance(answer, Fault):
                return in_order(answer, len(texts))
            requests += 1
            if requests > self._settings.embedder_retries or not worth_another(answer):
                # Raised here and not where litellm's exception was caught: as the context of
                # this error that one would carry its request, with the key, to whoever logs it.
                raise error_of(answer, model=self.name, where=self._where, requests=requests)
            jitter = random.random()  # noqa: S311 - spreads clients, keeps no secret
            await self._face.sleep(pause_s(requests - 1, answer.wait_s, jitter))

    def _ask(self, texts: Sequence[str], role: Role) -> object:
        """Return litellm's response, or the `Fault` that came instead."""
        litellm = _litellm()
        request = self._request(texts, role)
        try:
            return _off_main_thread(partial(litellm.embedding, **request))
        except Exception as error:  # noqa: BLE001 - every kind becomes a Fault, none is lost
            return fault_of(error, secrets=self._secrets)

    def _request(self, texts: Sequence[str], role: Role) -> dict[str, Any]:
        dimension = self._settings.embedder_dimension
        request: dict[str, Any] = {
            "model": self.name,
            "input": list(texts),
            "api_base": self._settings.embedder_url,
            "api_key": self._key.get_secret_value() if self._key else None,
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
    def _secrets(self) -> frozenset[str]:
        """What must not be shown: our key and those litellm finds in the environment."""
        found = {value for name, value in os.environ.items() if name.endswith("_API_KEY")}
        if self._key:
            found.add(self._key.get_secret_value())
        if url := self._settings.embedder_url:
            found |= {url, urlsplit(url).password or "", urlsplit(url).query}
        return frozenset(found - {""})


def _where(url: str | None) -> str:
    """Return the service in words, without what may be secret in its address."""
    if url is None:
        return "the embedding service"
    if not _usable(url):
        raise ConfigurationError(
            "GRAPHMEM_EMBEDDER_URL is no http address.",
            hint="It looks like https://host/v1 or http://127.0.0.1:8000/v1.",
        )
    parts = urlsplit(url)
    return f"the embedding service at {parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _key(key: SecretStr | None) -> SecretStr | None:
    """Return the key as a header can carry it: what cannot be sent is shown in errors instead."""
    if key is None:
        return None
    bare = key.get_secret_value().strip()
    if not bare.isascii() or not bare.isprintable() or " " in bare:
        raise ConfigurationError(
            "GRAPHMEM_EMBEDDER_KEY has characters that no key has.",
            hint="Copy it again, without line breaks.",
        )
    return SecretStr(bare)


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
