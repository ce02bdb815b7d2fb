"""Queue of the entries of a client's search log that are not known to be in the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from graphmem.usage import access_log
from graphmem.usage.access_log import AccessEntry, Entry, SearchEntry, SessionStart

if TYPE_CHECKING:
    from graphmem.ports import Telemetry

FULL_LOG = 100
"""Number of new entries after which the log is written."""
MAX_LOG = 10_000
"""Maximum number of entries kept while they cannot be written; the newest are kept."""


class AccessLog:
    """Log entries of all handles of a client that are not known to be in the graph.

    Safe to share between threads. Entries stay here until their write is acknowledged, so an
    interrupted write is repeated with the same ids.
    """

    def __init__(self, telemetry: Telemetry | None = None) -> None:
        self._telemetry = telemetry
        self._waiting: dict[str, Entry] = {}
        self._open: dict[str, tuple[SessionStart, int]] = {}
        """Open sessions, and the number of entries logged in each."""
        self._new = 0
        """Number of entries added since `add` last returned True."""
        self._lost = 0
        self._written = 0
        self._lock = Lock()

    @property
    def lost(self) -> int:
        """Number of entries discarded because they could not be written in time."""
        return self._lost

    def add(self, entry: AccessEntry | SearchEntry, start: SessionStart | None = None) -> bool:
        """Add an entry, and the start of its session if it is new; return whether to write now.

        Only one of every `FULL_LOG` calls returns True. Concurrent callers thus do not all write,
        and a server that accepts no writes is not asked at every call.
        """
        with self._changing():
            if start is not None:
                if start.event_id not in self._open:
                    self._waiting[start.event_id] = start
                self._open[start.event_id] = (start, self._logged(start) + 1)
            self._waiting[entry.event_id] = entry
            if len(self._waiting) > MAX_LOG:
                self._drop_oldest()
            self._new += 1
            if self._new < FULL_LOG:
                return False
            self._new = 0
            return True

    def end(self, start: SessionStart, now: datetime) -> None:
        """Add the end of a session, unless nothing was logged in it."""
        with self._changing():
            if start.event_id in self._open:
                self._end(start, now)

    def end_all(self, now: datetime) -> None:
        """Add the ends of all open sessions."""
        with self._changing():
            for start, _ in list(self._open.values()):
                self._end(start, now)

    def waiting(self) -> list[Entry]:
        """Return the unwritten entries, oldest first."""
        with self._lock:
            return list(self._waiting.values())

    def written(self, entries: Sequence[Entry]) -> None:
        """Remove entries that are in the graph."""
        with self._changing():
            for entry in entries:
                self._written += self._waiting.pop(entry.event_id, None) is not None
            self._new = len(self._waiting)

    def give_up(self) -> None:
        """Discard the unwritten entries and count them as lost."""
        with self._changing():
            self._lost += len(self._waiting)
            self._waiting.clear()

    def start_over(self) -> None:
        """Forget the entries in a forked process; its parent writes them and ends the sessions."""
        self._lock = Lock()  # another thread of the parent may have held it
        self._waiting, self._open, self._new = {}, {}, 0

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold the lock, and report the changes to telemetry afterwards."""
        with self._lock:
            waiting, written, lost = len(self._waiting), self._written, self._lost
            yield
            if self._telemetry is not None:
                self._telemetry.logged(
                    waiting=len(self._waiting) - waiting,
                    written=self._written - written,
                    lost=self._lost - lost,
                )

    def _logged(self, start: SessionStart) -> int:
        return self._open[start.event_id][1] if start.event_id in self._open else 0

    def _end(self, start: SessionStart, now: datetime) -> None:
        _, logged = self._open.pop(start.event_id)
        if not start.shared:
            end = access_log.ended(start, now, logged)
            self._waiting[end.event_id] = end

    def _drop_oldest(self) -> None:
        # Drops the oldest entry, but no start or end: they separate a session from the others.
        for event_id, entry in self._waiting.items():
            if not isinstance(entry, SessionStart):
                del self._waiting[event_id]
                self._lost += 1
                return
