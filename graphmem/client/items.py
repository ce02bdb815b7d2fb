"""The part of a handle that keeps items: JSON values under keys in namespaces."""

from __future__ import annotations

from collections.abc import Iterable

from graphmem.client.given import several
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking
from graphmem.errors import InvalidInputError
from graphmem.model import GetItem, ItemAnswer, ItemCall, ListNamespaces, PutItem, SearchItems
from graphmem.operations import items


class AsyncItems(Instrumented):
    """Items of one scope, awaited."""

    async def batch_items(self, calls: Iterable[ItemCall]) -> list[ItemAnswer]:
        """Get, put, delete and search items, and list namespaces; return the answers in order.

        Items are outside what is remembered: nothing is refused or joined, and a put takes the
        place of what was there. They belong to the handle's own scope, and no other reads them.
        All reads of a batch see one state, that before its writes; all of its writes are there or
        none, and of several to one key the last one counts. Written again they change nothing but
        instants.

        Whether an item has expired is judged by this machine's clock.

        Args:
            calls: `GetItem`, `PutItem`, `SearchItems` and `ListNamespaces`; they say what the
                answer of each is.

        Raises:
            InvalidInputError: a call is none of these, a value is more than JSON can carry, or a
                filter does not fit; nothing is done.
        """
        given = several("calls", calls)
        for place, call in enumerate(given):
            if not isinstance(call, GetItem | PutItem | SearchItems | ListNamespaces):
                raise InvalidInputError(
                    f"calls[{place}] is a {type(call).__name__}.",
                    hint="Give GetItem, PutItem, SearchItems or ListNamespaces.",
                )
        return await items.batch(self._state.binding, given)

    async def sweep_items(self) -> int:
        """Delete the items of the handle's own scope that have expired; return how many.

        They are returned by no read, swept or not.
        """
        return await items.sweep(self._state.binding)


class Items:
    """Items of one scope, blocking: the twin of `AsyncItems`."""

    _state: HandleState

    batch_items = blocking(AsyncItems.batch_items)
    sweep_items = blocking(AsyncItems.sweep_items)
