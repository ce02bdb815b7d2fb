"""Consolidation: EXTRACT, CLUSTER, SYNTHESISE, MATCH, PRUNE, each in a module of its own."""

from graphmem.operations.consolidation.replaying import replay
from graphmem.operations.consolidation.running import ConsolidationOptions, consolidate

__all__ = ["ConsolidationOptions", "consolidate", "replay"]
