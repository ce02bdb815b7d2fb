"""Compression, graduation and pruning of unused data."""

from graphmem.upkeep.records import (
    CompressedEpisode,
    CompressionReport,
    FailedItem,
    GraduatedEpisode,
    GraduationReport,
    PinReceipt,
    PruneAction,
    PruneCandidate,
    PrunePolicy,
    PruneRecord,
    PruneReport,
    PruneRestoreReport,
    RestoredEpisode,
    UpkeepPolicy,
)

__all__ = [
    "CompressedEpisode",
    "CompressionReport",
    "FailedItem",
    "GraduatedEpisode",
    "GraduationReport",
    "PinReceipt",
    "PruneAction",
    "PruneCandidate",
    "PrunePolicy",
    "PruneRecord",
    "PruneReport",
    "PruneRestoreReport",
    "RestoredEpisode",
    "UpkeepPolicy",
]
