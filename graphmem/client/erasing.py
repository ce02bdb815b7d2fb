"""The part of a handle that forgets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphmem.client.given import file_of, several
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid, yes_or_no
from graphmem.model import ErasureReport, ErasureTarget, Name, Record
from graphmem.operations import erasing
from graphmem.ports import OnPart, silent


class _Asked(Record):
    what: ErasureTarget
    id: Name


class AsyncErasing(Instrumented):
    """Erasure, awaited."""

    async def forget(
        self,
        what: ErasureTarget | str,
        id: str,  # noqa: A002 - the name that every verb has for it
        *,
        apply: bool = False,
        digests: Iterable[Path | str] = (),
        on_part: OnPart = silent,
    ) -> ErasureReport:
        """Erase a memory, a belief, an episode, a scope or a tenant, with all that came from it.

        It cannot be brought back, and does not come back: a tombstone, a digest without content,
        refuses it when it is sent again. A memory takes its events along, and beliefs that only
        its claims state; an episode its turns and events, the memories and beliefs that nothing
        else gives their words, and what was consolidated or extracted from it; what other evidence
        speaks of is computed anew. A scope or a tenant goes whole, and its name is refused.
        docs/erasure.md says what the files of the database may still hold, and until when.

        Safe to interrupt and to repeat: it goes on where it stopped.

        Args:
            what: memory, belief, episode, scope or tenant.
            id: of it; of a scope or a tenant its name, and it is the handle's own.
            apply: False, the default: tell what would go; nothing is written.
            digests: files that `graduate` wrote; lines about what goes are taken out.
            on_part: told `page` as events are looked through, and `node` and how many are gone.

        Raises:
            NotFoundError: nothing visible has this id.
            ForeignScopeError: it belongs to another scope than the handle's own, or is another
                scope or tenant.
            DigestFileError, DigestLockedError: a digest cannot be read or written.
            InvalidInputError: an argument does not fit.
        """
        given, sure = valid(_Asked, what=what, id=id), yes_or_no("apply", apply)
        files = [file_of("digests", one) for one in several("digests", digests)]
        wish = erasing.ErasureRequest(given.what, given.id, sure, on_part, files)
        if sure:
            # What waits to be logged may name it.
            await self._state.try_flush()
        return await erasing.forget(self._state.binding, wish)


class Erasing:
    """Erasure, blocking: the twin of `AsyncErasing`."""

    _state: HandleState

    forget = blocking(AsyncErasing.forget)
