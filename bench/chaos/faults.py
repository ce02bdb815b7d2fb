"""Faults of the server and the network; each fault ends before the next one starts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bench.chaos.proxy import Proxy
from graphmem import local_server
from graphmem.settings import Settings

DOWN_S = 1.0
PAUSED_S = 8.0
SLOW_S = 10.0
DELAY_S = 0.05
CUTS = 5
FULL_S = 10.0
DISK = "1500m"
"""Size of the small disk that contains the server's data."""
LEFT = 1 << 16
"""Bytes that stay free on the disk when it is full."""


@dataclass(frozen=True, slots=True)
class Site:
    """A managed server, and the proxy in front of it."""

    settings: Settings
    proxy: Proxy

    def start(self) -> None:
        """Start the server unless it is running, and point the proxy to its current address."""
        at = urlsplit(local_server.ensure(self.settings).uri)
        self.proxy.target = (str(at.hostname), int(at.port or 0))

    def signal(self, number: int) -> None:
        """Send the server's process a signal."""
        pid = local_server.status(self.settings).pid
        if pid is not None:
            os.kill(pid, number)

    def kill(self) -> None:
        """Kill the server, as a power cut would, and start it again."""
        self.signal(signal.SIGKILL)
        time.sleep(DOWN_S)
        self.start()

    def stop(self) -> None:
        """Stop the server cleanly and start it again."""
        local_server.stop(self.settings)
        self.start()

    def pause(self) -> None:
        """Suspend the server for longer than a client waits."""
        self.signal(signal.SIGSTOP)
        try:
            time.sleep(PAUSED_S)
        finally:
            self.signal(signal.SIGCONT)

    def cut(self) -> None:
        """Cut all connections several times."""
        for _ in range(CUTS):
            self.proxy.cut()
            time.sleep(DOWN_S)

    def slow(self) -> None:
        """Slow the network down for a while."""
        self.proxy.delay_s = DELAY_S
        time.sleep(SLOW_S)
        self.proxy.delay_s = 0.0

    def fill(self) -> None:
        """Fill the disk, then restart the server as an operator would."""
        home = self.settings.home or Path()
        ballast = home / "ballast"
        size = shutil.disk_usage(home).free - LEFT
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(size, 1))
        try:
            time.sleep(FULL_S)
        finally:
            ballast.unlink()
        self.kill()

    def faults(self) -> dict[str, Callable[[], None]]:
        """Return all faults by name; a full disk only if the data is on a small disk."""
        faults = {
            "killed": self.kill,
            "stopped": self.stop,
            "paused": self.pause,
            "cut off": self.cut,
            "slow network": self.slow,
        }
        if self.settings.home is not None and os.path.ismount(self.settings.home):
            faults["disk full"] = self.fill
        return faults


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a small in-memory disk on a folder; yield whether mounting was permitted."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "graphmem-chaos", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ours
        mounted = done.returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)  # noqa: S603, S607 - ours
