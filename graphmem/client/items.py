"""Namespace `items` of a handle."""

from __future__ import annotations

from collections.abc import Iterable

from graphmem.client.arguments import several
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.errors import InvalidInputError
from graphmem.items import (
    GetItem,
    ItemAnswer,
    ItemCall,
    ListNamespaces,
    PutItem,
    SearchItems,
    operations,
)


class AsyncItems(AsyncNamespace):
    """Methods of a store of JSON items, awaited."""

    _prefix = "items."

    async def batch(self, calls: Iterable[ItemCall]) -> list[ItemAnswer]:
        """Get, put, delete and search items, and list namespaces; return the answers in order.

        Items are separate from memories: hygiene and deduplication do not apply, and a put
        replaces the earlier value. Only handles of the same scope read them. All reads of a batch
        see the state before its writes. The writes are atomic, and the last of several writes to
        one key wins. A repeated batch changes only timestamps.

        Expiry follows this machine's clock.

        Args:
            calls: `GetItem`, `PutItem`, `SearchItems` and `ListNamespaces`; each class documents
                its answer.

        Raises:
            InvalidInputError: a call is none of these, a value is not JSON, or a filter is
                invalid; nothing is done.
        """
        given = several("calls", calls)
        for place, call in enumerate(given):
            if not isinstance(call, GetItem | PutItem | SearchItems | ListNamespaces):
                raise InvalidInputError(
                    f"calls[{place}] must be an item call, not {type(call).__name__}.",
                    hint="Use GetItem, PutItem, SearchItems or ListNamespaces.",
                )
        return await operations.batch(self._state.context, given)

    async def sweep(self) -> int:
        """Delete the expired items of the handle's own scope and return their number.

        Reads never return expired items, even before they are deleted.
        """
        return await operations.sweep(self._state.context)


class Items(Namespace):
    """Methods of a store of JSON items; blocking twin of `AsyncItems`."""

    batch = blocking(AsyncItems.batch)
    sweep = blocking(AsyncItems.sweep)
