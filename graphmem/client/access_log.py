"""What was searched for and looked at and is still to be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from graphmem.operations import access_log
from graphmem.operations.access_log import AccessEntry, Entry, SearchEntry, SessionStart

if TYPE_CHECKING:
    from graphmem.ports import Telemetry

FULL = 100
"""So many are written together."""
MOST = 10_000
"""While they cannot be written, so many are kept: the newest."""


class AccessLog:
    """What all handles of an opened client have logged and is not yet known to be in the graph.

    Safe to share between threads. Whatever is written stays here until it is acknowledged, so a
    write that failed half-way is made again, with the same ids.
    """

    def __init__(self, telemetry: Telemetry | None = None) -> None:
        self._telemetry = telemetry
        self._waiting: dict[str, Entry] = {}
        self._open: dict[str, tuple[SessionStart, int]] = {}
        """Sessions that began, and how much was logged in each."""
        self._new = 0
        """Come since somebody was told to write."""
        self._lost = 0
        self._written = 0
        self._lock = Lock()

    @property
    def lost(self) -> int:
        """How many were given up because they could not be written in time."""
        return self._lost

    def add(self, entry: AccessEntry | SearchEntry, start: SessionStart | None = None) -> bool:
        """Keep an entry of a session, which begins with it; return whether it is time to write.

        It is time for one of `FULL` only, so that callers at once do not all write, and a server
        that takes none is not asked at each.
        """
        with self._changing():
            if start is not None:
                if start.event_id not in self._open:
                    self._waiting[start.event_id] = start
                self._open[start.event_id] = (start, self._logged(start) + 1)
            self._waiting[entry.event_id] = entry
            if len(self._waiting) > MOST:
                self._give_up_one()
            self._new += 1
            if self._new < FULL:
                return False
            self._new = 0
            return True

    def end(self, start: SessionStart, now: datetime) -> None:
        """End a session; one in which nothing was logged has never begun."""
        with self._changing():
            if start.event_id in self._open:
                self._end(start, now)

    def end_all(self, now: datetime) -> None:
        """End every session that has not ended."""
        with self._changing():
            for start, _ in list(self._open.values()):
                self._end(start, now)

    def waiting(self) -> list[Entry]:
        """Return what is to be written, oldest first."""
        with self._lock:
            return list(self._waiting.values())

    def written(self, entries: Sequence[Entry]) -> None:
        """Forget what is in the graph."""
        with self._changing():
            for entry in entries:
                self._written += self._waiting.pop(entry.event_id, None) is not None
            self._new = len(self._waiting)

    def give_up(self) -> None:
        """Count what still waits as lost: nobody is left to write it."""
        with self._changing():
            self._lost += len(self._waiting)
            self._waiting.clear()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let nobody else in, and tell afterwards what has changed."""
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
        end = access_log.ended(start, now, logged)
        self._waiting[end.event_id] = end

    def _give_up_one(self) -> None:
        # The oldest, but no beginning or end: without them a session could not be told from others.
        for event_id, entry in self._waiting.items():
            if not isinstance(entry, SessionStart):
                del self._waiting[event_id]
                self._lost += 1
                return
