"""Background jobs: run those that are due, for every tenant and scope."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from pydantic import Field

from graphmem.client.admin import AsyncAdmin
from graphmem.client.episodes import AsyncEpisodes
from graphmem.client.handle import on_scope, on_tenant
from graphmem.client.jobs import AsyncJobs
from graphmem.client.state import HandleState, valid
from graphmem.client.usage import AsyncUsage
from graphmem.errors import (
    DigestFileError,
    GraphAccessError,
    GraphmemError,
    GraphUnavailableError,
    ModelUnavailableError,
)
from graphmem.extraction import job as extraction
from graphmem.extraction import readers
from graphmem.model import Name, Record
from graphmem.model.terms import GLOBAL_SCOPE
from graphmem.rules import identity
from graphmem.upkeep import JobName, JobRun, WorkerReport, schedule
from graphmem.upkeep.schedule import JobLease

log = logging.getLogger("graphmem")

QUIET = timedelta(minutes=10)
"""Time without a new turn after which a session is extracted. Until then it may continue, and a
window of its turns would end in the middle of a subject."""
SESSIONS = 100
"""Maximum number of sessions of a scope that one run extracts."""
DIGEST = "MEMORY.md"
INTERRUPTED = "interrupted"
OnJob = Callable[[JobRun], None]


class _Asked(Record):
    tenants: tuple[Name, ...] | None
    jobs: Annotated[tuple[JobName, ...], Field(min_length=1)]
    digests: Path | None


@dataclass(frozen=True, slots=True)
class _Job:
    """Work of a job in one scope."""

    work: Callable[[HandleState, Path | None], Awaitable[int]]
    results: str
    """Noun of the results that it counts, for the summary."""
    whole_tenant: bool = False
    """Whether one call covers all scopes."""


def silent(_: JobRun) -> None:
    """Ignore finished jobs."""


async def run_due(
    state: HandleState,
    tenants: Sequence[str] | None,
    jobs: Sequence[JobName],
    digests: Path | None,
    on_job: OnJob,
) -> WorkerReport:
    """Run the jobs that are due; see `AsyncGraphMem.run_jobs`."""
    asked = valid(_Asked, tenants=tenants, jobs=jobs, digests=digests)
    names = asked.tenants
    if names is None:
        names = tuple(await schedule.tenants(state.context.services))
    runs: list[JobRun] = []
    for name in names:
        for job in asked.jobs:
            run = await _run(on_tenant(state, name), job, asked.digests)
            if run is not None:
                runs.append(run)
                on_job(run)
    return WorkerReport(tenants=len(names), runs=tuple(runs))


async def _run(state: HandleState, name: JobName, digests: Path | None) -> JobRun | None:
    """Run a job of a tenant; return None if it is not due or another worker runs it.

    Raises:
        GraphUnavailableError, GraphAccessError: the graph cannot be used; the lease expires.
    """
    context = state.context
    started, start = context.services.clock.now(), time.monotonic()
    lease = await schedule.claim(context, name, identity.event_id(started))
    if lease is None:
        return None
    done, summary, error = await _outcome(state, lease, JOBS[name], digests)
    await lease.finish(error)
    return JobRun(
        tenant=context.tenant,
        job=name,
        at=started,
        seconds=round(time.monotonic() - start, 3),
        done=done,
        summary=summary,
        error=error,
    )


async def _outcome(
    state: HandleState, lease: JobLease, job: _Job, digests: Path | None
) -> tuple[int, str, str | None]:
    """Return the number of results, a summary, and the code of the error or None."""
    done = 0
    try:
        scopes = [GLOBAL_SCOPE] if job.whole_tenant else await schedule.scopes(state.context)
        for scope in scopes:
            await lease.renew()
            done += await job.work(on_scope(state, scope), digests)
    except (GraphUnavailableError, GraphAccessError):
        raise
    except GraphmemError as error:
        return done, str(error), error.code
    except Exception as error:
        # Data of one tenant must not stop the jobs of the others.
        log.exception("A job failed unexpectedly.")
        return done, f"unexpected {type(error).__name__}; see the log", "unexpected"
    except BaseException:
        # The next worker may start it at once.
        await lease.finish(INTERRUPTED)
        raise
    return done, f"{done} {job.results}", None


async def _extract(state: HandleState, _: Path | None) -> int:
    context = state.context
    if context.services.llm is None:
        return 0
    sessions = await context.fetch(
        extraction.UNREAD,
        extractor=readers.ModelReader(context.services.llm).name,
        attempts=extraction.ATTEMPTS,
        quiet=context.services.clock.now() - QUIET,
        limit=SESSIONS,
    )
    count = 0
    for session_id in sessions:
        report = await AsyncJobs(state).extract(session_id=session_id)
        count += len(report.proposals)
        _require_model((one.code, one.problem) for one in report.unread)
    return count


async def _consolidate(state: HandleState, _: Path | None) -> int:
    report = await AsyncJobs(state).consolidate(if_due=True)
    _require_model((one.code, one.problem) for one in report.troubles)
    return len(report.changes)


def _require_model(problems: Iterable[tuple[str, str]]) -> None:
    """Raise ModelUnavailableError if a model could not be reached, so that the job waits longer."""
    for code, problem in problems:
        if code == ModelUnavailableError.code:
            raise ModelUnavailableError(problem)


async def _graduate(state: HandleState, digests: Path | None) -> int:
    if digests is None:
        return 0
    # Names are quoted, so no name leads out of the folder.
    folder = digests / _quoted(state.context.tenant) / _quoted(state.context.scope)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DigestFileError(f"{folder} cannot be created: {error.strerror}.") from error
    return len((await AsyncEpisodes(state).graduate(folder / DIGEST)).episodes)


def _quoted(name: str) -> str:
    return quote(name, safe="").replace(".", "%2E")


async def _compress(state: HandleState, _: Path | None) -> int:
    return len((await AsyncEpisodes(state).compress()).episodes)


async def _plan_pruning(state: HandleState, _: Path | None) -> int:
    return len((await AsyncUsage(state).prune(dry_run=True)).items)


async def _rate(state: HandleState, _: Path | None) -> int:
    return (await AsyncUsage(state).rate()).sessions


async def _roll_up(state: HandleState, _: Path | None) -> int:
    return (await AsyncUsage(state).roll_up(dry_run=False)).searches


async def _seal(state: HandleState, _: Path | None) -> int:
    return (await AsyncAdmin(state).seal()).events


JOBS: Mapping[JobName, _Job] = {
    "extract": _Job(_extract, "proposals accepted"),
    "consolidate": _Job(_consolidate, "beliefs changed"),
    "rate": _Job(_rate, "sessions rated", whole_tenant=True),
    "graduate": _Job(_graduate, "episodes added to digests"),
    "compress": _Job(_compress, "episodes compressed"),
    "plan_pruning": _Job(_plan_pruning, "items could be pruned; `usage prune` lists them"),
    "roll_up": _Job(_roll_up, "old searches rolled up", whole_tenant=True),
    "seal": _Job(_seal, "events sealed", whole_tenant=True),
}
