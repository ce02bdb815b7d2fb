"""graphmem: memory for LLM agents that can be trusted, kept in Neo4j.

Records that are rarely named are in `graphmem.model` and in the feature that creates them, such as
`graphmem.usage`; metrics and traces are in `graphmem.telemetry`.
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
        PromptMessages,
        Session,
    )
    from graphmem.consolidation import (
        ConsolidationPolicy,
        ConsolidationReport,
        ConsolidationStatus,
    )
    from graphmem.erasure import ErasureReport
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
    from graphmem.extraction import ExtractionReport
    from graphmem.model import (
        AsOf,
        Belief,
        BeliefBite,
        BeliefReasons,
        Card,
        ChatReply,
        CommitOutcome,
        Context,
        Episode,
        EpisodeBite,
        EvidenceReceipt,
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
        RecallPolicy,
        Recollection,
        Slot,
        Status,
        Supersession,
        Trail,
        Triple,
        Turn,
        TurnBite,
    )
    from graphmem.settings import (
        Settings,
    )
    from graphmem.upkeep import PrunePolicy, UpkeepPolicy

__all__ = [
    "AsOf",
    "AsyncGraphMem",
    "AsyncHandle",
    "AsyncSession",
    "Belief",
    "BeliefBite",
    "BeliefReasons",
    "Card",
    "ChatReply",
    "CommitOutcome",
    "ConfigurationError",
    "ConsolidationPolicy",
    "ConsolidationReport",
    "ConsolidationStatus",
    "ContentRefusedError",
    "Context",
    "Episode",
    "EpisodeBite",
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
    "PromptMessages",
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
    "client": "AsyncGraphMem AsyncHandle AsyncSession GraphMem Handle PromptMessages Session",
    "consolidation": "ConsolidationPolicy ConsolidationReport ConsolidationStatus",
    "erasure": "ErasureReport",
    "errors": (
        "ConfigurationError ContentRefusedError ErasedError EventConflictError "
        "ForeignScopeError GraphAccessError GraphmemError InvalidInputError "
        "LocalServerError ModelMismatchError ModelUnavailableError NotFoundError "
        "RefusedError SchemaError UnavailableError"
    ),
    "extraction": "ExtractionReport",
    "settings": "Settings",
    "upkeep": "PrunePolicy UpkeepPolicy",
}
"""Modules of the names that are not in `graphmem.model`."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # Importing graphmem costs nothing until a name of it is used.
        if name not in __all__:
            raise AttributeError(f"module 'graphmem' has no attribute {name!r}")
        home = next((m for m, names in _HOMES.items() if name in names.split()), "model")
        return getattr(importlib.import_module(f"graphmem.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
