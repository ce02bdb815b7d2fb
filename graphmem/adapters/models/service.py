"""A model behind litellm: asked in the caller's way of waiting, again after passing faults."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from graphmem.adapters.models.faults import Fault, fault_of, pause_s, worth_another
from graphmem.errors import ConfigurationError

if TYPE_CHECKING:
    from graphmem.adapters.models.access import Access
    from graphmem.adapters.models.faces import Face

T = TypeVar("T")

_IMPORTING = threading.Lock()


class Service:
    """One model behind litellm.

    The awaited face runs litellm's blocking calls in a thread: its own awaited ones keep clients
    per event loop and leave their sockets open when the loop ends.
    """

    def __init__(self, access: Access, face: Face) -> None:
        self._access, self._face = access, face

    async def ask(self, function: str, request: Callable[[], dict[str, Any]]) -> tuple[Any, int]:
        """Return litellm's response, or the last `Fault`, and how many requests were made.

        A fault is returned and not raised where litellm's exception was caught: as the context
        of the caller's error that one would carry its request, with the key, to whoever logs it.

        Args:
            function: litellm's, for example `embedding`.
            request: makes its arguments, where a slow import holds nobody up.

        Raises:
            ConfigurationError: litellm does not know whose model it is.
        """
        requests = 0
        while True:
            answer = await self._face.run(partial(self._once, function, request))
            requests += 1
            if not isinstance(answer, Fault):
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

    def _once(self, function: str, request: Callable[[], dict[str, Any]]) -> object:
        call, arguments = getattr(imported(), function), request()
        try:
            return _off_main_thread(partial(call, **arguments))
        except Exception as error:  # noqa: BLE001 - every kind becomes a Fault, none is lost
            return fault_of(error, secrets=self._access.secrets)


def imported() -> ModuleType:
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
