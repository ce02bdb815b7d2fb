"""What went wrong with a model's service, and whether to ask it again."""

from __future__ import annotations

import asyncio
import atexit
import json
import math
import os
import random
import threading
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pydantic import ValidationError

from graphmem.errors import (
    ConfigurationError,
    GraphmemError,
    ModelReplyError,
    ModelUnavailableError,
)

if TYPE_CHECKING:
    from concurrent.futures import Future

    from aiohttp import BaseConnector, ClientSession

    from graphmem.adapters.models.access import IOMode, ModelAccess


DETAIL_CHARS = 300
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
LONGEST_WAIT_S = 60.0
"""A service that asks for more patience than this is reported instead."""

_UNREADABLE = {
    json.JSONDecodeError: "it is no JSON",
    UnicodeDecodeError: "it is no UTF-8",
    ValidationError: "its JSON has another shape",
    Warning: "its JSON has another shape",
}
"""Under litellm's error 500 these mean that the reply made no sense. Pydantic only warns of a
wrong type, which is an error where warnings are errors. What they say may quote the reply."""


class FaultKind(Enum):
    """What to do about a fault."""

    PASSING = "ask again"
    KEY = "mend the key"
    MODEL = "name another model"
    REPLY = "distrust the service"
    REQUEST = "send something else"


@dataclass(frozen=True, slots=True)
class RequestFault:
    """One failed request."""

    kind: FaultKind
    detail: str
    """What the service or the network said: one line, secrets struck out; no reply of a model."""
    wait_s: float | None = None
    """How long the service asks to wait, seconds."""


def fault_of(error: Exception, *, secrets: frozenset[str]) -> RequestFault:
    """Return what a litellm exception means; litellm puts nearly everything under error 500."""
    links = list(_chain(error))
    for link in links:
        if isinstance(link, UnreadReplyError):
            return RequestFault(FaultKind.REPLY, str(link))
        for unreadable, reason in _UNREADABLE.items():
            if isinstance(link, unreadable):
                return RequestFault(FaultKind.REPLY, reason)
    detail = _detail(error, secrets)
    if "missing credentials" in detail.casefold():
        return RequestFault(FaultKind.KEY, "no key was given")
    kind = _kind(int(getattr(error, "status_code", None) or 0))
    if kind is FaultKind.PASSING and "response_format" in str(error):
        # llama-cpp-python's server has read the request and refuses this part of it, by a 500.
        kind = FaultKind.REQUEST
    if kind is FaultKind.KEY:
        # Services repeat the refused key in their answer, half masked at best.
        return RequestFault(kind, "the key was refused")
    return RequestFault(kind, detail, _wait_s(links))


def _kind(status: int) -> FaultKind:
    if status in {401, 403}:
        return FaultKind.KEY
    if status == 404:
        return FaultKind.MODEL
    if status in {408, 429} or status >= 500:
        return FaultKind.PASSING
    return FaultKind.REQUEST


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _detail(error: Exception, secrets: frozenset[str]) -> str:
    text = " ".join(str(error).split())
    for secret in secrets:
        text = text.replace(secret, "***")
    return text[:DETAIL_CHARS]


def _wait_s(links: list[BaseException]) -> float | None:
    for link in links:
        for holder in (link, getattr(link, "response", None)):
            headers: Any = getattr(holder, "headers", None) or {}
            if wished := headers.get("retry-after"):
                return _seconds(wished)
    return None


def _seconds(retry_after: str) -> float | None:
    """Read a Retry-After header: seconds or an HTTP date (RFC 9110, 10.2.3)."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except ValueError:
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def pause_s(attempt: int, wait_s: float | None, jitter: float) -> float:
    """Return how long to wait before asking again, seconds.

    Args:
        attempt: how many times it was asked again before, from 0.
        wait_s: what the service asks for, if it does; never waited less than that.
        jitter: in [0, 1), so that many clients do not return at once.
    """
    growing = min(FIRST_PAUSE_S * 2.0**attempt, LONGEST_PAUSE_S) * (0.5 + jitter / 2)
    return growing if wait_s is None else wait_s + jitter * FIRST_PAUSE_S


def worth_another(fault: RequestFault) -> bool:
    """Tell whether the same request may succeed in a while."""
    return fault.kind is FaultKind.PASSING and (fault.wait_s or 0.0) <= LONGEST_WAIT_S


def error_of(fault: RequestFault, access: ModelAccess, requests: int) -> GraphmemError:
    """Return the error a caller gets.

    Args:
        fault: what happened last.
        access: the service.
        requests: how many were made.
    """
    said = f"{access.where} for model {access.model!r}"
    match fault.kind:
        case FaultKind.KEY:
            return ModelUnavailableError(
                f"Refused by {said}: {fault.detail}.",
                hint=f"Set {access.setting}_KEY to a valid key, or to any word if the service asks "
                "for none.",
            )
        case FaultKind.MODEL:
            return ModelUnavailableError(
                f"No such model or address at {said}: {fault.detail}",
                hint=f"Check {access.setting} and {access.setting}_URL.",
            )
        case FaultKind.REPLY:
            return ModelReplyError(f"Unreadable answer from {said}: {fault.detail}.")
        case FaultKind.REQUEST:
            return ModelReplyError(
                f"Request refused by {said}: {fault.detail}", hint=access.too_much
            )
        case FaultKind.PASSING:
            wait = "" if fault.wait_s is None else f" (it asks to wait {fault.wait_s:.0f} s)"
            return ModelUnavailableError(
                f"No answer from {said} after {requests} request(s){wait}: {fault.detail}",
                hint="Check that the service runs, or try again later.",
            )


T = TypeVar("T")

_CLOSE_S = 2.0

MAX_BYTES: ContextVar[int] = ContextVar("MAX_BYTES")
"""Length of the reply to the request of this task, at most."""


class UnreadReplyError(Exception):
    """A reply was not read to its end; says why."""


def too_long(limit: int) -> UnreadReplyError:
    """Return the error of a reply that is longer than it may be."""
    return UnreadReplyError(f"it is longer than {limit:,} bytes")


class EventLoopThread:
    """An event loop in a thread of its own, with the connections that its requests share."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._session: ClientSession | None = None
        self._inherited: BaseConnector | None = None

    def submit(self, work: Callable[[ClientSession], Coroutine[Any, Any, T]]) -> Future[T]:
        """Begin work on the loop. To cancel the future cancels the work.

        Args:
            work: takes the session whose replies are limited.
        """

        async def begun() -> T:
            if self._session is None:
                self._session = _session()
            return await work(self._session)

        return asyncio.run_coroutine_threadsafe(begun(), self._running())

    def close(self) -> None:
        """Cancel what is on its way, close the connections and end the thread."""
        with self._starting:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(self._end(), loop)
            thread.join(_CLOSE_S)

    def abandon(self) -> None:
        """Forget the loop of the parent process, whose thread a fork has no copy of."""
        if self._session is not None:
            # Kept as they are: to close them here would end them for the parent.
            self._inherited = self._session.connector
            self._session.detach()
        self._starting = threading.Lock()
        self._loop = self._thread = self._session = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon: the interpreter does not wait for it, and `close` ends it.
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name="graphmem-models", daemon=True
                )
                self._thread.start()
            return self._loop

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
            self._session = None
        asyncio.get_running_loop().stop()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


WIRE = EventLoopThread()
atexit.register(WIRE.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WIRE.abandon)


def _session() -> ClientSession:
    """Return a session for litellm, which brings certificates, proxies and time limits itself."""
    import aiohttp

    class Limited(aiohttp.ClientResponse):
        """A response whose body is read up to `MAX_BYTES`."""

        async def start(self, connection: Any) -> aiohttp.ClientResponse:
            await super().start(connection)
            limit = MAX_BYTES.get()
            if self.headers.get("Content-Encoding", "identity") != "identity":
                # A few compressed octets may stand for any number of others.
                self.close()
                raise UnreadReplyError("it is compressed, although the request refuses that")
            if (self.content_length or 0) > limit:
                self.close()
                raise too_long(limit)
            self.content = _LimitedBody(self.content, limit)  # type: ignore[assignment]
            return self

    async def uncompressed(_: object, __: object, params: aiohttp.TraceRequestStartParams) -> None:
        params.headers["Accept-Encoding"] = "identity"

    asking = aiohttp.TraceConfig()
    asking.on_request_start.append(uncompressed)
    return aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(), response_class=Limited, trace_configs=[asking]
    )


class _LimitedBody:
    """A body that ends in an error when it is longer than it may be."""

    def __init__(self, body: Any, limit: int) -> None:
        self._body, self._limit = body, limit

    async def iter_chunked(self, size: int) -> AsyncIterator[bytes]:
        left = self._limit
        async for chunk in self._body.iter_chunked(size):
            left -= len(chunk)
            if left < 0:
                raise too_long(self._limit)
            yield chunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)


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
            return RequestFault(
                FaultKind.PASSING, f"no whole reply within {self._access.timeout_s:g} s"
            )
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


def counter(model: str) -> Callable[[str], int]:
    """Return what counts the tokens of a text for a model, by the tokenizer litellm knows for it.

    Of a model it does not know, those of OpenAI's cl100k.
    """
    litellm = imported()
    return lambda text: int(litellm.token_counter(model=model, text=text))
