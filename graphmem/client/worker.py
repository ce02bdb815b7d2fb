"""Background jobs: run those that are due, for every tenant and scope.

Every unit of work fails alone: a tenant, a scope, a session, an item. What failed is recorded with
its reason and the time of the next attempt, and skipped until then, so that the others are served.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from graphmem.client.admin import AsyncAdmin
from graphmem.client.episodes import AsyncEpisodes
from graphmem.client.handle import on_scope, on_tenant
from graphmem.client.jobs import AsyncJobs
from graphmem.client.state import HandleState
from graphmem.client.usage import AsyncUsage
from graphmem.errors import (
    ClientClosedError,
    DigestFileError,
    ErasedError,
    GraphAccessError,
    GraphmemError,
    GraphUnavailableError,
    LeaseLostError,
    ModelReplyError,
    ModelUnansweredError,
    ModelUnavailableError,
    TenantArrivingError,
    TenantMovedError,
)
from graphmem.extraction import job as extraction
from graphmem.extraction import readers
from graphmem.jobs import FailedUnit, JobName, JobRun, WorkerReport, schedule
from graphmem.jobs.schedule import WHOLE, JobLease, ScopeUnits
from graphmem.model.terms import GLOBAL_SCOPE, Record
from graphmem.ports import Answer, Llm, Prompt
from graphmem.rules import identity
from graphmem.rules.prompts import M
from graphmem.upkeep import FailedItem, compression

T = TypeVar("T")
log = logging.getLogger("graphmem")

QUIET_S = 600.0
"""Seconds without a new turn after which a session is extracted. Until then it may continue, and a
window of its turns would end in the middle of a subject."""
SESSIONS = 100
"""Sessions that are listed at a time."""
DIGEST = "MEMORY.md"
MAX_FOLDER_CHARS = 200
"""Maximum length of a folder's name; most file systems accept 255 bytes."""
INTERRUPTED = "interrupted"
OnJob = Callable[[JobRun], None]


@dataclass(frozen=True, slots=True)
class _Part:
    """A scope in which a job runs, and what it knows of its units."""

    state: HandleState
    units: ScopeUnits
    lease: JobLease
    digests: Path | None


@dataclass(frozen=True, slots=True)
class _Job:
    """Work of a job in one scope."""

    work: Callable[[_Part], Awaitable[int]]
    results: str
    """Noun of the results that it counts, for the summary."""
    whole_tenant: bool = False
    """Whether one call covers all scopes."""


@dataclass(slots=True)
class _Outcome:
    """Results of a run so far."""

    done: int = 0
    error: Exception | None = None
    failed: list[FailedUnit] = field(default_factory=list)
    waiting: int = 0


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
    services = state.context.services
    names = await schedule.tenants(services) if tenants is None else tenants
    if services.llm is not None:
        services = replace(services, llm=_ProbedLlm(services.llm))
        state = replace(state, context=replace(state.context, services=services))
    runs: list[JobRun] = []
    for name in names:
        for job in jobs:
            run = await _run(on_tenant(state, name), job, digests)
            if run is not None:
                runs.append(run)
                on_job(run)
                if run.error == ErasedError.code:
                    # Its erasure has not ended, or ended just now: no job can run.
                    break
    return WorkerReport(tenants=len(names), runs=tuple(runs))


async def _attempt(state: HandleState, work: Awaitable[T]) -> tuple[T | None, Exception | None]:
    """Return the result of work on one unit, or the error that only concerns this unit."""
    try:
        return await work, None
    except (GraphAccessError, ClientClosedError):
        raise
    except GraphUnavailableError as error:
        # A transaction that timed out or was rejected does not show an outage.
        await schedule.tenants(state.context.services)
        return None, error
    except GraphmemError as error:
        return None, error
    except Exception as error:
        log.exception("A background job failed unexpectedly.")
        return None, error


def _shown(error: Exception) -> tuple[str, str]:
    """Return the code and the message of an error."""
    if isinstance(error, GraphmemError):
        return error.code, str(error)
    return "unexpected", f"unexpected {type(error).__name__}; see the log"


async def _run(state: HandleState, name: JobName, digests: Path | None) -> JobRun | None:
    """Run a job of a tenant; return None if it is not due, runs elsewhere, or the tenant moves."""
    context = state.context
    started, start = context.services.clock.now(), time.monotonic()
    outcome = _Outcome()
    owner = identity.event_id(started)
    lease, outcome.error = await _attempt(state, schedule.claim(context, name, owner))
    moves = isinstance(outcome.error, TenantMovedError | TenantArrivingError)
    if lease is None and (outcome.error is None or moves):
        return None
    if lease is not None:
        outcome.error = await _serve(state, lease, digests, outcome)
        code = None if outcome.error is None else _shown(outcome.error)[0]
        _, unfinished = await _attempt(state, lease.finish(code))
        outcome.error = outcome.error or unfinished
    error, problem = _shown(outcome.error) if outcome.error else (None, None)
    return JobRun(
        tenant=context.tenant,
        job=name,
        at=started,
        seconds=round(time.monotonic() - start, 3),
        done=outcome.done,
        summary=problem or f"{outcome.done} {JOBS[name].results}",
        error=error,
        failed=tuple(outcome.failed),
        waiting=outcome.waiting,
    )


async def _serve(
    state: HandleState, lease: JobLease, digests: Path | None, outcome: _Outcome
) -> Exception | None:
    """Do the work of a job in each scope and return the error that ended it, if any."""
    job = JOBS[lease.job]
    try:
        if job.whole_tenant:
            part = _Part(state, ScopeUnits(GLOBAL_SCOPE), lease, digests)
            done, error = await _attempt(state, job.work(part))
            outcome.done += done or 0
            return error
        scopes, error = await _attempt(state, schedule.scopes(state.context, lease.job))
        for units in scopes or ():
            if error is not None:
                break
            if WHOLE in units.waiting:
                outcome.waiting += 1
            else:
                part = _Part(on_scope(state, units.scope), units, lease, digests)
                error = await _serve_scope(part, outcome)
    except (GraphUnavailableError, GraphAccessError, ClientClosedError):
        raise
    except BaseException:
        # The next worker may start it at once.
        await lease.finish(INTERRUPTED)
        raise
    return error


async def _serve_scope(part: _Part, outcome: _Outcome) -> Exception | None:
    """Do the work of a job in one scope; return the error that ends the whole job, if any."""
    state, units, lease = part.state, part.units, part.lease
    _, error = await _attempt(state, lease.renew())
    if error is not None:
        return error
    done, error = await _attempt(state, JOBS[lease.job].work(part))
    outcome.done += done or 0
    down = isinstance(error, ModelUnavailableError) and not isinstance(error, ModelUnansweredError)
    if error is not None and not down:
        units.failed(WHOLE, *_shown(error))
    _, unrecorded = await _attempt(state, schedule.record(state.context, lease.job, units))
    # Nothing can be recorded about a scope that was erased meanwhile; nothing is left to do there.
    if not isinstance(unrecorded, ErasedError):
        outcome.failed += units.failed_units(state.context.tenant, lease.job)
        outcome.waiting += len(units.waiting)
    if down or isinstance(error, LeaseLostError):
        return error
    return None if isinstance(unrecorded, ErasedError) else unrecorded


class _Ok(Record):
    """Reply of a probe."""

    ok: bool


PROBE = Prompt(
    name="probe", system="Answer with JSON only.", user='Answer {"ok": true}.', reply=_Ok
)


class _ProbedLlm:
    """A language model with a probe, which distinguishes one unanswered request from an outage.

    A text on which a model never answers would otherwise look like an outage, and stop the work on
    all texts after it.
    """

    def __init__(self, inner: Llm) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._inner.name

    async def answer(self, prompt: Prompt[M]) -> Answer[M]:
        """Return the model's reply; see `Llm.answer`."""
        try:
            return await self._inner.answer(prompt)
        except ModelUnavailableError as error:
            try:
                await self._inner.answer(PROBE)
            except ModelReplyError:
                pass  # It is an answer.
            except ModelUnavailableError:
                raise error from None
            raise ModelUnansweredError(str(error)) from error


def _require_model(problems: Iterable[tuple[str, str]]) -> None:
    """Raise ModelUnavailableError if a model could not be reached, so that the job waits longer."""
    for code, problem in problems:
        if code == ModelUnavailableError.code:
            raise ModelUnavailableError(problem)


async def _extract(part: _Part) -> int:
    context, units = part.state.context, part.units
    if context.services.llm is None:
        return 0
    asked = {
        "extractor": readers.ModelReader(context.services.llm).name,
        "attempts": extraction.ATTEMPTS,
        "quiet_s": QUIET_S,
        "limit": SESSIONS,
    }
    count = 0
    served = set(units.waiting)
    while sessions := await context.fetch(extraction.UNREAD, skipped=sorted(served), **asked):
        served |= set(sessions)
        for session_id in sessions:
            count += await _extract_session(part, session_id)
        await part.lease.renew()
    return count


async def _extract_session(part: _Part, session_id: str) -> int:
    """Extract a session and return the number of accepted proposals."""
    report, error = await _attempt(part.state, AsyncJobs(part.state).extract(session_id=session_id))
    if report is None:
        if error is not None:
            part.units.failed(session_id, *_shown(error))
        return 0
    _require_model((one.code, one.problem) for one in report.unread)
    problems = [(one.code, one.problem) for one in report.unread if not one.given_up]
    if problems:
        part.units.failed(session_id, *problems[0])
    else:
        part.units.succeeded(session_id)
    return len(report.proposals)


async def _consolidate(part: _Part) -> int:
    report = await AsyncJobs(part.state).consolidate(if_due=True)
    _require_model((one.code, one.problem) for one in report.troubles)
    if report.skipped is None:
        problems = {one.reply_id: one for one in report.troubles if not one.given_up}
        for reply_id in part.units.failures.keys() - problems.keys():
            part.units.succeeded(reply_id)
        for reply_id, one in problems.items():
            part.units.failed(reply_id, one.code, one.problem)
    return len(report.changes)


async def _graduate(part: _Part) -> int:
    if part.digests is None:
        return 0
    context = part.state.context
    # Names are quoted, so no name leads out of the folder.
    folder = part.digests / _folder_name(context.tenant) / _folder_name(context.scope)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DigestFileError(f"{folder} cannot be created: {error.strerror}.") from error
    report = await compression.graduate(
        context,
        folder / DIGEST,
        context.services.settings.upkeep,
        apply=True,
        skipped=sorted(part.units.waiting),
    )
    _note(part, (one.episode_id for one in report.episodes), report.failed)
    return len(report.episodes)


def _folder_name(name: str) -> str:
    """Return the name of a folder for a tenant or scope; a long one ends in its digest."""
    quoted = quote(name, safe="").replace(".", "%2E")
    if len(quoted) <= MAX_FOLDER_CHARS:
        return quoted
    return f"{quoted[: MAX_FOLDER_CHARS - 33]}-{identity.digest(name)[:32]}"


def _note(part: _Part, done: Iterable[str], failed: Iterable[FailedItem]) -> None:
    """Record the items that were written, and those that failed."""
    for item_id in done:
        part.units.succeeded(item_id)
    for one in failed:
        part.units.failed(one.id, one.code, one.problem)


async def _compress(part: _Part) -> int:
    report = await AsyncEpisodes(part.state).compress()
    _note(part, (one.episode_id for one in report.episodes), report.failed)
    return len(report.episodes)


async def _plan_pruning(part: _Part) -> int:
    return len((await AsyncUsage(part.state).prune(dry_run=True)).items)


async def _rate(part: _Part) -> int:
    return (await AsyncUsage(part.state).rate()).sessions


async def _roll_up(part: _Part) -> int:
    return (await AsyncUsage(part.state).roll_up(dry_run=False)).searches


async def _seal(part: _Part) -> int:
    return (await AsyncAdmin(part.state).seal()).events


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
