"""How much memory a process takes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Footprint:
    """Of one process, in MB (10^6 octets); None where the system does not say."""

    resident: float | None
    peak: float | None
    """The most that was resident since it started."""


def footprint(pid: int | None = None) -> Footprint:
    """Return what a process takes now, this one by default; known on Linux alone."""
    try:
        status = Path(f"/proc/{pid or os.getpid()}/status").read_text(encoding="utf-8")
    except OSError:
        return Footprint(None, None)
    # "VmRSS:     12345 kB", where a kB is 1,024 octets.
    fields = dict(line.split(":", 1) for line in status.splitlines())
    resident, peak = (int(fields[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))
    return Footprint(resident, peak)
