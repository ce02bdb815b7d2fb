"""Method of a handle that erases data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphmem.client.given import file_of, several
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid, yes_or_no
from graphmem.model import ErasureReport, ErasureTarget, Name, Record
from graphmem.operations import erasing
from graphmem.ports import OnPart, silent


class _Target(Record):
    what: ErasureTarget
    id: Name


class AsyncErasing(Instrumented):
    """Erasure, awaited."""

    async def forget(
        self,
        what: ErasureTarget | str,
        id: str,  # noqa: A002 - every method uses this name
        *,
        apply: bool = False,
        digests: Iterable[Path | str] = (),
        on_part: OnPart = silent,
    ) -> ErasureReport:
        """Erase a memory, a belief, an episode, a scope or a tenant, with all data derived from it.

        Erasure is permanent. A tombstone, which is a hash without content, refuses the same data
        when it is sent again. Erasing a memory also erases its events and the beliefs that only
        its claims state. Erasing an episode also erases its turns and events, the memories and
        beliefs whose text has no other source, and everything consolidated or extracted from it.
        Nodes with other evidence are recomputed. A scope or tenant is erased whole, and its name
        is refused from then on. docs/erasure.md describes what the database files may still
        contain, and for how long.

        Safe to interrupt and to repeat: another call resumes the erasure.

        Args:
            what: memory, belief, episode, scope or tenant.
            id: id of the target; for a scope or tenant, the name of the handle's own.
            apply: whether to erase; by default the call only reports what would be erased.
            digests: files that `graduate` wrote; lines about erased data are removed.
            on_part: progress callback; receives `page` for each page of events, and `node` with
                the number of erased nodes.

        Raises:
            NotFoundError: no visible item has this id.
            ForeignScopeError: the target belongs to another scope, or is another scope or tenant.
            DigestFileError, DigestLockedError: a digest cannot be read or written.
            InvalidInputError: an argument is invalid.
        """
        given, applied = valid(_Target, what=what, id=id), yes_or_no("apply", apply)
        files = [file_of("digests", file) for file in several("digests", digests)]
        request = erasing.ErasureRequest(given.what, given.id, applied, on_part, files)
        if applied:
            # Waiting log entries may contain the id.
            await self._state.try_flush()
        return await erasing.forget(self._state.binding, request)


class Erasing:
    """Erasure; blocking twin of `AsyncErasing`."""

    _state: HandleState

    forget = blocking(AsyncErasing.forget)
