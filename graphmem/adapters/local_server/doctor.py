"""Looking over everything the managed server needs, and saying what to do."""

from __future__ import annotations

from graphmem.adapters.local_server.records import Finding
from graphmem.settings import Settings


def diagnose(settings: Settings) -> list[Finding]:
    """Return findings."""
    return []
