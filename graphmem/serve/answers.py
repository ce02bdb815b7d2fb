"""Answers on their way to a client: headers, parts, and the memory that they hold meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from graphmem.serve.admission import busy

MAX_ANSWERS = 64 * 1024 * 1024
"""Maximum size of all answers that a process is sending, in bytes."""
PART = 64 * 1024
"""Size of the parts in which an answer is sent: its client must read one before the next."""


@dataclass
class Held:
    """Number of bytes of the answers that a process is sending."""

    size: int = 0


class Answer:
    """An answer that is sent to a client, or refused if the process holds too many."""

    def __init__(
        self,
        held: Held,
        request: tuple[Scope, Receive, Send],
        headers: Callable[[], Iterator[tuple[bytes, bytes]]],
        on_start: Callable[[], None],
    ) -> None:
        """Create the answer to a request.

        Args:
            held: bytes that the process holds.
            request: what the application was called with.
            headers: returns more headers of the answer.
            on_start: called when the rest depends on the client alone.
        """
        self.status = 0
        self._held = held
        self._request = request
        self._headers = headers
        self._on_start = on_start
        self._size = 0
        self._fits = True

    async def __call__(self, message: Message) -> None:
        """Send a message of the application."""
        if message["type"] == "http.response.start":
            self._on_start()
            self._size = int(Headers(raw=message.get("headers", [])).get("content-length", 0))
            self._held.size += self._size
            self._fits = self._held.size <= MAX_ANSWERS
            if not self._fits:
                scope, receive, _ = self._request
                await busy().response()(scope, receive, self._pass_on)
        if self._fits:
            await self._pass_on(message)

    def end(self) -> None:
        """Release what the answer holds."""
        self._held.size -= self._size

    async def _pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *self._headers()]
        for part in _parts(message):
            await self._request[2](part)


def _parts(message: Message) -> Iterator[Message]:
    body = message.get("body", b"")
    if len(body) <= PART:
        yield message
        return
    for at in range(0, len(body), PART):
        more = at + PART < len(body) or message.get("more_body", False)
        yield {"type": message["type"], "body": body[at : at + PART], "more_body": more}
