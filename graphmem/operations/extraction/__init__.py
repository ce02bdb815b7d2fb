"""Extraction: turns of a session are read, what is proposed of them is checked, and written."""

from graphmem.operations.extraction.reading import (
    CallReader,
    Extractor,
    ModelReader,
    ProposalReader,
    RuleReader,
)
from graphmem.operations.extraction.reviewing import accept, page, reject
from graphmem.operations.extraction.running import ExtractionOptions, extract

__all__ = [
    "CallReader",
    "ExtractionOptions",
    "Extractor",
    "ModelReader",
    "ProposalReader",
    "RuleReader",
    "accept",
    "extract",
    "page",
    "reject",
]
