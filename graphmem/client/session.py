"""Sessions: handles whose writes belong to one conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self, cast

from graphmem.client.handle import AsyncHandle, Handle
from graphmem.client.namespace import blocking
from graphmem.client.state import SessionState, listed
from graphmem.model import Message, TurnsReceipt
from graphmem.operations import episode
from graphmem.ports import run_now


class AsyncSession(AsyncHandle):
    """A handle whose writes belong to one episode, awaited."""

    @property
    def episode_id(self) -> str:
        """Id of the episode that holds the session's turns."""
        return _session(self).episode_id

    async def add_messages(self, messages: Iterable[Message | Mapping[str, Any]]) -> TurnsReceipt:
        """Add messages to the conversation verbatim, each once, in their order.

        A message with an `id` or an `at` is recognised at any position. Other messages are
        recognised by overlap: they continue the conversation, or repeat it from the start.

        Args:
            messages: records, or mappings of role, content and optionally name, at, id.

        Raises:
            InvalidInputError: a message is invalid; no message is added.
            EventConflictError: a message id was used for other words; no message of its batch is
                added.
        """
        given = listed(messages)
        await self._state.opened_episode()
        return await episode.add_messages(self._state.context, _session(self).episode_id, given)

    async def __aenter__(self) -> Self:
        await self._state.opened_episode()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the session and write its pending log entries; other writes are committed already."""
        self._state.end_session()
        await self._state.settle(error)


class Session(Handle):
    """A handle whose writes belong to one episode; blocking twin of `AsyncSession`."""

    @property
    def episode_id(self) -> str:
        """Id of the episode that holds the session's turns."""
        return _session(self).episode_id

    add_messages = blocking(AsyncSession.add_messages)

    def __enter__(self) -> Self:
        run_now(AsyncSession.__aenter__(cast("AsyncSession", self)))
        return self

    __exit__ = blocking(AsyncSession.__aexit__)


def _session(handle: AsyncHandle | Handle) -> SessionState:
    session = handle._state.session
    if session is None:
        raise TypeError("a session handle is made by `session(name)`")
    return session
