"""Long calls and background jobs: what runs, what failed and why, and whether all is well."""

from __future__ import annotations

from asyncio import gather
from typing import Any

from graphmem.explorer.reader import Reader
from graphmem.jobs.operations import OperationPage

OPEN = frozenset({"waiting", "running"})
"""States of a call that can be ended."""


async def jobs(reader: Reader, calls: OperationPage) -> tuple[str, dict[str, Any]]:
    """Show long calls, what waits for consolidation and, to an operator, the background jobs."""
    reader.need("read")
    whole = "admin" in reader.rights and reader.covers_tenant
    waiting, stats = await gather(
        reader.reads.consolidation_status(), reader.reads.admin.stats() if whole else _nothing()
    )
    return "jobs", {
        "calls": calls.operations,
        "next_cursor": calls.next_cursor,
        "open": OPEN,
        "waiting": waiting,
        "stats": stats,
    }


async def _nothing() -> None:
    """Return None for what a key does not show."""
