"""Turns and windows without a graph, for the rules of extraction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from graphmem.extraction.windows import TurnContext, TurnWindow, build_window
from graphmem.model import Turn

SAID = datetime(2024, 6, 12, 15, 30, tzinfo=UTC)


def turn(
    text: str,
    n: int = 0,
    *,
    role: str = "user",
    name: str | None = None,
    at: datetime = SAID,
    kept: datetime | None = None,
) -> Turn:
    """Return the n-th turn of a session; the turns of a session are a minute apart."""
    at += timedelta(minutes=n)
    return Turn(
        id=f"t{n}",
        episode_id="ep",
        position=n,
        role=role,
        name=name,
        text=text,
        occurred_at=at,
        recorded_at=kept or at,
    )


def read_together(turns: Sequence[Turn], offered: Sequence[int] | None = None) -> TurnWindow:
    """Return turns as one window, of which only the `offered` places are to be read."""
    places = range(len(turns)) if offered is None else offered
    stretch = [TurnContext(turns[n].id, turns[n].position, read=False) for n in places]
    return build_window(stretch, turns)
