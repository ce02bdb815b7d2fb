"""What was looked at and is still to be written."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from graphmem.operations.access_log import Access

FULL = 100
"""So many are written together."""
MOST = 10_000
"""While they cannot be written, so many are kept: the newest."""


class AccessLog:
    """The accesses of all handles of an opened client that are not yet known to be in the graph.

    Safe to share between threads. Whatever is written stays here until it is acknowledged, so a
    write that failed half-way is made again, with the same ids.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, Access] = {}
        self._new = 0
        """Come since somebody was told to write."""
        self._lock = Lock()

    def add(self, access: Access) -> bool:
        """Keep an access; return whether it is time to write.

        It is time for one of `FULL` only, so that callers at once do not all write, and a server
        that takes none is not asked at each.
        """
        with self._lock:
            self._waiting[access.event_id] = access
            if len(self._waiting) > MOST:
                del self._waiting[next(iter(self._waiting))]
            self._new += 1
            if self._new < FULL:
                return False
            self._new = 0
            return True

    def waiting(self) -> list[Access]:
        """Return what is to be written, oldest first."""
        with self._lock:
            return list(self._waiting.values())

    def written(self, accesses: Sequence[Access]) -> None:
        """Forget what is in the graph."""
        with self._lock:
            for access in accesses:
                self._waiting.pop(access.event_id, None)
            self._new = len(self._waiting)
