"""A memory as LangGraph's long-term store; needs `pip install 'graphmem[langgraph]'`."""

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
from graphmem.client.state import valid
from graphmem.errors import InvalidInputError
from graphmem.model import (
    FoundItem,
    GetItem,
    ItemAnswer,
    ItemCall,
    ListNamespaces,
    NamespaceMatch,
    NewMemory,
    PutItem,
    SearchItems,
    StoredItem,
)
from graphmem.rules import items

__all__ = ["AsyncGraphMemStore", "GraphMemStore"]

H = TypeVar("H", Handle, AsyncHandle)

WHOLE = ("$",)
SOURCE = "langgraph"
"""Where what is remembered of an item comes from."""


class _Store(BaseStore, Generic[H]):
    """What both stores share: LangGraph's operations as calls of a handle, and answers back."""

    supports_ttl = True

    def __init__(
        self,
        memory: H,
        *,
        fields: Sequence[str] | None = WHOLE,
        ttl: TTLConfig | None = None,
        remember: Sequence[str] = (),
    ) -> None:
        """Keep items in the handle's own scope of its tenant.

        Args:
            memory: the handle; the store does not close it.
            fields: whose texts an item is found by in a search with a query, unless its `index`
                says otherwise: paths as LangGraph writes them, `$` being the whole value. None: a
                query is passed over. The vectors are those of the memory's own model.
            ttl: `default_ttl` in minutes and `refresh_on_read`. Nothing sweeps by itself, and what
                has expired is never returned.
            remember: fields whose texts are remembered too, whenever an item is put.

        Raises:
            InvalidInputError: fields are no list.
        """
        for name, given in (("fields", fields), ("remember", remember)):
            if isinstance(given, str):
                raise InvalidInputError(f"{name}: give a list, even of one.")
        self._memory: H = memory
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
            wanted = () if op.match_conditions is None else op.match_conditions
            fits = [valid(NamespaceMatch, end=one.match_type, path=one.path) for one in wanted]
            return valid(
                ListNamespaces, fits=fits, depth=op.max_depth, limit=op.limit, offset=op.offset
            )
        raise InvalidInputError(f"An operation of the type {type(op).__name__} is unknown.")

    def _texts(self, op: PutOp) -> dict[str, str]:
        if self._fields is None or op.index is False:
            return {}
        # LangGraph writes parts of it as JSON, and its errors for what JSON cannot carry are raw.
        items.encoded(op.value)
        return _at(op.value, self._fields if op.index is None else op.index)

    def _wishes(self, calls: Iterable[ItemCall]) -> list[NewMemory]:
        return [
            valid(NewMemory, content=text, source=SOURCE)
            for call in calls
            if isinstance(call, PutItem) and call.value is not None
            for text in _at(call.value, self._remember).values()
        ]


class GraphMemStore(_Store[Handle]):
    """LangGraph's `BaseStore` on a `GraphMem` handle; its awaited methods use a thread."""

    @override
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations; see `GraphMem.batch_items`."""
        calls = self._calls(list(ops))
        answers = self._memory.batch_items(calls)
        if wishes := self._wishes(calls):
            self._memory.remember_many(wishes)
        return [_result(answer) for answer in answers]

    @override
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations in a thread, so that the loop goes on."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Delete what has expired; return how many items."""
        return self._memory.sweep_items()


class AsyncGraphMemStore(_Store[AsyncHandle]):
    """LangGraph's `BaseStore` on an `AsyncGraphMem` handle.

    Make it where its loop runs. Its blocking methods are for other threads, where LangGraph runs
    tools that are no coroutines.
    """

    def __init__(
        self,
        memory: AsyncHandle,
        *,
        fields: Sequence[str] | None = WHOLE,
        ttl: TTLConfig | None = None,
        remember: Sequence[str] = (),
    ) -> None:
        """Keep items in the handle's own scope of its tenant; see `GraphMemStore`."""
        super().__init__(memory, fields=fields, ttl=ttl, remember=remember)
        self._loop = asyncio.get_running_loop()

    @override
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations; see `AsyncGraphMem.batch_items`."""
        calls = self._calls(list(ops))
        answers = await self._memory.batch_items(calls)
        if wishes := self._wishes(calls):
            await self._memory.remember_many(wishes)
        return [_result(answer) for answer in answers]

    @override
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations on the store's loop, from another thread.

        Raises:
            InvalidInputError: called on that loop, which would wait for itself.
        """
        try:
            own = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            own = False
        if own:
            raise InvalidInputError(
                "A blocking call on the loop of the store would wait for itself.",
                hint="Await aget, aput, asearch, adelete, alist_namespaces or abatch.",
            )
        return asyncio.run_coroutine_threadsafe(self.abatch(list(ops)), self._loop).result()

    async def sweep_ttl(self) -> int:
        """Delete what has expired; return how many items."""
        return await self._memory.sweep_items()


def _check_labels(op: Op) -> None:
    """Let LangGraph check the labels of an operation, if it has such at all.

    Raises:
        InvalidInputError: what should be labels, conditions or paths is something else.
        InvalidNamespaceError: by LangGraph, a label does not fit.
    """
    fields: tuple[tuple[str, type, tuple[object, ...]], ...] = (
        ("namespace", object, ()),
        ("namespace_prefix", object, ()),
        ("match_conditions", MatchCondition, (None,)),
        ("index", str, (None, False)),
    )
    for name, kind, unsaid in fields:
        # Every operation is a tuple, and has an `index` that is none of its fields.
        given: object = getattr(op, name) if name in getattr(op, "_fields", ()) else ()
        if any(given is one for one in unsaid):
            continue
        if not isinstance(given, list | tuple) or not all(isinstance(one, kind) for one in given):
            raise InvalidInputError(f"{name}: it is no list, or holds what does not belong there.")
    validate_op_namespace(op)


def _at(value: Mapping[str, Any] | None, paths: Iterable[str]) -> dict[str, str]:
    """Return the texts at some paths of a value, by their names."""
    found: dict[str, str] = {}
    for path in paths:
        texts = get_text_at_path(value, path)
        names = [path] if len(texts) == 1 else [f"{path}.{n}" for n in range(len(texts))]
        found.update(zip(names, texts, strict=True))
    return found


def _result(answer: ItemAnswer) -> Result:
    if isinstance(answer, list):
        # All of one kind, which is what LangGraph's own type says.
        return [_searched(one) if isinstance(one, FoundItem) else one for one in answer]  # type: ignore[return-value]
    return None if answer is None else _item(answer)


def _item(one: StoredItem) -> Item:
    return Item(**_fields(one))


def _searched(one: FoundItem) -> SearchItem:
    return SearchItem(**_fields(one), score=one.score)


def _fields(one: StoredItem) -> dict[str, Any]:
    names = ("namespace", "key", "value", "created_at", "updated_at")
    return {name: getattr(one, name) for name in names}
