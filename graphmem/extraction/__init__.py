"""Extraction of evidence from the turns of a session, and review of proposals."""

from graphmem.extraction.records import (
    AcceptedProposal,
    CardinalityProposal,
    DismissalReason,
    DismissedProposal,
    ExtractionReport,
    FailedWindow,
    PendingProposal,
    PendingRetraction,
    PendingUpdate,
    Proposal,
    ProposalPage,
    ProposalStatus,
    ReviewReport,
)

__all__ = [
    "AcceptedProposal",
    "CardinalityProposal",
    "DismissalReason",
    "DismissedProposal",
    "ExtractionReport",
    "FailedWindow",
    "PendingProposal",
    "PendingRetraction",
    "PendingUpdate",
    "Proposal",
    "ProposalPage",
    "ProposalStatus",
    "ReviewReport",
]
