"""What agents did in their sessions, and what of it was against the search protocol."""

from __future__ import annotations

from enum import StrEnum

from graphmem.model.terms import Instant, Record


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    """What was done is lost for the ratings."""
    WARNING = "warning"
    """It was done in another way than is good."""
    INFO = "info"
    """It may have been done for a good reason."""


class AuditFinding(Record):
    """What was done against the protocol."""

    code: str
    """keyword_for_concept, search_without_session, access_without_session, access_without_search,
    access_before_search or session_not_ended."""
    severity: Severity
    message: str
    """What was wrong, and what to do."""
    ids: tuple[str, ...]
    """Of the searches, of the items opened, or of the session; a session before its items."""


class SessionAudit(Record):
    """What was done in one session."""

    id: str
    """Of the event that began it."""
    session_id: str
    agent: str | None
    scope: str
    started_at: Instant
    ended_at: Instant | None
    """None: it goes on, or was forgotten."""
    searches: int
    accesses: int
    lost: int | None
    """How much of what was logged is not in the graph; None: nobody can tell, as it has not ended
    or was ended by rating."""


class Audit(Record):
    """Sessions of a time, and findings, the worst first."""

    sessions: tuple[SessionAudit, ...]
    """Newest first."""
    findings: tuple[AuditFinding, ...]
