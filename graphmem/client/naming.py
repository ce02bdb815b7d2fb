"""The part of a handle that says by which names somebody is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from graphmem.client.given import From
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid
from graphmem.model import Alias, EventSource, Part, Record
from graphmem.operations import declarations


class _Named(Record):
    name: Part
    other: Part | None = None


class AsyncNaming(Instrumented):
    """Names of entities, awaited."""

    async def same_as(self, name: str, other: str, **source: Unpack[From]) -> Alias:
        """Let a name stand for another one, for the whole tenant and every valid time.

        From then on a slot is read under all names of its subject, and its values are compared
        by what their objects stand for; extraction records facts under the other name. Nothing
        that was recorded is changed, and `apart` undoes it. A belief that is asked for by its id
        is read from its own evidence, and `why` lists those that say the same by other names.

        Args:
            name: for example "Bob Smith"; compared trimmed and without regard to case.
            other: whom it stands for, for example "Bob".
            source: where it comes from, and `at`; of what was said of a name the newest holds.

        Raises:
            NameChainError: `other` stands for a third name, or others stand for `name`.
            InvalidInputError: an argument does not fit, or the names are one.
            EventConflictError: the id was used for something else.
        """
        given = valid(_Named, name=name, other=other)
        return await declarations.say(
            self._state.binding, given.name, given.other, valid(EventSource, **source)
        )

    async def apart(self, name: str, **source: Unpack[From]) -> Alias:
        """Let a name stand for itself again; see `same_as`.

        Raises:
            NotFoundError: it stands for nobody else.
            InvalidInputError, EventConflictError: see `same_as`.
        """
        given = valid(_Named, name=name)
        return await declarations.say(
            self._state.binding, given.name, None, valid(EventSource, **source)
        )

    async def names(self) -> Sequence[Alias]:
        """Return every name that stands for another one, by name."""
        return await declarations.aliases(self._state.binding)


class Naming:
    """Names of entities, blocking: the twin of `AsyncNaming`."""

    _state: HandleState

    same_as = blocking(AsyncNaming.same_as)
    apart = blocking(AsyncNaming.apart)
    names = blocking(AsyncNaming.names)
