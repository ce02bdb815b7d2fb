"""Leases of background jobs: which is due, which worker runs it, and when it is due again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem.errors import LeaseLostError
from graphmem.graph import catalog
from graphmem.jobs import FailedUnit, JobName
from graphmem.ports import RequestContext, Services
from graphmem.rules import identity, read_options

LEASE_S = 600
"""Duration of a lease, seconds; it is renewed before each scope."""
MIN_WAIT_S, MAX_WAIT_S = 60.0, 3_600.0
"""Seconds until a failed job is due again: doubled with each failure in a row."""

INTERVAL_S: dict[JobName, float] = {
    # These two ask for new data, so an early run is cheap; consolidation has its own interval.
    "extract": 60.0,
    "consolidate": 60.0,
    "rate": 300.0,
    "graduate": 3_600.0,
    "compress": 86_400.0,
    "plan_pruning": 86_400.0,
    "roll_up": 86_400.0,
    "seal": 3_600.0,
}
"""Seconds from the end of a run until the job is due again; the jobs in their order."""

TENANTS = catalog.query("schema/next_tenant", lambda row: row["tenant"])
SCOPES = catalog.query("upkeep/scopes", lambda row: row["scope"])
CLAIM = catalog.query("upkeep/claim_job", lambda row: row["failures"])
FINISH = catalog.query("upkeep/finish_job", catalog.ignored)
SERVED = catalog.query("schema/served_tenants", dict)
UNITS = catalog.query("upkeep/job_units", dict)
RECORD = catalog.query("upkeep/record_units", catalog.ignored)
WHOLE = ""
"""Name of the unit that is a scope as a whole."""


def retry_after(failures: int) -> float:
    """Return the seconds until a job is due again.

    Args:
        failures: number of failed runs in a row, at least 1.
    """
    return min(MIN_WAIT_S * 2.0 ** min(failures - 1, 16), MAX_WAIT_S)


async def tenants(services: Services) -> list[str]:
    """Return the names of the tenants that have content, the least recently served first."""
    found: list[str] = []
    while (
        name := (await services.fetch(TENANTS, after=found[-1] if found else ""))[0]
    ) is not None:
        found.append(name)
    served = {
        row["tenant"]: row["served_at"] for row in await services.fetch(SERVED, tenants=found)
    }
    return sorted(found, key=lambda name: (served[name] or read_options.BEGINNING, name))


@dataclass(slots=True)
class ScopeUnits:
    """Units of a job in one scope: the scope as a whole, its sessions and its items."""

    scope: str
    served_at: datetime = read_options.BEGINNING
    failures: dict[str, int] = field(default_factory=dict)
    """Failed attempts since the last success, by unit."""
    waiting: set[str] = field(default_factory=set)
    """Units whose next attempt is not due yet."""
    attempts: dict[str, tuple[str, str] | None] = field(default_factory=dict)
    """Outcomes of this run by unit: the code and message of the error, None for a success."""

    def take(self, row: Mapping[str, Any]) -> None:
        """Add what the graph remembers of a unit."""
        unit = row["unit"]
        if unit == WHOLE:
            self.served_at = row["served_at"]
        if row["failures"]:
            self.failures[unit] = row["failures"]
        if row["waiting"]:
            self.waiting.add(unit)

    def succeeded(self, unit: str) -> None:
        """Note that a unit succeeded; only an earlier failure of it needs to be removed."""
        if unit in self.failures:
            self.attempts[unit] = None

    def failed(self, unit: str, code: str, problem: str) -> None:
        """Note that a unit failed."""
        self.attempts[unit] = (code, problem)

    def failed_units(self, tenant: str, job: JobName) -> list[FailedUnit]:
        """Return the units that failed in this run."""
        return [
            FailedUnit(
                tenant=tenant,
                job=job,
                scope=self.scope,
                unit=unit or None,
                code=error[0],
                problem=error[1],
                failures=self.failures.get(unit, 0) + 1,
                retry_s=retry_after(self.failures.get(unit, 0) + 1),
            )
            for unit, error in self.attempts.items()
            if error is not None
        ]


async def scopes(context: RequestContext, job: JobName) -> list[ScopeUnits]:
    """Return the scopes of the tenant that have content, the least recently served first."""
    found = {name: ScopeUnits(name) for name in await context.fetch(SCOPES)}
    for row in await context.fetch(UNITS, name=job):
        if row["scope"] in found:
            found[row["scope"]].take(row)
    return sorted(found.values(), key=lambda one: (one.served_at, one.scope))


async def record(context: RequestContext, job: JobName, units: ScopeUnits) -> None:
    """Record the outcomes of a run in one scope."""
    outcomes = {WHOLE: None, **units.attempts}
    rows = [
        {
            "id": "unit_" + identity.digest(job, units.scope, unit)[:32],
            "scope": units.scope,
            "unit": unit,
            "error": error and error[0],
            "reason": error and error[1],
            "wait_s": retry_after(units.failures.get(unit, 0) + 1),
        }
        for unit, error in sorted(outcomes.items())
    ]
    await context.fetch(RECORD, name=job, units=rows)


@dataclass(frozen=True, slots=True)
class JobLease:
    """The right to run one job of a tenant."""

    context: RequestContext
    job: JobName
    owner: str
    """Id of the run."""
    failures: int
    """Number of failed runs in a row before this one."""

    async def renew(self) -> None:
        """Extend the lease."""
        if not await _claim(self.context, self.job, self.owner):
            raise LeaseLostError("Another worker has taken over this job.")

    async def finish(self, error: str | None = None) -> None:
        """Release the lease; the job is due again after its interval, earlier if it failed."""
        interval = INTERVAL_S[self.job]
        wait = interval if error is None else retry_after(self.failures + 1)
        await self.context.fetch(FINISH, name=self.job, owner=self.owner, error=error, wait_s=wait)


async def claim(context: RequestContext, job: JobName, owner: str) -> JobLease | None:
    """Return the lease of a job; None if it is not due or another worker runs it."""
    claimed = await _claim(context, job, owner)
    return JobLease(context, job, owner, claimed[0]) if claimed else None


async def _claim(context: RequestContext, job: JobName, owner: str) -> list[Any]:
    return await context.fetch(CLAIM, name=job, owner=owner, seconds=LEASE_S)
