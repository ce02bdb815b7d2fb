"""Writes about beliefs: evidence, retractions and replacements."""

from graphmem.operations.evidence.recording import (
    believe,
    mark,
    observe,
    observe_many,
    replace,
    retract,
    retract_with,
    testify,
)
from graphmem.operations.evidence.rejecting import find as find_rejection
from graphmem.operations.evidence.rejecting import rule
from graphmem.operations.evidence.writing import SlotKey, embed_statements, long_slots
from graphmem.operations.evidence.writing import forget as forget_checkpoint
from graphmem.operations.evidence.writing import keep as keep_checkpoint

__all__ = [
    "SlotKey",
    "believe",
    "embed_statements",
    "find_rejection",
    "forget_checkpoint",
    "keep_checkpoint",
    "long_slots",
    "mark",
    "observe",
    "observe_many",
    "replace",
    "retract",
    "retract_with",
    "rule",
    "testify",
]
