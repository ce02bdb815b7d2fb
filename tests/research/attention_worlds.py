"""A small world of made-up agents, and searches by hand."""

from __future__ import annotations

import numpy as np

from research.attention.world import Log, SearchRecord, Setting, World

SMALL = Setting(memories=200, topics=10, dimension=16, agents=2, searches=3, results=6)
ITEM = 7


def run(setting: Setting = SMALL, seed: int = 1, sessions: int = 40) -> tuple[World, Log]:
    """Return a world and what was asked of it."""
    services = World.of(setting, seed)
    return services, list(services.sessions(sessions))


def as_tuples(log: Log) -> list[tuple[object, ...]]:
    """Return a log as what can be compared."""
    return [
        (a.session, a.agent, a.items.tolist(), a.similarities.tolist(), a.opened.tolist())
        for a in log
    ]


def asked(session: int, items: list[int], opened: list[int]) -> SearchRecord:
    """Return a search."""
    chosen = np.isin(items, opened)
    return SearchRecord(session, 0, np.array(items), np.full(len(items), 0.5), chosen, items[0])
