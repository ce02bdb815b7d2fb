"""graphmem: memory for LLM agents that can be trusted, kept in Neo4j.

Records that are rarely named are in `graphmem.model`, metrics and traces in `graphmem.telemetry`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.client import (
        AsyncGraphMem,
        AsyncHandle,
        AsyncSession,
        GraphMem,
        Handle,
        Session,
    )
    from graphmem.errors import (
        ConfigurationError,
        ContentRefusedError,
        ErasedError,
        EventConflictError,
        ForeignScopeError,
        GraphAccessError,
        GraphmemError,
        InvalidInputError,
        LocalServerError,
        ModelMismatchError,
        ModelUnavailableError,
        NotFoundError,
        RefusedError,
        SchemaError,
        UnavailableError,
    )
    from graphmem.model import (
        AsOf,
        Belief,
        BeliefBite,
        BeliefReasons,
        Card,
        CommitOutcome,
        ConsolidationPolicy,
        ConsolidationReport,
        Context,
        Episode,
        ErasureReport,
        EvidenceReceipt,
        ExtractionReport,
        HypotheticalEvidence,
        IngestReport,
        Memory,
        MemoryBite,
        MemoryReasons,
        Message,
        NewMemory,
        Observation,
        Outcome,
        Policy,
        PrunePolicy,
        RecallPolicy,
        Recollection,
        Slot,
        Status,
        Supersession,
        Trail,
        Triple,
        Turn,
        TurnBite,
        UpkeepPolicy,
    )
    from graphmem.settings import (
        Settings,
    )

__all__ = [
    "AsOf",
    "AsyncGraphMem",
    "AsyncHandle",
    "AsyncSession",
    "Belief",
    "BeliefBite",
    "BeliefReasons",
    "Card",
    "CommitOutcome",
    "ConfigurationError",
    "ConsolidationPolicy",
    "ConsolidationReport",
    "ContentRefusedError",
    "Context",
    "Episode",
    "ErasedError",
    "ErasureReport",
    "EventConflictError",
    "EvidenceReceipt",
    "ExtractionReport",
    "ForeignScopeError",
    "GraphAccessError",
    "GraphMem",
    "GraphmemError",
    "Handle",
    "HypotheticalEvidence",
    "IngestReport",
    "InvalidInputError",
    "LocalServerError",
    "Memory",
    "MemoryBite",
    "MemoryReasons",
    "Message",
    "ModelMismatchError",
    "ModelUnavailableError",
    "NewMemory",
    "NotFoundError",
    "Observation",
    "Outcome",
    "Policy",
    "PrunePolicy",
    "RecallPolicy",
    "Recollection",
    "RefusedError",
    "SchemaError",
    "Session",
    "Settings",
    "Slot",
    "Status",
    "Supersession",
    "Trail",
    "Triple",
    "Turn",
    "TurnBite",
    "UnavailableError",
    "UpkeepPolicy",
]

_HOMES = {
    "graphmem.client": frozenset(
        {
            "AsyncGraphMem",
            "AsyncHandle",
            "AsyncSession",
            "GraphMem",
            "Handle",
            "Session",
        }
    ),
    "graphmem.errors": frozenset(
        {
            "ConfigurationError",
            "ContentRefusedError",
            "ErasedError",
            "EventConflictError",
            "ForeignScopeError",
            "GraphAccessError",
            "GraphmemError",
            "InvalidInputError",
            "LocalServerError",
            "ModelMismatchError",
            "ModelUnavailableError",
            "NotFoundError",
            "RefusedError",
            "SchemaError",
            "UnavailableError",
        }
    ),
    "graphmem.settings": frozenset(
        {
            "Settings",
        }
    ),
}
"""Modules of the names that are not in `graphmem.model`."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # Importing graphmem costs nothing until a name of it is used.
        if name not in __all__:
            raise AttributeError(f"module 'graphmem' has no attribute {name!r}")
        home = next((m for m, names in _HOMES.items() if name in names), "graphmem.model")
        return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
