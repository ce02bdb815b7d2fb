"""Both stores, and LangGraph's own as the reference."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, cast

import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, ListNamespacesOp, Op, PutOp
from langgraph.store.memory import InMemoryStore

from graphmem import Handle
from graphmem.langgraph import AsyncGraphMemStore, GraphMemStore
from graphmem.ports import Role, run_now
from graphmem.testing import HashEmbedder
from tests.plugins.clients import Door

FIELDS = ("text", "more[*]")


class Hashed(Embeddings):
    """The test embedder as a LangChain model."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = run_now(HashEmbedder().embed(texts, Role.DOCUMENT)).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        [row] = self.embed_documents([text])
        return row


class Reference(InMemoryStore):
    """LangGraph's own store, with three defects corrected.

    It keeps the vectors of a replaced value, lists namespaces that were only read or are empty,
    and refuses a batch in which two items have the same text.
    """

    def __init__(self, fields: Iterable[str] = FIELDS) -> None:
        super().__init__(
            index={"dims": HashEmbedder.DIMENSION, "embed": Hashed(), "fields": list(fields)}
        )

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        done = super().batch(ops)
        self._tidy()
        return done

    def _handle_list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        self._tidy()
        return super()._handle_list_namespaces(op)

    def _tidy(self) -> None:
        for namespace in [name for name, held in self._data.items() if not held]:
            del self._data[namespace]

    def _extract_texts(self, put_ops: dict[tuple[tuple[str, ...], str], PutOp]) -> Any:
        self._tidy()
        for namespace, key in put_ops:
            self._vectors[namespace].pop(key, None)
        return super()._extract_texts(put_ops)

    def _insertinmem_store(self, to_embed: Any, embeddings: list[list[float]]) -> None:
        for places, vector in zip(to_embed.values(), embeddings, strict=True):
            for namespace, key, path in places:
                self._vectors[namespace][key][path] = vector


class Store:
    """One of the two stores, with blocking methods."""

    def __init__(self, door: Door, runner: asyncio.Runner, memory: Handle, **how: Any) -> None:
        self.door = door
        self._runner = runner
        self.inner: BaseStore
        if door.name == "blocking":
            self.inner = GraphMemStore(memory, **how)
        else:
            self.inner = runner.run(self._made(memory, how))

    @staticmethod
    async def _made(memory: Handle, how: dict[str, Any]) -> BaseStore:
        return AsyncGraphMemStore(cast("Any", memory)._inner, **how)

    def __getattr__(self, name: str) -> Any:
        """Return put, get, search, delete, list_namespaces, batch or sweep_ttl."""
        if self.door.name == "blocking":
            return getattr(self.inner, name)
        method = getattr(self.inner, name if name == "sweep_ttl" else f"a{name}")
        return lambda *args, **kwargs: self._runner.run(method(*args, **kwargs))


Stores = Callable[..., Store]


@pytest.fixture
def stores(door: Door, runner: asyncio.Runner) -> Stores:
    """Make a store of a handle."""

    def make(memory: Handle, **how: Any) -> Store:
        return Store(door, runner, memory, **how)

    return make


@pytest.fixture
def store(stores: Stores, memory: Handle) -> Store:
    """A store of a fresh tenant."""
    return stores(memory, fields=FIELDS)


@pytest.fixture
def offline_store(offline: Handle) -> GraphMemStore:
    """A store whose graph fails the test when it is queried."""
    return GraphMemStore(offline, fields=FIELDS)
