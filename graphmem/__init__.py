"""graphmem: memory for LLM agents that can be trusted, kept in Neo4j."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.client import AsyncGraphMem, AsyncSession, GraphMem, Session
    from graphmem.errors import GraphmemError
    from graphmem.model import (
        AsOf,
        Belief,
        BeliefBite,
        BeliefChain,
        Candidate,
        Card,
        Chain,
        CommitOutcome,
        Context,
        Episode,
        FlipSet,
        Memory,
        MemoryBite,
        MemoryEvent,
        Message,
        Observation,
        Outcome,
        Policy,
        Predicate,
        Provenance,
        Reason,
        RecallPolicy,
        Recollection,
        Recorded,
        Slot,
        SlotPage,
        Stale,
        StalePage,
        Status,
        Supposed,
        Timeline,
        Trace,
        TraceRank,
        Trail,
        Triple,
        Turn,
        TurnBite,
        Verdict,
        Wish,
    )
    from graphmem.settings import Settings

_HOMES = {
    "graphmem.client": ("AsyncGraphMem", "AsyncSession", "GraphMem", "Session"),
    "graphmem.errors": ("GraphmemError",),
    "graphmem.model": (
        "AsOf",
        "Belief",
        "BeliefBite",
        "BeliefChain",
        "Candidate",
        "Card",
        "Chain",
        "CommitOutcome",
        "Context",
        "Episode",
        "FlipSet",
        "Memory",
        "MemoryBite",
        "MemoryEvent",
        "Message",
        "Observation",
        "Outcome",
        "Policy",
        "Predicate",
        "Provenance",
        "Reason",
        "RecallPolicy",
        "Recollection",
        "Recorded",
        "Slot",
        "SlotPage",
        "Stale",
        "StalePage",
        "Status",
        "Supposed",
        "Timeline",
        "Trace",
        "TraceRank",
        "Trail",
        "Triple",
        "Turn",
        "TurnBite",
        "Verdict",
        "Wish",
    ),
    "graphmem.settings": ("Settings",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AsOf",
    "AsyncGraphMem",
    "AsyncSession",
    "Belief",
    "BeliefBite",
    "BeliefChain",
    "Candidate",
    "Card",
    "Chain",
    "CommitOutcome",
    "Context",
    "Episode",
    "FlipSet",
    "GraphMem",
    "GraphmemError",
    "Memory",
    "MemoryBite",
    "MemoryEvent",
    "Message",
    "Observation",
    "Outcome",
    "Policy",
    "Predicate",
    "Provenance",
    "Reason",
    "RecallPolicy",
    "Recollection",
    "Recorded",
    "Session",
    "Settings",
    "Slot",
    "SlotPage",
    "Stale",
    "StalePage",
    "Status",
    "Supposed",
    "Timeline",
    "Trace",
    "TraceRank",
    "Trail",
    "Triple",
    "Turn",
    "TurnBite",
    "Verdict",
    "Wish",
]


def __getattr__(name: str) -> object:
    # Importing graphmem costs nothing until a name of it is used.
    if name not in _HOME:
        raise AttributeError(f"module 'graphmem' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
