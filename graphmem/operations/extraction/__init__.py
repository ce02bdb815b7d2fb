"""Extraction of evidence from the turns of a session, and review of proposals."""

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
