"""The reply of a model in parts, which is stored at its end."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Self

from graphmem.errors import InvalidInputError
from graphmem.model import ChatReply, Context, TurnsReceipt
from graphmem.ports import run_now

_END = object()
"""Marks the end of the parts."""


class ReplyStream:
    """The reply of a model in parts, to iterate over once; it is stored at its end.

    With the async client use `async for`. If you stop early, call `close` or `aclose`, or leave a
    `with` or `async with` block of it: what you took is stored as the reply. If the model raises,
    nothing of the reply is stored, as if `complete` had raised.
    """

    def __init__(
        self,
        parts: Iterator[Any] | AsyncIterator[Any],
        shown: Context,
        finish: Callable[[str], Coroutine[Any, Any, ChatReply]],
    ) -> None:
        self.context = shown
        """The block that the model was shown."""
        self._parts = parts
        self._finish = finish
        self._taken: list[str] = []
        self._ended = False
        self._result: ChatReply | None = None

    @property
    def text(self) -> str:
        """The reply as far as it was taken."""
        return "".join(self._taken)

    @property
    def reply(self) -> str:
        """The same, as `ChatReply` has it."""
        return self.text

    @property
    def receipt(self) -> TurnsReceipt:
        """The turns of the messages and of the reply.

        Raises:
            InvalidInputError: the stream has not ended, or nothing of it was taken.
        """
        if self._result is None:
            raise InvalidInputError(
                "The reply is not stored.", hint="Iterate to its end, or close the stream."
            )
        return self._result.receipt

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        if isinstance(self._parts, AsyncIterator):
            raise TypeError("the parts come asynchronously: use `async for`")
        try:
            return run_now(self.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        """Stop the model's stream and store what was taken of the reply, once."""
        run_now(self.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        if self._ended:
            raise StopAsyncIteration
        try:
            part = (
                await anext(self._parts, _END)
                if isinstance(self._parts, AsyncIterator)
                else next(self._parts, _END)
            )
        except BaseException:
            self._ended = True
            raise
        if part is _END:
            await self.aclose()
            raise StopAsyncIteration
        return self._take(part)

    async def aclose(self) -> None:
        """Stop the model's stream and store what was taken of the reply, once."""
        if self._ended:
            return
        self._ended = True
        names = ("aclose", "close") if isinstance(self._parts, AsyncIterator) else ("close",)
        stop = next(filter(None, (getattr(self._parts, name, None) for name in names)), None)
        if stop is not None and inspect.isawaitable(stopped := stop()):
            await stopped
        if self.text:
            self._result = await self._finish(self.text)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _take(self, part: object) -> str:
        if not isinstance(part, str):
            self._ended = True
            raise InvalidInputError(
                "complete: each part of a reply must be a text.",
                hint="Yield the text of each event of your provider.",
            )
        self._taken.append(part)
        return part
