"""Embedding caches: vectors by content hash, in a SQLite file of all processes or in memory."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from graphmem.errors import ConfigurationError
from graphmem.folders import cache_folder

if TYPE_CHECKING:
    from graphmem.settings import Settings

T = TypeVar("T")
Vector: TypeAlias = npt.NDArray[np.float32]

_LOG = logging.getLogger(__name__)

ROWS = 200_000
"""Maximum number of vectors, the newest ones; about 350 MB at 384 dimensions."""
KEPT = 4_096
"""Maximum number of vectors in memory; 6 MB at 384 dimensions."""

_OPEN = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, vector BLOB NOT NULL
);
"""
_GET = "SELECT key, vector FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
_PUT = "INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)"
_PRUNE = "DELETE FROM vectors WHERE number <= (SELECT max(number) FROM vectors) - ?"

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
"""Result codes of a file that is not a database, is damaged, or has other tables."""
_PRIMARY = 0xFF
"""Bits of an extended SQLite result code that hold the primary one."""
_BUSY_S = 10.0
_RETRY_S = 0.01
_UNIT_TOLERANCE = 1e-3
_STORED = "<f4"


class VectorCache(Protocol):
    """Vectors of texts embedded before. It contains hashes and numbers, but no text."""

    def get(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the cached vectors by key."""
        ...

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Store these vectors; delete the oldest ones beyond the limit."""
        ...


class MemoryCache:
    """The last vectors of a process, for models that are faster than a file."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the cached vectors by key."""
        with self._lock:
            return {key: self._vectors[key] for key in keys if key in self._vectors}

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Store these vectors; delete the oldest ones beyond `KEPT`."""
        with self._lock:
            self._vectors.update(vectors)
            while len(self._vectors) > KEPT:
                self._vectors.popitem(last=False)


class FileCache:
    """Vectors in one SQLite file, which a request to a service is slower than.

    A cache failure never fails a request. A damaged file is renamed and replaced by a new one; if
    the file cannot be written, this process continues without a cache. Both log a warning.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._off = threading.Event()

    @classmethod
    def of(cls, settings: Settings) -> FileCache | None:
        """Return the cache in the folder of the settings; None without a folder."""
        try:
            return cls(cache_folder(settings.cache) / "embeddings.sqlite")
        except ConfigurationError as error:
            _LOG.warning("Embeddings are not cached: %s", error)
            return None

    def get(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the cached vectors by key."""
        wanted = json.dumps(list(keys))

        def read(db: sqlite3.Connection) -> list[tuple[str, bytes]]:
            return db.execute(_GET, (wanted,)).fetchall()

        rows: list[tuple[str, bytes]] = self._try(read, otherwise=[])
        vectors = {key: _vector(blob) for key, blob in rows}
        return {key: vector for key, vector in vectors.items() if vector is not None}

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Store these vectors; delete the oldest ones beyond `ROWS`."""
        rows = [(key, vector.astype(_STORED).tobytes()) for key, vector in vectors.items()]

        def write(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(_PUT, rows)
            db.execute(_PRUNE, (ROWS,))
            db.execute("COMMIT")

        self._try(write, otherwise=None)

    def _try(self, work: Callable[[sqlite3.Connection], T], *, otherwise: T) -> T:
        if self._off.is_set():
            return otherwise
        try:
            return self._once(work)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & _PRIMARY not in _DAMAGED:
                return self._disable(error, otherwise)
        except OSError as error:
            return self._disable(error, otherwise)
        try:
            self._move_damaged_file()
            return self._once(work)
        except (sqlite3.DatabaseError, OSError) as error:
            return self._disable(error, otherwise)

    def _once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        # A new connection each time (0.2 ms) needs no lock between threads and no owner to close
        # it, and works after a fork.
        if not self._path.exists():
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Vectors reveal something about their texts, so only the owner may read them.
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        db = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)
        with closing(db):
            _create_table(db)
            return work(db)

    def _move_damaged_file(self) -> None:
        aside = self._path.with_suffix(".damaged")
        _LOG.warning("The embedding cache %s is damaged; moved to %s.", self._path, aside)
        self._path.replace(aside)
        for tail in ("-wal", "-shm"):
            Path(f"{self._path}{tail}").unlink(missing_ok=True)

    def _disable(self, error: Exception, otherwise: T) -> T:
        self._off.set()
        _LOG.warning("Embeddings are not cached: %s: %s.", self._path, error)
        return otherwise


def _create_table(db: sqlite3.Connection) -> None:
    """Create the table if it does not exist.

    If several processes do so concurrently in a new file, SQLite fails one of them without waiting.
    """
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            db.executescript(_OPEN)
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)


def _vector(blob: bytes) -> Vector | None:
    """Return the vector; None for a corrupt blob, because stored vectors have length 1."""
    if len(blob) % np.dtype(_STORED).itemsize:
        return None
    vector = np.frombuffer(blob, dtype=_STORED).astype(np.float32)
    sound = abs(float(np.linalg.norm(vector)) - 1.0) < _UNIT_TOLERANCE
    return vector if sound else None
