"""Leases of background jobs: which is due, which worker runs it, and when it is due again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphmem import catalog
from graphmem.errors import LeaseLostError
from graphmem.ports import RequestContext, Services
from graphmem.upkeep.records import JobName

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


def retry_after(failures: int) -> float:
    """Return the seconds until a job is due again.

    Args:
        failures: number of failed runs in a row, at least 1.
    """
    return min(MIN_WAIT_S * 2.0 ** min(failures - 1, 16), MAX_WAIT_S)


async def tenants(services: Services) -> list[str]:
    """Return the names of the tenants that have content, in order."""
    found: list[str] = []
    while True:
        [name] = await services.fetch(TENANTS, after=found[-1] if found else "")
        if name is None:
            return found
        found.append(name)


async def scopes(context: RequestContext) -> Sequence[str]:
    """Return the scopes of the tenant that have content, in order."""
    return await context.fetch(SCOPES)


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
        """Extend the lease.

        Raises:
            LeaseLostError: it ran out, and another worker has taken over the job.
        """
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
