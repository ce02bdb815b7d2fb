"""Background jobs: which is due, and what their runs did."""

from __future__ import annotations

from typing import Literal

from graphmem.model.terms import Instant, Record

JobName = Literal[
    "extract", "consolidate", "rate", "graduate", "compress", "plan_pruning", "roll_up", "seal"
]


class FailedUnit(Record):
    """A unit of work that failed in a background job; the other units were served."""

    tenant: str
    job: JobName
    scope: str | None
    """Scope of the unit; None if the job has the tenant as its unit."""
    unit: str | None
    """Name of the session or id of the item; None for the scope as a whole."""
    code: str
    problem: str
    failures: int
    """Number of failed attempts in a row."""
    retry_s: float
    """Seconds until the next attempt."""


class JobRun(Record):
    """One run of a background job for a tenant, over all its scopes."""

    tenant: str
    job: JobName
    at: Instant
    seconds: float
    done: int
    """Number of results: proposals, changed beliefs, episodes, sessions or planned actions."""
    summary: str
    """Number and kind of the results, or the reason of the failure."""
    error: str | None = None
    """Code of the error that ended the run; None if every scope was tried."""
    failed: tuple[FailedUnit, ...] = ()
    """Scopes, sessions and items that failed; each is skipped until its next attempt is due."""
    waiting: int = 0
    """Number of units that were skipped, because they failed before."""


class WorkerReport(Record):
    """Runs of the background jobs that were due."""

    tenants: int
    """Number of tenants examined."""
    runs: tuple[JobRun, ...]
