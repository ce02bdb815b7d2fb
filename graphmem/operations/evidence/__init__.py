"""What is written about beliefs: evidence, its retraction, and what takes a belief's place."""

from graphmem.operations.evidence.observing import believe, observe, observe_many, testify
from graphmem.operations.evidence.replacing import replace
from graphmem.operations.evidence.retracting import retract
from graphmem.operations.evidence.writing import embed_statements

__all__ = [
    "believe",
    "embed_statements",
    "observe",
    "observe_many",
    "replace",
    "retract",
    "testify",
]
