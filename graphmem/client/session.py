"""A session: a stretch of conversation that everything written inside it is attached to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from graphmem.client.handle import AsyncHandle, Handle
from graphmem.client.state import SessionState, blocking, listed
from graphmem.model import Message, TurnsReceipt
from graphmem.operations import episode


class AsyncSession(AsyncHandle):
    """A handle whose writes occur in one episode, awaited."""

    @property
    def episode_id(self) -> str:
        """The episode that holds this session's turns."""
        return _session(self).episode_id

    async def add_messages(self, messages: Iterable[Message | Mapping[str, Any]]) -> TurnsReceipt:
        """Add messages to the conversation verbatim, each once, in their order.

        With an `id` or an `at` on each, a message is recognised wherever it stands. Without, by
        overlap: what goes on from the conversation's end, or all of it again from the start.

        Args:
            messages: records, or maps of role, content and optionally name, at, id.

        Raises:
            InvalidInputError: a message does not fit; none is added.
            EventConflictError: a message id was used for other words; none of its batch is added.
        """
        given = listed(messages)
        await self._state.opened_episode()
        return await episode.add_messages(self._state.binding, _session(self).episode_id, given)

    async def __aenter__(self) -> Self:
        await self._state.opened_episode()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the session and write what of the log waits; all else has been acknowledged."""
        self._state.end_session()
        await self._state.settle(error)


class Session(Handle):
    """A handle whose writes occur in one episode, blocking: the twin of `AsyncSession`."""

    @property
    def episode_id(self) -> str:
        """The episode that holds this session's turns."""
        return _session(self).episode_id

    add_messages = blocking(AsyncSession.add_messages)
    __enter__ = blocking(AsyncSession.__aenter__)
    __exit__ = blocking(AsyncSession.__aexit__)


def _session(handle: AsyncHandle | Handle) -> SessionState:
    session = handle._state.session
    if session is None:
        raise TypeError("a session handle is made by `session(name)`")
    return session
