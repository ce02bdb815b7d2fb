"""Consolidation: EXTRACT, CLUSTER, SYNTHESISE, MATCH, PRUNE, each in a module of its own."""

from graphmem.operations.consolidation.running import ConsolidationOptions, consolidate
from graphmem.operations.consolidation.writing import replay

__all__ = ["ConsolidationOptions", "consolidate", "replay"]
