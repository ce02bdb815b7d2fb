"""Integrity: caches are compared with the events and rebuilt, and events are sealed."""

from graphmem.integrity.records import (
    BackfillReport,
    Mismatch,
    RebuildReport,
    SealReport,
    SealState,
    SkippedMemories,
)

__all__ = [
    "BackfillReport",
    "Mismatch",
    "RebuildReport",
    "SealReport",
    "SealState",
    "SkippedMemories",
]
