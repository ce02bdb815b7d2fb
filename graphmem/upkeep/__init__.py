"""Compression, graduation and pruning of unused data; checks and rebuilds of caches."""

from graphmem.upkeep.records import (
    BackfillReport,
    CompressedEpisode,
    CompressionReport,
    GraduatedEpisode,
    GraduationReport,
    Mismatch,
    PruneAction,
    PruneCandidate,
    PrunePolicy,
    PruneRecord,
    PruneReport,
    PruneRestoreReport,
    RebuildReport,
    RestoredEpisode,
    SkippedNodes,
    UpkeepPolicy,
)

__all__ = [
    "BackfillReport",
    "CompressedEpisode",
    "CompressionReport",
    "GraduatedEpisode",
    "GraduationReport",
    "Mismatch",
    "PruneAction",
    "PruneCandidate",
    "PrunePolicy",
    "PruneRecord",
    "PruneReport",
    "PruneRestoreReport",
    "RebuildReport",
    "RestoredEpisode",
    "SkippedNodes",
    "UpkeepPolicy",
]
