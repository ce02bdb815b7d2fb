"""Memory that the managed server and a client take, by a formula."""

from __future__ import annotations

from dataclasses import dataclass

from graphmem.local_server.files import DataFolder
from graphmem.local_server.lifecycle import folder_bytes
from graphmem.settings import Settings

JAVA_BYTES = 500_000_000
"""Compiled code, classes, buffers and threads. Measured without load: 480 MB with a heap of 256m,
560 with 1g."""
HEAP_SHARE = 0.1
"""Share of the heap that the garbage collector takes in addition."""
CLIENT_BYTES = 400_000_000
"""A client with the local encoder. Measured: 218 MB with one thread, 280 once it counts the tokens
of a block, 359 with 32 threads and after a batch of 1,500 texts."""
UNITS = {unit: 1 << 10 * n for n, both in enumerate(("kK", "mM", "gG"), 1) for unit in both}


@dataclass(frozen=True)
class MemoryNeed:
    """Maximum memory of the server and of a client, bytes."""

    heap: int
    page_cache: int
    indexes: int
    """Vector indexes: files that the system keeps in free memory, in addition to the server's."""
    client: int = CLIENT_BYTES

    @classmethod
    def of(cls, settings: Settings) -> MemoryNeed:
        """Return the need with the heap, the page cache and the data of the settings."""
        places = DataFolder.of(settings).root.glob("data/databases/*/schema/index/vector-*")
        indexes = sum(map(folder_bytes, places))
        return cls(size_bytes(settings.heap), size_bytes(settings.page_cache), indexes)

    @property
    def java(self) -> int:
        """Memory of the server besides its heap and its page cache."""
        return JAVA_BYTES + int(HEAP_SHARE * self.heap)

    @property
    def server(self) -> int:
        """Memory of the server."""
        return self.heap + self.page_cache + self.java


def size_bytes(size: str) -> int:
    """Return the bytes of a size such as `512m`."""
    return int(size[:-1]) * UNITS[size[-1]]
