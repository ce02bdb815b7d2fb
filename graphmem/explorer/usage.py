"""Items by use: those that are opened, those that are only found, and their tiers."""

from __future__ import annotations

from asyncio import gather
from typing import Any

from graphmem.explorer.reader import Asked, Reader
from graphmem.model import Tier

LATEST, LISTED = 10, 50
MEANINGS = {
    Tier.HIGH: "opened far more often than what was found with it",
    Tier.MEDIUM: "opened more often than not",
    Tier.LOW: "found, and seldom opened",
    Tier.VERY_LOW: "found again and again, and never opened",
}


async def usage(reader: Reader, asked: Asked) -> tuple[str, dict[str, Any]]:
    """Show the most used items of all tiers or of one, and the latest searches and accesses."""
    reader.need("read")
    seen, tier = reader.reads, asked.text("tier")
    found, rated = await gather(
        seen.usage.dashboard(limit=LATEST), seen.usage.ratings(tier=tier or None, limit=LISTED)
    )
    return "usage", {
        "tiers": [(one, found.tiers[one], MEANINGS[one]) for one in Tier],
        "tier": tier,
        "rated": rated,
        "listed": LISTED,
        "activity": found.activity,
    }
