"""Watch whether any program uses the managed server, and run a command when none has for a while.

It is run as a script and imports nothing but psutil, so that the process takes 13 MB.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Collection
from pathlib import Path

import psutil

CHECK_S = 60.0
"""Maximum seconds between two checks. Linux lists a connection for 60 s after it has closed, so
none is missed."""
LOOPBACK = ("127.0.0.1", "::1", "::ffff:127.0.0.1")


class IdleTime:
    """Time since the server was last seen in use, from what each check finds."""

    def __init__(self, mark: int, now: float) -> None:
        self.mark = mark
        """Time at which a client last asked for the server's address; see `last_asked`."""
        self._used_at = now

    def seconds(self, now: float, mark: int, *, connected: bool) -> float:
        """Return the seconds without use; `now` is of a monotonic clock."""
        if connected or mark != self.mark:
            self.mark, self._used_at = mark, now
        return now - self._used_at


def last_asked(state_file: Path, pid: int) -> int | None:
    """Return the time of the server's state file; None if it is not that of this process."""
    try:
        same = json.loads(state_file.read_bytes())["pid"] == pid
        return state_file.stat().st_mtime_ns if same else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def is_connected(server: psutil.Process, ports: Collection[int]) -> bool:
    """Return whether any program on this machine has a connection to one of the server's ports."""
    try:
        found = psutil.net_connections("tcp")
    except psutil.AccessDenied:  # macOS shows a user only the connections of a process
        found = server.net_connections("tcp")
    return any(
        one.laddr.ip in LOOPBACK
        and one.status != psutil.CONN_LISTEN
        and not {one.laddr.port, *one.raddr[1:]}.isdisjoint(ports)
        for one in found
    )


def watch(pid: int, ports: Collection[int], state_file: Path, idle_s: float) -> int | None:
    """Return the `mark` of an idle server; None if it was stopped or replaced."""
    mark = last_asked(state_file, pid)
    if mark is None:
        return None
    idle = IdleTime(mark, time.monotonic())
    try:
        server = psutil.Process(pid)
        while server.is_running():
            time.sleep(min(CHECK_S, idle_s / 2))
            mark = last_asked(state_file, pid)
            if mark is None:
                return None
            connected = is_connected(server, ports)
            if idle.seconds(time.monotonic(), mark, connected=connected) >= idle_s:
                return mark
    except psutil.NoSuchProcess:
        pass
    return None


def main(pid: str, bolt: str, http: str, state_file: str, idle_s: str, *command: str) -> None:
    """Watch, and replace this process by the command with the server's `mark`."""
    mark = watch(int(pid), (int(bolt), int(http)), Path(state_file), float(idle_s))
    if mark is not None:
        os.execv(command[0], [*command, str(mark)])  # noqa: S606 - a command of ours


if __name__ == "__main__":
    main(*sys.argv[1:])
