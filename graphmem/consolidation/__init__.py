"""Consolidation of passages into beliefs: read, cluster, synthesise, match and archive."""

from graphmem.consolidation.records import (
    BeliefChange,
    BeliefChangeKind,
    ClusterFailure,
    ConsolidationPolicy,
    ConsolidationReport,
    ConsolidationStatus,
    Quote,
)

__all__ = [
    "BeliefChange",
    "BeliefChangeKind",
    "ClusterFailure",
    "ConsolidationPolicy",
    "ConsolidationReport",
    "ConsolidationStatus",
    "Quote",
]
