"""A model behind litellm: asked in the caller's way of waiting, again after passing faults."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import warnings
from collections.abc import Awaitable, Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from graphmem.adapters.models.faults import (
    FaultKind,
    RequestFault,
    fault_of,
    pause_s,
    worth_another,
)
from graphmem.adapters.models.wire import MAX_BYTES, WIRE
from graphmem.errors import ConfigurationError

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from graphmem.adapters.models.access import ModelAccess
    from graphmem.adapters.models.faces import IOMode

_Call: TypeAlias = "Callable[[ClientSession], Awaitable[Any]]"

_SESSION_TAKERS = frozenset({"openai", "together_ai", "nvidia_nim", "litellm_proxy"})
"""Providers of embeddings to which litellm hands a session on: for others it becomes a part of
their request, so they have the deadline alone."""

_IMPORTING = threading.Lock()


class ModelService:
    """One model behind litellm.

    Its requests run on the loop of `wire`: each has a deadline and a limit for its reply.
    """

    def __init__(self, access: ModelAccess, face: IOMode) -> None:
        self._access, self._face = access, face

    async def ask(self, function: str, request: Callable[[], dict[str, Any]]) -> tuple[Any, int]:
        """Return litellm's response, or the last `RequestFault`, and how many requests were made.

        A fault is returned and not raised where litellm's exception was caught: as the context
        of the caller's error that one would carry its request, with the key, to whoever logs it.

        It takes at most `timeout_s` for each of `retries` + 1 requests, and the pauses between.

        Args:
            function: litellm's awaited one, for example `aembedding`.
            request: makes its arguments, where a slow import holds nobody up.

        Raises:
            ConfigurationError: litellm does not know whose model it is.
        """
        requests = 0
        while True:
            call = await self._face.run(partial(self._call, function, request))
            answer = await self._face.result(WIRE.submit(partial(self._once, call)))
            requests += 1
            if not isinstance(answer, RequestFault):
                return answer, requests
            if requests > self._access.retries or not worth_another(answer):
                return answer, requests
            jitter = random.random()  # noqa: S311 - spreads clients, keeps no secret
            await self._face.sleep(pause_s(requests - 1, answer.wait_s, jitter))

    def provider(self) -> str:
        """Return litellm's name for who serves the model.

        Raises:
            ConfigurationError: litellm does not know it.
        """
        litellm = imported()
        try:
            _, provider, _, _ = litellm.get_llm_provider(
                model=self._access.model, api_base=self._access.url
            )
        except litellm.BadRequestError:
            raise ConfigurationError(
                f"litellm does not know whose model {self._access.model!r} is.",
                hint=f"Set {self._access.setting} to service/model, for example "
                f"{self._access.example}.",
            ) from None
        return str(provider)

    def _call(self, function: str, request: Callable[[], dict[str, Any]]) -> _Call:
        call, arguments = getattr(imported(), function), request()
        if function == "acompletion" or self.provider() in _SESSION_TAKERS:
            return lambda session: call(**arguments, shared_session=session)
        return lambda _: call(**arguments)

    async def _once(self, call: _Call, session: ClientSession) -> object:
        MAX_BYTES.set(self._access.max_bytes)
        try:
            async with asyncio.timeout(self._access.timeout_s):
                return await call(session)
        except TimeoutError:
            return RequestFault(FaultKind.PASSING, f"no whole reply within {self._access.timeout_s:g} s")
        except Exception as error:  # noqa: BLE001 - every kind becomes a Fault, none is lost
            return fault_of(error, secrets=self._access.secrets)


_READ_ONLY = r"Item '\w+' on TypedDict class '\w+' is using the `ReadOnly` qualifier"


def imported() -> ModuleType:
    """Import litellm (2 s, so when used) without its download of price tables or its adverts."""
    with _IMPORTING:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm

        litellm.suppress_debug_info = True
        # pydantic warns of types of litellm while a reply is read; an error there loses the reply.
        warnings.filterwarnings("ignore", message=_READ_ONLY, category=UserWarning)
        module: ModuleType = litellm
    return module
