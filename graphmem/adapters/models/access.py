"""The two ways to wait: in the caller's thread, or suspended while another thread works."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

from pydantic import SecretStr

from graphmem.errors import ConfigurationError

if TYPE_CHECKING:
    from concurrent.futures import Future


T = TypeVar("T")


class IOMode(Protocol):
    """How a model waits; everything else about it is written once."""

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns."""
        ...

    async def result(self, future: Future[T]) -> T:
        """Return what another thread makes; cancel it there when this is cancelled."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...


class BlockingMode:
    """Waits in the caller's thread: its coroutines never suspend."""

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work here and now."""
        return work()

    async def result(self, future: Future[T]) -> T:
        """Hold the thread until it is there."""
        try:
            return future.result()
        finally:
            future.cancel()  # Ctrl-C ends the wait, not the work.

    async def sleep(self, seconds: float) -> None:
        """Hold the thread."""
        time.sleep(seconds)


class AsyncMode:
    """Suspends while a thread of the running loop works."""

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work in another thread."""
        return await asyncio.to_thread(work)

    async def result(self, future: Future[T]) -> T:
        """Let the loop go on until it is there."""
        return await asyncio.wrap_future(future)

    async def sleep(self, seconds: float) -> None:
        """Let the loop go on."""
        await asyncio.sleep(seconds)


BLOCKING: IOMode = BlockingMode()
AWAITED: IOMode = AsyncMode()


class _NoRetries(int):
    """Zero, but true: litellm takes a false `max_retries` for its own default of two.

    Retries are made here, where a setting bounds them and waiting suits both faces.
    """

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class ModelAccess:
    """One model behind litellm.

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """

    noun: str
    """What it is, as in `the embedding service`."""
    setting: str
    """The variable that names the model; those of its address and key begin with it."""
    example: str
    """What that variable may be set to."""
    too_much: str
    """The hint when the service refuses a request."""
    model: str
    url: str | None = field(repr=False)
    key: SecretStr | None
    timeout_s: float
    """For one request as a whole, from connecting to the last octet of the reply."""
    max_bytes: int
    """Length of a reply at most; the rest of a longer one is not read."""
    retries: int

    def __post_init__(self) -> None:
        if self.url is not None and not _usable(self.url):
            raise ConfigurationError(
                f"{self.setting}_URL is no http address.",
                hint="It looks like https://host/v1 or http://127.0.0.1:8000/v1.",
            )
        bare = self._bare_key() or ""
        # What cannot be sent in a header is shown in errors instead.
        if not bare.isascii() or not bare.isprintable() or " " in bare:
            raise ConfigurationError(
                f"{self.setting}_KEY has characters that no key has.",
                hint="Copy it again, without line breaks.",
            )

    @property
    def where(self) -> str:
        """The service in words, without what may be secret in its address."""
        if self.url is None:
            return f"the {self.noun}"
        parts = urlsplit(self.url)
        return f"the {self.noun} at {parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def secrets(self) -> frozenset[str]:
        """What must not be shown: our key and those litellm finds in the environment."""
        found = {value for name, value in os.environ.items() if name.endswith("_API_KEY")}
        found.add(self._bare_key() or "")
        if self.url:
            found |= {self.url, urlsplit(self.url).password or "", urlsplit(self.url).query}
        return frozenset(found - {""})

    def request(self) -> dict[str, Any]:
        """Return the arguments that every call of litellm needs."""
        return {
            "model": self.model,
            "api_base": self.url,
            "api_key": self._bare_key(),
            "timeout": self.timeout_s,
            "max_retries": _NoRetries(0),
        }

    def _bare_key(self) -> str | None:
        return self.key.get_secret_value().strip() if self.key else None


def _usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
