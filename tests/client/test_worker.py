"""One worker runs the background jobs of every tenant and scope, and two share them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import neo4j
import pytest

from graphmem import Handle
from graphmem.client import worker
from graphmem.errors import GraphUnavailableError, InvalidInputError, ModelUnavailableError
from graphmem.jobs import JobRun, WorkerReport, schedule
from graphmem.testing import FrozenClock, ScriptedLlm
from tests.plugins.clients import Door
from tests.plugins.episodes import SWIMS, tell
from tests.plugins.faults import OnlyTenants, Through
from tests.plugins.graph import Look, fresh_tenant


def plain(client: Any) -> Any:
    """Return the client without the wrapper that runs its coroutines."""
    return getattr(client, "_inner", client)


LONG = "How was the garden? " * 30
PAST = datetime(2026, 1, 5, tzinfo=UTC)


def outcomes(report: WorkerReport) -> dict[tuple[str, str], tuple[int, str | None]]:
    return {(run.tenant, run.job): (run.done, run.error) for run in report.runs}


def fill(handle: Handle) -> None:
    """Store what makes every job but extraction find something."""
    for n in range(10):
        handle.episodes.add(session_id=f"old{n}", content=LONG, importance=0.3, at=PAST)
    handle.episodes.add(session_id="decided", summary="We chose Porto.", importance=0.9, at=PAST)
    tell(handle, SWIMS)


def test_every_scope_of_every_tenant_is_served(door: Door, look: Look, tmp_path: Path) -> None:
    first, second = fresh_tenant(), fresh_tenant()
    with door.open() as client:
        fill(client.tenant(first).scope("user:alice"))
        fill(client.tenant(second))
        seen: list[JobRun] = []
        report = client.run_jobs(tenants=[first, second], digests=tmp_path, on_job=seen.append)
        assert report.tenants == 2
        assert list(report.runs) == seen
        assert outcomes(report) == {
            (tenant, job): (done, None)
            for tenant in (first, second)
            for job, done in {
                "extract": 0,
                "consolidate": 1,
                "rate": 0,
                "graduate": 1,
                "compress": 10,
                "plan_pruning": 0,
                "roll_up": 0,
                "seal": 14,
            }.items()
        }
        assert "We chose Porto." in (tmp_path / first / "user%3Aalice" / worker.DIGEST).read_text(
            "utf-8"
        )
        [belief] = client.tenant(second).beliefs.list().beliefs
        assert "lake" in belief.statement
        # Nothing is due again, and the state is in the statistics of the tenant.
        assert client.run_jobs(tenants=[first, second], digests=tmp_path).runs == ()
        states = {one.job: one for one in client.tenant(first).admin.stats().jobs}
        assert states.keys() == set(schedule.INTERVAL_S)
        for job, seconds in schedule.INTERVAL_S.items():
            state = states[job]
            assert (state.running, state.failures, state.error) == (False, 0, None)
            assert state.finished_at is not None
            assert state.due_at is not None
            wait = state.due_at - state.finished_at
            assert wait == timedelta(seconds=seconds)


def test_all_tenants_are_served_by_default(door: Door) -> None:
    first, second = fresh_tenant(), fresh_tenant()
    with door.open() as client:
        for name in (first, second):
            client.tenant(name).remember("The night train goes to Porto.")
        graph = OnlyTenants(plain(client)._state.context.services.graph, first, second)
        report = door.on(client, graph=graph).run_jobs(jobs=["rate"])
    assert report.tenants == 2
    assert outcomes(report) == {(name, "rate"): (0, None) for name in (first, second)}


@pytest.fixture
def always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every job due again at once."""
    for job in schedule.INTERVAL_S:
        monkeypatch.setitem(schedule.INTERVAL_S, job, 0.0)


def test_a_session_is_extracted_when_it_is_quiet(
    door: Door, tenant: str, always_due: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = ScriptedLlm(lambda _: {"proposals": []})
    with door.open(llm=llm) as client:
        client.tenant(tenant).session("s").add_messages(
            [{"role": "user", "content": "I live in Porto."}]
        )
        client.run_jobs(tenants=[tenant], jobs=["extract"])
        assert llm.prompts == []
        # The server's clock decides, not that of the worker.
        late = door.on(client, clock=FrozenClock(datetime.now(UTC) + timedelta(days=2)))
        late.run_jobs(tenants=[tenant], jobs=["extract"])
        assert llm.prompts == []
        monkeypatch.setattr(worker, "QUIET_S", 0.0)
        for _ in range(2):  # A turn is read once.
            report = late.run_jobs(tenants=[tenant], jobs=["extract"])
            assert outcomes(report) == {(tenant, "extract"): (0, None)}
            assert ["I live in Porto." in one.user for one in llm.prompts] == [True]


def test_a_failed_job_waits_and_the_others_go_on(
    door: Door, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "QUIET_S", 0.0)
    llm = ScriptedLlm(lambda _: ModelUnavailableError("down"))
    clock = FrozenClock(datetime.now(UTC))
    with door.open(llm=llm) as client:
        handle = client.tenant(tenant)
        handle.session("s").add_messages([{"role": "user", "content": "I live in Porto."}])
        late = door.on(client, clock=clock)
        began = datetime.now(UTC)
        report = late.run_jobs(tenants=[tenant], jobs=["extract", "rate"])
        ended = datetime.now(UTC)
        assert outcomes(report) == {
            (tenant, "extract"): (0, "model_unavailable"),
            (tenant, "rate"): (0, None),
        }
        [state] = [one for one in handle.admin.stats().jobs if one.job == "extract"]
        assert (state.failures, state.error, state.finished_at) == (1, "model_unavailable", None)
        assert state.due_at is not None
        # The clock of the server counts.
        slack = timedelta(seconds=5)
        failed_at = state.due_at - timedelta(seconds=schedule.MIN_WAIT_S)
        assert began - slack <= failed_at <= ended + slack
        assert late.run_jobs(tenants=[tenant], jobs=["extract", "rate"]).runs == ()


def test_each_failure_in_a_row_counts_and_a_success_ends_the_row(
    door: Door, tenant: str, monkeypatch: pytest.MonkeyPatch, always_due: None
) -> None:
    counted: list[int] = []

    def retry_after(failures: int) -> float:
        counted.append(failures)
        return 0.0

    monkeypatch.setattr(schedule, "retry_after", retry_after)
    results: list[int | None] = [None, None, 3, None]

    async def work(*_: Any) -> int:
        result = results.pop(0)
        if result is None:
            raise ModelUnavailableError("down")
        return result

    monkeypatch.setitem(worker.JOBS, "rate", worker._Job(work, "done", whole_tenant=True))
    with door.open() as client:
        while results:
            client.run_jobs(tenants=[tenant], jobs=["rate"])
    assert counted == [1, 2, 1]


def test_the_wait_after_failures_is_bounded() -> None:
    waits = [schedule.retry_after(failures) for failures in (1, 2, 3, 6, 7, 1_000)]
    assert waits == [60, 120, 240, 1_920, 3_600, 3_600]


def test_an_error_of_one_tenant_does_not_stop_the_others(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = fresh_tenant(), fresh_tenant()

    async def work(part: worker._Part) -> int:
        if part.state.context.tenant == bad:
            raise TypeError("secret words of a memory")
        return 7

    monkeypatch.setitem(worker.JOBS, "rate", worker._Job(work, "done", whole_tenant=True))
    with door.open() as client:
        report = client.run_jobs(tenants=[bad, good], jobs=["rate"])
    assert outcomes(report) == {(bad, "rate"): (0, "unexpected"), (good, "rate"): (7, None)}
    assert report.runs[0].summary == "unexpected TypeError; see the log"
    assert "A background job failed unexpectedly." in caplog.text


def test_a_job_is_run_by_one_worker_at_a_time(
    door: Door, tenant: str, monkeypatch: pytest.MonkeyPatch, always_due: None
) -> None:
    inside: list[WorkerReport] = []
    with door.open() as client, door.open() as other:

        async def work(_: worker._Part) -> int:
            inner = plain(other)
            inside.append(
                await worker.run_due(inner._state, [tenant], ["rate"], None, worker.silent)
            )
            return 1

        monkeypatch.setitem(worker.JOBS, "rate", worker._Job(work, "done", whole_tenant=True))
        assert outcomes(client.run_jobs(tenants=[tenant], jobs=["rate"])) == {
            (tenant, "rate"): (1, None)
        }
    assert [one.runs for one in inside] == [()]


def test_a_lease_that_ran_out_is_taken_over(
    door: Door, tenant: str, monkeypatch: pytest.MonkeyPatch, always_due: None
) -> None:
    monkeypatch.setattr(schedule, "LEASE_S", 0)
    calls: list[str] = []
    with door.open() as client, door.open() as other:

        async def work(_: worker._Part) -> int:
            calls.append("")
            if len(calls) == 1:
                inner = plain(other)
                await worker.run_due(inner._state, [tenant], ["rate"], None, worker.silent)
            return len(calls)

        monkeypatch.setitem(worker.JOBS, "rate", worker._Job(work, "done", whole_tenant=True))
        client.run_jobs(tenants=[tenant], jobs=["rate"])
        # The first worker's release is not that of the second one's lease.
        [state] = client.tenant(tenant).admin.stats().jobs
    assert len(calls) == 2
    assert (state.failures, state.error) == (0, None)


def test_an_interrupted_job_is_free_at_once(
    door: Door, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(*_: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(worker.JOBS, "rate", worker._Job(work, "done", whole_tenant=True))
    monkeypatch.setattr(schedule, "MIN_WAIT_S", 0.0)
    with door.open() as client:
        with pytest.raises(KeyboardInterrupt):
            client.run_jobs(tenants=[tenant], jobs=["rate"])
        [state] = client.tenant(tenant).admin.stats().jobs
        assert (state.running, state.error) == (False, worker.INTERRUPTED)


class Gone(Through):
    """A graph that cannot be reached."""

    async def read(self, work: Any) -> Any:
        del work
        raise GraphUnavailableError("gone")

    write = read


def test_an_unreachable_graph_ends_the_run(door: Door, tenant: str) -> None:
    with door.open() as client:
        broken = door.on(client, graph=Gone(plain(client)._state.context.services.graph))
        with pytest.raises(GraphUnavailableError):
            broken.run_jobs(tenants=[tenant], jobs=["rate"])


def test_an_unknown_job_is_refused(door: Door) -> None:
    with door.open() as client:
        for jobs in (["dance"], []):
            with pytest.raises(InvalidInputError, match="jobs"):
                client.run_jobs(jobs=jobs)  # type: ignore[arg-type]


def test_erasing_a_tenant_removes_its_jobs(door: Door, look: Look, tenant: str) -> None:
    with door.open() as client:
        client.tenant(tenant).remember("The night train goes to Porto.")
        client.run_jobs(tenants=[tenant], jobs=["rate"])
        found = "MATCH (j:Job {tenant: $tenant}) RETURN j.name AS name"
        assert look.rows(found, tenant=tenant) == [{"name": "rate"}]
        client.tenant(tenant).admin.erase_tenant(dry_run=False)
        assert look.rows(found, tenant=tenant) == []


def test_a_job_that_ended_before_the_servers_clock_was_set_back_is_due(
    door: Door, driver: neo4j.Driver, tenant: str
) -> None:
    with door.open() as client:
        client.tenant(tenant).remember("The night train goes to Porto.")
        assert len(client.run_jobs(tenants=[tenant], jobs=["rate"]).runs) == 1
        driver.execute_query(
            "MATCH (j:Job {tenant: $tenant}) SET j.served_at = j.served_at + duration('P9D'), "
            "j.due_at = j.due_at + duration('P9D')",
            tenant=tenant,
        )
        assert len(client.run_jobs(tenants=[tenant], jobs=["rate"]).runs) == 1
        assert client.run_jobs(tenants=[tenant], jobs=["rate"]).runs == ()
