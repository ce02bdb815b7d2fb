"""Memory use of a process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Footprint:
    """Memory of one process in MB (10^6 bytes); None if the system does not report it."""

    resident: float | None
    peak: float | None
    """Maximum resident memory since the process started."""


def footprint(pid: int | None = None) -> Footprint:
    """Return the memory of a process, by default of this one; available on Linux only."""
    try:
        status = Path(f"/proc/{pid or os.getpid()}/status").read_text(encoding="utf-8")
    except OSError:
        return Footprint(None, None)
    # "VmRSS:     12345 kB", where a kB is 1,024 bytes.
    fields = dict(line.split(":", 1) for line in status.splitlines())
    resident, peak = (int(fields[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))
    return Footprint(resident, peak)
