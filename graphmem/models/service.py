"""Requests to model services through litellm: faults, retries, limits and the event loop."""

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

    from graphmem.io_modes import IOMode
    from graphmem.models.access import ModelAccess


DETAIL_CHARS = 300
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
LONGEST_WAIT_S = 60.0
"""Longest Retry-After to honour, seconds; a longer one is reported as an error."""

_UNREADABLE = {
    json.JSONDecodeError: "it is not valid JSON",
    UnicodeDecodeError: "it is not valid UTF-8",
    ValidationError: "its JSON has an unexpected structure",
    Warning: "its JSON has an unexpected structure",
}
"""Causes of litellm's error 500 that mean an unreadable reply. Pydantic only warns about a wrong
type; the warning is an exception where warnings are errors. Their messages may quote the reply."""

T = TypeVar("T")

_CLOSE_S = 2.0
_PART_BYTES = 65_536

MAX_BYTES: ContextVar[int] = ContextVar("MAX_BYTES")
"""Maximum length of the reply to the current task's request, bytes."""

Call: TypeAlias = "Callable[[ClientSession], Awaitable[Any]]"

_SESSION_TAKERS = frozenset({"openai", "together_ai", "nvidia_nim", "litellm_proxy"})
"""Embedding providers to which litellm forwards a session. For others litellm would add it to the
request, so their replies have a deadline but no size limit."""

_IMPORTING = threading.Lock()

_READ_ONLY = r"Item '\w+' on TypedDict class '\w+' is using the `ReadOnly` qualifier"


class FaultKind(Enum):
    """Kind of a fault; the value names the remedy."""

    PASSING = "retry"
    KEY = "correct the key"
    MODEL = "name another model"
    REPLY = "distrust the service"
    REQUEST = "change the request"


@dataclass(frozen=True, slots=True)
class RequestFault:
    """One failed request."""

    kind: FaultKind
    detail: str
    """Message of the service or the network: one line, secrets masked; never a model's reply."""
    wait_s: float | None = None
    """Seconds that the service asks to wait; None if it does not ask."""


def classify_fault(error: Exception, *, secrets: frozenset[str]) -> RequestFault:
    """Classify a litellm exception; litellm reports nearly everything as error 500."""
    links = list(_causes(error))
    for link in links:
        if isinstance(link, UnreadReplyError):
            return RequestFault(FaultKind.REPLY, str(link))
        for unreadable, reason in _UNREADABLE.items():
            if isinstance(link, unreadable):
                return RequestFault(FaultKind.REPLY, reason)
    detail = _detail(error, secrets)
    if "missing credentials" in detail.casefold():
        return RequestFault(FaultKind.KEY, "the key is missing")
    kind = _kind(int(getattr(error, "status_code", None) or 0))
    if kind is FaultKind.PASSING and "response_format" in str(error):
        # llama-cpp-python's server rejects this part of a request with a 500.
        kind = FaultKind.REQUEST
    if kind is FaultKind.KEY:
        # Services repeat the rejected key in their response, half masked at best.
        return RequestFault(kind, "the key was rejected")
    return RequestFault(kind, detail, _wait_s(links))


def _kind(status: int) -> FaultKind:
    if status in {401, 403}:
        return FaultKind.KEY
    if status == 404:
        return FaultKind.MODEL
    if status in {408, 429} or status >= 500:
        return FaultKind.PASSING
    return FaultKind.REQUEST


def _causes(error: BaseException | None) -> Iterator[BaseException]:
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
            if retry_after := headers.get("retry-after"):
                return _seconds(retry_after)
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
    """Return the pause before the next retry, seconds.

    Args:
        attempt: number of earlier retries, from 0.
        wait_s: pause that the service asks for; the result is never shorter. None if it does not.
        jitter: number in [0, 1) that spreads the retries of many clients.
    """
    backoff = min(FIRST_PAUSE_S * 2.0**attempt, LONGEST_PAUSE_S) * (0.5 + jitter / 2)
    return backoff if wait_s is None else wait_s + jitter * FIRST_PAUSE_S


def is_retryable(fault: RequestFault) -> bool:
    """Return whether a retry of the same request may succeed."""
    return fault.kind is FaultKind.PASSING and (fault.wait_s or 0.0) <= LONGEST_WAIT_S


def exception_of(fault: RequestFault, access: ModelAccess, requests: int) -> GraphmemError:
    """Return the exception to raise for the fault of the last of this many requests."""
    named = f" for model {access.model!r}" if access.model else ""
    service = f"{access.description}{named}"
    match fault.kind:
        case FaultKind.KEY:
            return ModelUnavailableError(
                f"Access denied by {service}: {fault.detail}.",
                hint=f"Set {access.setting}_KEY to a valid key, or to any word if the service "
                "needs none.",
            )
        case FaultKind.MODEL:
            return ModelUnavailableError(
                f"No such model or address at {service}: {fault.detail}",
                hint=f"Check {' and '.join(access.settings)}.",
            )
        case FaultKind.REPLY:
            return ModelReplyError(f"Unreadable response from {service}: {fault.detail}.")
        case FaultKind.REQUEST:
            return ModelReplyError(
                f"Request rejected by {service}: {fault.detail}", hint=access.too_large_hint
            )
        case FaultKind.PASSING:
            wait = "" if fault.wait_s is None else f" (it asks to wait {fault.wait_s:.0f} s)"
            return ModelUnavailableError(
                f"No response from {service} after {requests} request(s){wait}: {fault.detail}",
                hint="Check that the service is running, or try again later.",
            )


class UnreadReplyError(Exception):
    """A reply was not read to its end; the message is the reason."""


def too_long(limit: int) -> UnreadReplyError:
    """Return the exception for a reply that is longer than `limit` bytes."""
    return UnreadReplyError(f"it is longer than {limit:,} bytes")


class EventLoopThread:
    """An event loop in its own thread, with the connections that its requests share."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._session: ClientSession | None = None
        self._inherited: BaseConnector | None = None

    def submit(self, work: Callable[[ClientSession], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start work on the loop with the shared session. Cancelling the future cancels it."""

        async def run_with_session() -> T:
            if self._session is None:
                self._session = _session()
            return await work(self._session)

        return asyncio.run_coroutine_threadsafe(run_with_session(), self._running())

    def close(self) -> None:
        """Cancel pending work, close the connections and end the thread."""
        with self._starting:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(self._end(), loop)
            thread.join(_CLOSE_S)

    def abandon(self) -> None:
        """Drop the parent process's loop after a fork; its thread does not exist in the child."""
        if self._session is not None:
            # Kept open: closing the connections here would close them for the parent.
            self._inherited = self._session.connector
            self._session.detach()
        self._starting = threading.Lock()
        self._loop = self._thread = self._session = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon thread, so the interpreter does not wait for it; `close` ends it.
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


class StatusError(Exception):
    """An HTTP reply with an error status, or none because of the network, which counts as 503."""

    def __init__(self, status_code: int, detail: str) -> None:
        super().__init__(detail)
        self.status_code = status_code


async def post_json(
    session: ClientSession, access: ModelAccess, request: object
) -> tuple[int, bytes]:
    """Return status and body of the reply to a request that litellm does not make.

    Raises:
        UnreadReplyError: the body is longer than the access permits.
        StatusError: the connection failed.
    """
    import aiohttp

    try:
        # A redirect would send the texts to another address.
        async with session.post(
            access.url or "", json=request, headers=access.authorization, allow_redirects=False
        ) as response:
            parts = [part async for part in response.content.iter_chunked(_PART_BYTES)]
            return response.status, b"".join(parts)
    except (aiohttp.ClientError, OSError) as error:
        # Messages of aiohttp quote the address, which may contain a password.
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise StatusError(503, reason) from None


EVENT_LOOP = EventLoopThread()
atexit.register(EVENT_LOOP.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=EVENT_LOOP.abandon)


def _session() -> ClientSession:
    """Return a session for litellm, which sets certificates, proxies and timeouts itself."""
    import aiohttp

    class LimitedResponse(aiohttp.ClientResponse):
        """A response whose body is read up to `MAX_BYTES`."""

        async def start(self, connection: Any) -> aiohttp.ClientResponse:
            await super().start(connection)
            limit = MAX_BYTES.get()
            if self.headers.get("Content-Encoding", "identity") != "identity":
                # A few compressed bytes may expand to any number of bytes.
                self.close()
                raise UnreadReplyError("it is compressed, although the request forbids that")
            if (self.content_length or 0) > limit:
                self.close()
                raise too_long(limit)
            self.content = _LimitedBody(self.content, limit)  # type: ignore[assignment]
            return self

    async def uncompressed(_: object, __: object, params: aiohttp.TraceRequestStartParams) -> None:
        params.headers["Accept-Encoding"] = "identity"

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(uncompressed)
    return aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(), response_class=LimitedResponse, trace_configs=[trace]
    )


class _LimitedBody:
    """A response body that raises `UnreadReplyError` beyond its limit."""

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


class ModelService:
    """One model behind litellm.

    Its requests run on the loop of `EVENT_LOOP`; each has a deadline and a limit on its reply.
    """

    def __init__(self, access: ModelAccess, mode: IOMode) -> None:
        self._access, self._mode = access, mode

    async def ask(self, function: str, request: Callable[[], dict[str, Any]]) -> tuple[Any, int]:
        """Return litellm's response, or the last `RequestFault`, and the number of requests made.

        A fault is returned, not raised. A raised exception would have litellm's exception as its
        context, and with it the request and the key, which logging would expose.

        A call takes at most `timeout_s` for each of `retries` + 1 requests, plus the pauses.

        Args:
            function: name of litellm's async function, for example `aembedding`.
            request: builds its arguments where a slow import does not block the caller.

        Raises:
            ConfigurationError: litellm does not know whose model it is.
        """
        requests = 0
        while True:
            call = await self._mode.run(partial(self._call, function, request))
            answer = await self.once(call)
            requests += 1
            if not isinstance(answer, RequestFault):
                return answer, requests
            if requests > self._access.retries or not is_retryable(answer):
                return answer, requests
            jitter = random.random()  # noqa: S311 - spreads retries, protects no secret
            await self._mode.sleep(pause_s(requests - 1, answer.wait_s, jitter))

    async def once(self, call: Call) -> object:
        """Return the result of one request, or its `RequestFault`; see `ask`."""
        return await self._mode.result(EVENT_LOOP.submit(partial(self._once, call)))

    def provider(self) -> str:
        """Return litellm's name of the provider that serves the model.

        Raises:
            ConfigurationError: litellm does not know it.
        """
        litellm = import_litellm()
        try:
            _, provider, _, _ = litellm.get_llm_provider(
                model=self._access.model, api_base=self._access.url
            )
        except litellm.BadRequestError:
            raise ConfigurationError(
                f"litellm does not know the provider of model {self._access.model!r}.",
                hint=f"Set {self._access.setting} to provider/model, for example "
                f"{self._access.example}.",
            ) from None
        return str(provider)

    def _call(self, function: str, request: Callable[[], dict[str, Any]]) -> Call:
        call, arguments = getattr(import_litellm(), function), request()
        if function == "arerank":
            return lambda session: call(**arguments, client=_limited_client(session))
        if function == "acompletion" or self.provider() in _SESSION_TAKERS:
            return lambda session: call(**arguments, shared_session=session)
        return lambda _: call(**arguments)

    async def _once(self, call: Call, session: ClientSession) -> object:
        MAX_BYTES.set(self._access.max_bytes)
        try:
            async with asyncio.timeout(self._access.timeout_s):
                return await call(session)
        except TimeoutError:
            return RequestFault(
                FaultKind.PASSING, f"no complete reply within {self._access.timeout_s:g} s"
            )
        except Exception as error:  # noqa: BLE001 - every exception becomes a RequestFault
            return classify_fault(error, secrets=self._access.secrets)


def import_litellm() -> ModuleType:
    """Import litellm on first use (2 s), without its downloads and its adverts.

    Otherwise it fetches a table of prices at the import, and tokenizers to count tokens.
    """
    with _IMPORTING:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm

        litellm.disable_hf_tokenizer_download = True
        litellm.suppress_debug_info = True
        # pydantic warns about litellm's types while reading a reply; an error would lose the reply.
        warnings.filterwarnings("ignore", message=_READ_ONLY, category=UserWarning)
        module: ModuleType = litellm
    return module


def _limited_client(session: ClientSession) -> object:
    """Return litellm's HTTP client over a session, for functions that take no session."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    return AsyncHTTPHandler(shared_session=session)


def token_counter(model: str) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text with litellm's tokenizer for a model.

    For a model that litellm does not know, the tokenizer is OpenAI's cl100k.
    """
    litellm = import_litellm()
    return lambda text: int(litellm.token_counter(model=model, text=text))
