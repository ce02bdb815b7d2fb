"""graphmem: memory for LLM agents that can be trusted, kept in Neo4j.

Records that are rarely named are in `graphmem.model` and in the feature that creates them, such as
`graphmem.usage`; metrics and traces are in `graphmem.telemetry`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from graphmem.version import __version__ as __version__

if TYPE_CHECKING:
    from graphmem.client import AsyncGraphMem as AsyncGraphMem
    from graphmem.client import AsyncHandle as AsyncHandle
    from graphmem.client import AsyncSession as AsyncSession
    from graphmem.client import GraphMem as GraphMem
    from graphmem.client import Handle as Handle
    from graphmem.client import PromptMessages as PromptMessages
    from graphmem.client import Session as Session
    from graphmem.consolidation import ConsolidationPolicy as ConsolidationPolicy
    from graphmem.consolidation import ConsolidationReport as ConsolidationReport
    from graphmem.consolidation import ConsolidationStatus as ConsolidationStatus
    from graphmem.erasure import ErasureReport as ErasureReport
    from graphmem.errors import ConfigurationError as ConfigurationError
    from graphmem.errors import ContentRefusedError as ContentRefusedError
    from graphmem.errors import ErasedError as ErasedError
    from graphmem.errors import EventConflictError as EventConflictError
    from graphmem.errors import ForeignScopeError as ForeignScopeError
    from graphmem.errors import GraphAccessError as GraphAccessError
    from graphmem.errors import GraphmemError as GraphmemError
    from graphmem.errors import InvalidInputError as InvalidInputError
    from graphmem.errors import LocalServerError as LocalServerError
    from graphmem.errors import ModelMismatchError as ModelMismatchError
    from graphmem.errors import ModelUnavailableError as ModelUnavailableError
    from graphmem.errors import NotFoundError as NotFoundError
    from graphmem.errors import RefusedError as RefusedError
    from graphmem.errors import SchemaError as SchemaError
    from graphmem.errors import UnavailableError as UnavailableError
    from graphmem.extraction import ExtractionReport as ExtractionReport
    from graphmem.model import AsOf as AsOf
    from graphmem.model import Belief as Belief
    from graphmem.model import BeliefBite as BeliefBite
    from graphmem.model import BeliefReasons as BeliefReasons
    from graphmem.model import Card as Card
    from graphmem.model import ChatReply as ChatReply
    from graphmem.model import CommitOutcome as CommitOutcome
    from graphmem.model import Context as Context
    from graphmem.model import Episode as Episode
    from graphmem.model import EpisodeBite as EpisodeBite
    from graphmem.model import EvidenceReceipt as EvidenceReceipt
    from graphmem.model import HypotheticalEvidence as HypotheticalEvidence
    from graphmem.model import IngestReport as IngestReport
    from graphmem.model import Memory as Memory
    from graphmem.model import MemoryBite as MemoryBite
    from graphmem.model import MemoryReasons as MemoryReasons
    from graphmem.model import Message as Message
    from graphmem.model import NewMemory as NewMemory
    from graphmem.model import Observation as Observation
    from graphmem.model import Outcome as Outcome
    from graphmem.model import Policy as Policy
    from graphmem.model import RecallPolicy as RecallPolicy
    from graphmem.model import Recollection as Recollection
    from graphmem.model import Slot as Slot
    from graphmem.model import Status as Status
    from graphmem.model import Supersession as Supersession
    from graphmem.model import Trail as Trail
    from graphmem.model import Triple as Triple
    from graphmem.model import Turn as Turn
    from graphmem.model import TurnBite as TurnBite
    from graphmem.settings import Settings as Settings
    from graphmem.upkeep import PrunePolicy as PrunePolicy
    from graphmem.upkeep import UpkeepPolicy as UpkeepPolicy

    __all__: list[str]

_HOMES = {
    "client": "AsyncGraphMem AsyncHandle AsyncSession GraphMem Handle PromptMessages Session",
    "consolidation": "ConsolidationPolicy ConsolidationReport ConsolidationStatus",
    "erasure": "ErasureReport",
    "errors": (
        "ConfigurationError ContentRefusedError ErasedError EventConflictError "
        "ForeignScopeError GraphAccessError GraphmemError InvalidInputError LocalServerError "
        "ModelMismatchError ModelUnavailableError NotFoundError RefusedError SchemaError "
        "UnavailableError"
    ),
    "extraction": "ExtractionReport",
    "model": (
        "AsOf Belief BeliefBite BeliefReasons Card ChatReply CommitOutcome Context Episode "
        "EpisodeBite EvidenceReceipt HypotheticalEvidence IngestReport Memory MemoryBite "
        "MemoryReasons Message NewMemory Observation Outcome Policy RecallPolicy Recollection "
        "Slot Status Supersession Trail Triple Turn TurnBite"
    ),
    "settings": "Settings",
    "upkeep": "PrunePolicy UpkeepPolicy",
}
"""Public names, by the module that defines them."""

if not TYPE_CHECKING:
    __all__ = sorted(name for names in _HOMES.values() for name in names.split())

    def __getattr__(name: str) -> object:
        # Importing graphmem costs nothing until a name of it is used.
        home = next((home for home, names in _HOMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module 'graphmem' has no attribute {name!r}")
        return getattr(importlib.import_module(f"graphmem.{home}"), name)

    def __dir__() -> list[str]:
        return __all__
