"""What is written about beliefs: evidence, its retraction, and what takes a belief's place."""

from graphmem.operations.evidence.checkpoints import SlotKey, long_slots
from graphmem.operations.evidence.checkpoints import forget as forget_checkpoint
from graphmem.operations.evidence.checkpoints import keep as keep_checkpoint
from graphmem.operations.evidence.marking import mark
from graphmem.operations.evidence.observing import believe, observe, observe_many, testify
from graphmem.operations.evidence.replacing import replace
from graphmem.operations.evidence.retracting import retract
from graphmem.operations.evidence.writing import embed_statements

__all__ = [
    "SlotKey",
    "believe",
    "embed_statements",
    "forget_checkpoint",
    "keep_checkpoint",
    "long_slots",
    "mark",
    "observe",
    "observe_many",
    "replace",
    "retract",
    "testify",
]
