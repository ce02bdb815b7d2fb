"""Consolidation of passages into beliefs: read, cluster, synthesise, match and archive."""

from graphmem.operations.consolidation.running import ConsolidationOptions, consolidate
from graphmem.operations.consolidation.writing import replay

__all__ = ["ConsolidationOptions", "consolidate", "replay"]
