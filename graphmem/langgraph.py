"""LangGraph's long-term store on a memory; needs `pip install 'graphmem[langgraph]'`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    validate_op_namespace,
)
from typing_extensions import override

from graphmem.client.handle import AsyncHandle, Handle
from graphmem.errors import InvalidInputError
from graphmem.items import (
    FoundItem,
    GetItem,
    ItemAnswer,
    ItemCall,
    ListNamespaces,
    NamespaceMatch,
    PutItem,
    SearchItems,
    StoredItem,
    rules,
)
from graphmem.model import NewMemory
from graphmem.validation import valid

__all__ = ["AsyncGraphMemStore", "GraphMemStore"]

H = TypeVar("H", Handle, AsyncHandle)

WHOLE = ("$",)
SOURCE = "langgraph"
"""Source of the memories that are written from items."""


class _Store(BaseStore, Generic[H]):
    """Common base of both stores: converts LangGraph's operations to calls of a handle."""

    supports_ttl = True

    def __init__(
        self,
        handle: H,
        *,
        fields: Sequence[str] | None = WHOLE,
        ttl: TTLConfig | None = None,
        remember: Sequence[str] = (),
    ) -> None:
        """Store items in the handle's own scope of its tenant.

        Args:
            handle: the handle whose own scope holds the items.
            fields: paths, as LangGraph writes them, of the texts that a search with a query
                compares; `$` is the whole value. An item's `index` overrides them. None ignores
                queries. The vectors come from the memory's own model.
            ttl: `default_ttl` in minutes and `refresh_on_read`. No sweep runs automatically, and
                expired items are never returned.
            remember: fields whose texts are also remembered whenever an item is put.

        Raises:
            InvalidInputError: `fields` or `remember` is not a list.
        """
        for name, given in (("fields", fields), ("remember", remember)):
            if isinstance(given, str):
                raise InvalidInputError(f"`{name}` must be a list of fields.")
        self._handle: H = handle
        self._fields = None if fields is None else tuple(fields)
        self._remember = tuple(remember)
        self.ttl_config = ttl

    def _calls(self, ops: Sequence[Op]) -> list[ItemCall]:
        return [self._call(op) for op in ops]

    def _call(self, op: Op) -> ItemCall:
        _check_labels(op)
        if isinstance(op, GetOp):
            return valid(GetItem, namespace=op.namespace, key=str(op.key), refresh=op.refresh_ttl)
        if isinstance(op, PutOp):
            return valid(
                PutItem,
                namespace=op.namespace,
                key=str(op.key),
                value=op.value,
                texts={} if op.value is None else self._texts(op),
                ttl_minutes=op.ttl,
            )
        if isinstance(op, SearchOp):
            return valid(
                SearchItems,
                prefix=op.namespace_prefix,
                filter=op.filter,
                query=None if self._fields is None else op.query,
                limit=op.limit,
                offset=op.offset,
                refresh=op.refresh_ttl,
            )
        if isinstance(op, ListNamespacesOp):
            conditions = () if op.match_conditions is None else op.match_conditions
            matches = [valid(NamespaceMatch, end=c.match_type, path=c.path) for c in conditions]
            return valid(
                ListNamespaces, fits=matches, depth=op.max_depth, limit=op.limit, offset=op.offset
            )
        raise InvalidInputError(f"Unknown operation type: {type(op).__name__}.")

    def _texts(self, op: PutOp) -> dict[str, str]:
        if self._fields is None or op.index is False:
            return {}
        # LangGraph writes parts of it as JSON, with raw errors for values that JSON cannot
        # represent.
        rules.encode_value(op.value)
        return _texts_at(op.value, self._fields if op.index is None else op.index)

    def _memories(self, calls: Iterable[ItemCall]) -> list[NewMemory]:
        return [
            valid(NewMemory, content=text, source=SOURCE)
            for call in calls
            if isinstance(call, PutItem) and call.value is not None
            for text in _texts_at(call.value, self._remember).values()
        ]


class GraphMemStore(_Store[Handle]):
    """LangGraph's `BaseStore` on a handle; its async methods use a thread."""

    @override
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations; see `Items.batch`."""
        calls = self._calls(list(ops))
        answers = self._handle.items.batch(calls)
        if memories := self._memories(calls):
            self._handle.remember_many(memories)
        return [_result(answer) for answer in answers]

    @override
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations in a thread, without blocking the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Delete expired items and return their number."""
        return self._handle.items.sweep()


class AsyncGraphMemStore(_Store[AsyncHandle]):
    """LangGraph's `BaseStore` on an awaited handle.

    Create it in its event loop. Its blocking methods are for other threads, where LangGraph runs
    tools that are not coroutines.
    """

    def __init__(
        self,
        handle: AsyncHandle,
        *,
        fields: Sequence[str] | None = WHOLE,
        ttl: TTLConfig | None = None,
        remember: Sequence[str] = (),
    ) -> None:
        """Store items in the handle's own scope of its tenant; see `GraphMemStore`."""
        super().__init__(handle, fields=fields, ttl=ttl, remember=remember)
        self._loop = asyncio.get_running_loop()

    @override
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations; see `AsyncItems.batch`."""
        calls = self._calls(list(ops))
        answers = await self._handle.items.batch(calls)
        if memories := self._memories(calls):
            await self._handle.remember_many(memories)
        return [_result(answer) for answer in answers]

    @override
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations on the store's event loop, from another thread.

        Raises:
            InvalidInputError: called on that loop, which would deadlock.
        """
        try:
            own = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            own = False
        if own:
            raise InvalidInputError(
                "A blocking call on the store's own event loop would deadlock.",
                hint="Await aget, aput, asearch, adelete, alist_namespaces or abatch.",
            )
        return asyncio.run_coroutine_threadsafe(self.abatch(list(ops)), self._loop).result()

    async def sweep_ttl(self) -> int:
        """Delete expired items and return their number."""
        return await self._handle.items.sweep()


def _check_labels(op: Op) -> None:
    """Let LangGraph check the labels of an operation, if it has any.

    Raises:
        InvalidInputError: labels, conditions or paths have a wrong type.
        InvalidNamespaceError: by LangGraph, for an invalid label.
    """
    fields: tuple[tuple[str, type, tuple[object, ...]], ...] = (
        ("namespace", object, ()),
        ("namespace_prefix", object, ()),
        ("match_conditions", MatchCondition, (None,)),
        ("index", str, (None, False)),
    )
    for name, kind, defaults in fields:
        # Every operation is a tuple, whose method `index` is not one of its fields.
        given: object = getattr(op, name) if name in getattr(op, "_fields", ()) else ()
        if any(given is default for default in defaults):
            continue
        if not isinstance(given, list | tuple) or not all(isinstance(v, kind) for v in given):
            raise InvalidInputError(f"`{name}` must be a list of valid elements.")
    validate_op_namespace(op)


def _texts_at(value: Mapping[str, Any] | None, paths: Iterable[str]) -> dict[str, str]:
    """Return the texts at some paths of a value, by their names."""
    found: dict[str, str] = {}
    for path in paths:
        texts = get_text_at_path(value, path)
        names = [path] if len(texts) == 1 else [f"{path}.{n}" for n in range(len(texts))]
        found.update(zip(names, texts, strict=True))
    return found


def _result(answer: ItemAnswer) -> Result:
    if isinstance(answer, list):
        # All elements have one type, as LangGraph's annotation requires.
        return [_searched(v) if isinstance(v, FoundItem) else v for v in answer]  # type: ignore[return-value]
    return None if answer is None else Item(**_fields(answer))


def _searched(item: FoundItem) -> SearchItem:
    return SearchItem(**_fields(item), score=item.score)


def _fields(item: StoredItem) -> dict[str, Any]:
    names = ("namespace", "key", "value", "created_at", "updated_at")
    return {name: getattr(item, name) for name in names}
