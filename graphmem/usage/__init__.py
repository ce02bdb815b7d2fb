"""Searches and reads that were logged, their ratings, audits, packs and dashboards."""

from graphmem.usage.records import (
    Audit,
    AuditFinding,
    ConsolidationWork,
    DetailLevel,
    Pack,
    PackItem,
    RatedItem,
    RatingReport,
    RatingStep,
    RatingUpdate,
    RollUpReport,
    SessionAudit,
    Severity,
    TenantStats,
    UsageCount,
    UsageDashboard,
)

__all__ = [
    "Audit",
    "AuditFinding",
    "ConsolidationWork",
    "DetailLevel",
    "Pack",
    "PackItem",
    "RatedItem",
    "RatingReport",
    "RatingStep",
    "RatingUpdate",
    "RollUpReport",
    "SessionAudit",
    "Severity",
    "TenantStats",
    "UsageCount",
    "UsageDashboard",
]
