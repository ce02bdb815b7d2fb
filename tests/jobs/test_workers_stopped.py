"""A worker that is stopped for longer than its lease: another does its job, and it is done once."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphmem import GraphMem, Settings
from graphmem.client import worker
from graphmem.jobs import JobName, JobRun, schedule
from graphmem.rules.prompts import Prompt
from graphmem.testing import FrozenClock, HashEmbedder, ScriptedLlm
from tests.client.test_worker import fill
from tests.plugins import children
from tests.plugins.clients import on
from tests.plugins.faults import Through, Work
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike
from tests.plugins.waiting import eventually

LATER = datetime(2027, 6, 1, tzinfo=UTC)
JOBS: tuple[JobName, ...] = (
    "extract",
    "consolidate",
    "rate",
    "graduate",
    "compress",
    "roll_up",
    "seal",
)
HOME = "For years I have been at home in Porto."
"""A fact that only a model reads: the rules read the others at the end of a session."""
CITY = {
    "proposals": [
        {
            "turn": "t1",
            "quote": HOME,
            "subject": "user",
            "predicate": "lives_in",
            "object": "Porto",
            "polarity": "supporting",
            "confidence": 0.9,
        }
    ]
}

SWIMMING = {
    "statement": "I swim across the cold lake before breakfast every day",
    "confidence": 0.8,
    "episodes": ["e1", "e2", "e3"],
}


def reply(prompt: Prompt[Any]) -> dict[str, Any]:
    """Return a reply to a prompt of extraction or of consolidation."""
    return CITY if "proposals" in prompt.reply.model_fields else SWIMMING


class Stopped(Through):
    """Stops before its n-th write until the callback returns."""

    def __init__(self, inner: Any, nth: int, meanwhile: Callable[[], object]) -> None:
        super().__init__(inner)
        self.left = nth
        self.meanwhile = meanwhile

    async def write(self, work: Work[Any]) -> Any:
        self.left -= 1
        if self.left == 0:
            self.meanwhile()
        return await self.inner.write(work)


def prepared(client: GraphMem) -> str:
    """Give each job something to do, in two scopes of a new tenant; return its name."""
    tenant = client.tenant(fresh_tenant())
    for scope in (tenant, tenant.scope("user:alice")):
        fill(scope)
        session = scope.session("quiet")
        session.add_messages([{"role": "user", "content": HOME}])
        known = str(session.remember(unlike(1)).memory_id)
        with session:
            session.usage.log_search("where?", tool="grep", results=[known, ("file", "a.py")])
            session.expand(known)
    tenant.usage.flush()
    return tenant._state.context.tenant


def work(client: GraphMem, tenant: str, folder: Path, *jobs: JobName, **ports: Any) -> list[JobRun]:
    """Run jobs as a worker, months later."""
    if not jobs:
        return []
    given = on(client, clock=FrozenClock(LATER), llm=ScriptedLlm(reply), **ports)
    with pytest.MonkeyPatch.context() as patch:
        # The server's clock says when a session was quiet, and it is not months later.
        patch.setattr(worker, "QUIET_S", 0.0)
        return [*given.run_jobs(tenants=[tenant], jobs=jobs, digests=folder).runs]


def state(client: GraphMem, look: Look, tenant: str, folder: Path) -> Any:
    """Return what the jobs have made, without ids that differ between runs."""
    memory = client.tenant(tenant)
    report = memory.admin.verify()
    assert report.wrong == ()
    made = Counter((event["type"], event["scope"]) for event in look.events(tenant).values())
    digests = {one.parent.name: one.read_text("utf-8") for one in folder.rglob(worker.DIGEST)}
    return made, look.count(tenant), digests, report.seals and report.seals.sealed


@pytest.mark.system
@pytest.mark.parametrize("job", JOBS)
def test_what_another_worker_did_meanwhile_is_done_once(
    client: GraphMem, look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: JobName
) -> None:
    monkeypatch.setattr(schedule, "LEASE_S", -1)  # Each lease has run out at once.
    before = JOBS[: JOBS.index(job)]
    whole = prepared(client)
    assert work(client, whole, tmp_path / "whole", *before, job)[-1].done > 0
    wanted = state(client, look, whole, tmp_path / "whole")
    nth, stopped = 1, True
    while stopped:
        nth, stopped = nth + 1, False
        folder = tmp_path / str(nth)
        tenant = prepared(client)
        work(client, tenant, folder, *before)

        def meanwhile(tenant: str = tenant, folder: Path = folder) -> None:
            nonlocal stopped
            stopped = True
            [other] = work(client, tenant, folder, job)
            assert other.error is None

        graph = Stopped(client._state.context.services.graph, nth, meanwhile)
        [run] = work(client, tenant, folder, job, graph=graph)
        assert run.error in (None, "lease_lost")
        assert state(client, look, tenant, folder) == wanted
    assert nth >= 3


def run_slowly(nth: str, folder: str) -> None:
    """Run all jobs in this process; wait for a line before the n-th write."""
    with pytest.MonkeyPatch.context() as patch, GraphMem.open(embedder=HashEmbedder()) as client:
        patch.setattr(schedule, "LEASE_S", 1)

        def meanwhile() -> None:
            print("stopped", flush=True)
            sys.stdin.readline()

        graph = Stopped(client._state.context.services.graph, int(nth), meanwhile)
        tenant = client._state.context.tenant
        for one in work(client, tenant, Path(folder), *JOBS, graph=graph):
            assert one.error in (None, "lease_lost"), one
    print("finished", flush=True)


CHILD = "import sys, tests.jobs.test_workers_stopped as t; t.run_slowly(*sys.argv[1:])"
RUN_OUT = (
    "MATCH (j:Job) WHERE j.tenant = $tenant AND j.owner IS NOT NULL AND j.until > datetime() "
    "RETURN j.name AS name"
)


@pytest.mark.system
@pytest.mark.timeout(600)
@pytest.mark.parametrize("nth", [2, 6, 12, 25])
def test_a_process_that_is_stopped_and_continued_repeats_nothing(
    client: GraphMem, look: Look, migrated: Settings, tmp_path: Path, nth: int
) -> None:
    whole = prepared(client)
    work(client, whole, tmp_path / "whole", *JOBS)
    wanted = state(client, look, whole, tmp_path / "whole")
    tenant = prepared(client)
    given = (str(nth), str(tmp_path / "shared"))
    with children.running(CHILD, *given, settings=migrated, tenant=tenant) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "stopped\n"
        child.send_signal(signal.SIGSTOP)
        child.stdin.write("\n")
        child.stdin.flush()
        eventually(lambda: not look.rows(RUN_OUT, tenant=tenant))
        work(client, tenant, tmp_path / "shared", *JOBS)
        child.send_signal(signal.SIGCONT)
        assert child.stdout.readline() == "finished\n", child.communicate()[1]
    # What was reserved by the stopped process is written by it, perhaps after the seal.
    client.tenant(tenant).admin.seal()
    assert state(client, look, tenant, tmp_path / "shared") == wanted
