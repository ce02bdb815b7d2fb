"""Extraction: turns of a session are read, what is proposed of them is checked, and written."""

from graphmem.operations.extraction.readers import (
    CallReader,
    Extractor,
    ModelReader,
    Reader,
    RuleReader,
)
from graphmem.operations.extraction.reviewing import accept, page, reject
from graphmem.operations.extraction.running import How, extract

__all__ = [
    "CallReader",
    "Extractor",
    "How",
    "ModelReader",
    "Reader",
    "RuleReader",
    "accept",
    "extract",
    "page",
    "reject",
]
