"""Pruning, compression and roll-up that die at any write: the next run ends as one run does."""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from graphmem import GraphMem, Handle, Settings
from graphmem.errors import GraphUnavailableError
from graphmem.model import Message
from graphmem.ports import Tx
from graphmem.testing import FrozenClock, HashEmbedder
from graphmem.upkeep import compression, pruning
from graphmem.usage import access_log
from tests.cypher.attention.test_rating_equals_oracle import Log, ratings, things, written
from tests.plugins import children
from tests.plugins.clients import on, on_tenant
from tests.plugins.faults import Dying, Through, Work
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.ratings import MARCH, Rate
from tests.plugins.texts import unlike

LONG = "Ann moved to Porto in May. " * 40
LATER = MARCH + timedelta(days=400)
EPISODES = [f"text {n}" for n in range(4)]


@dataclass(frozen=True)
class Job:
    """A job that writes in several transactions."""

    fill: Callable[[Handle], None]
    run: Callable[[Handle], Any]
    state: Callable[[Handle, Look], Any]
    """Results of reads afterwards, without ids that differ between runs."""


def conversations(memory: Handle) -> None:
    """Write four long texts and a conversation."""
    for name in EPISODES:
        memory.episodes.add(episode_id=name, content=LONG, at=MARCH)
    with memory.session("talk") as session:
        session.add_messages([Message(role="user", content=unlike(3), at=MARCH)])


def searches(memory: Handle) -> None:
    """Log six sessions with searches, and one search outside any session."""
    log = Log(memory, things(memory, 3), 1)
    for _ in range(6):
        written(memory, log.session())
    memory.usage.log_search("where?", tool="grep")
    memory.usage.flush()
    memory.usage.rate()


def put_away(memory: Handle, look: Look) -> Any:
    """Return what became of each episode; then restore all, and return their texts."""
    tenant = memory._state.context.tenant
    events = look.events(tenant).values()
    archives = look.rows(
        "MATCH (a:Archive {tenant: $tenant}) RETURN a.episode_id AS of, a.sha256 AS sha256",
        tenant=tenant,
    )
    made = Counter((e["type"], *[str(edge) for edge in e["edges"]]) for e in events)
    listed = sorted((r.id, r.action, r.sha256, r.away) for r in memory.usage.prune_manifest())
    for run in {record.run_id for record in memory.usage.prune_manifest()}:
        memory.usage.restore_pruned(run)
    for name in EPISODES:
        memory.episodes.restore(name)
    texts = [memory.episodes.get(name).content for name in EPISODES]
    return made, sorted(map(repr, archives)), listed, texts


def rolled_up(memory: Handle, look: Look) -> Any:
    """Return the numbers that the log has and had, and the ratings that rest on it."""
    tenant = memory._state.context.tenant
    events = list(look.events(tenant).values())
    gone = [json.loads(e["payload"]) for e in events if e["type"] == "ROLL_UP"]
    found = sorted((one["elo"], one["games"]) for one in ratings(look, tenant).values())
    assert memory.usage.rate().sessions == 0
    return (
        Counter(e["type"] for e in events),
        sum(one["searches"] for one in gone),
        sum(one["results"] for one in gone),
        sum(one.get("games", 0) for one in gone),
        found,
    )


JOBS = {
    "prune": Job(conversations, lambda m: m.usage.prune(dry_run=False), put_away),
    "compress": Job(conversations, lambda m: m.episodes.compress(), put_away),
    "roll up": Job(searches, lambda m: m.usage.roll_up(days=0, dry_run=False), rolled_up),
}


def in_small_pages(patch: pytest.MonkeyPatch) -> None:
    """Make every job write in several transactions."""
    patch.setattr(pruning, "PAGE", 1)
    patch.setattr(compression, "BATCH", 2)
    patch.setattr(access_log, "PAGE", 2)


@pytest.fixture(params=JOBS)
def job(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Each of the jobs."""
    in_small_pages(monkeypatch)
    return JOBS[request.param]


def filled(job: Job, plain: Handle, rate: Rate, name: str) -> Handle:
    """Return a handle on a filled tenant, later."""
    memory = on(on_tenant(plain, name), clock=FrozenClock(LATER))
    job.fill(memory)
    rate(memory, dict.fromkeys(EPISODES, 500.0) if job.fill is conversations else {})
    return memory


@pytest.mark.parametrize("late", [False, True])
def test_a_job_that_died_at_a_write_is_finished_by_the_next(
    job: Job,
    plain: Handle,
    rate: Rate,
    look: Look,
    late: bool,  # noqa: FBT001
) -> None:
    whole = filled(job, plain, rate, fresh_tenant())
    job.run(whole)
    memory = filled(job, plain, rate, fresh_tenant())
    dying = Dying(memory._state.context.services.graph, 2, late=late)
    with pytest.raises(GraphUnavailableError):
        job.run(on(memory, graph=dying))
    job.run(memory)
    assert memory.admin.verify().wrong == ()
    assert job.state(memory, look) == job.state(whole, look)


class Stopping(Through):
    """Stops at a write transaction, before or after its commit, until it is killed."""

    def __init__(self, inner: Any, nth: int, *, late: bool) -> None:
        super().__init__(inner)
        self.left = nth
        self.late = late

    async def write(self, work: Work[Any]) -> Any:
        self.left -= 1

        async def held(tx: Tx) -> Any:
            done = await work(tx)
            self.stop(late=False)
            return done

        done = await self.inner.write(held)
        self.stop(late=True)
        return done

    def stop(self, *, late: bool) -> None:
        if self.left == 0 and self.late is late:
            print("stopped", flush=True)
            sys.stdin.readline()


def run_until(name: str, nth: str, late: str, now: str) -> None:
    """Run a job in this process up to a write."""
    with pytest.MonkeyPatch.context() as patch, GraphMem.open(embedder=HashEmbedder()) as client:
        in_small_pages(patch)
        stopping = Stopping(client._state.context.services.graph, int(nth), late=late == "late")
        JOBS[name].run(on(client, graph=stopping, clock=FrozenClock(datetime.fromisoformat(now))))
    print("finished", flush=True)


CHILD = "import sys; from tests.upkeep.test_jobs_killed import run_until as r; r(*sys.argv[1:])"


@pytest.mark.system
@pytest.mark.timeout(600)
@pytest.mark.parametrize("late", ["early", "late"])
@pytest.mark.parametrize("name", JOBS)
def test_a_killed_process_is_followed_by_one_that_finishes(
    plain: Handle,
    rate: Rate,
    look: Look,
    migrated: Settings,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    late: str,
) -> None:
    in_small_pages(monkeypatch)
    job = JOBS[name]
    whole = filled(job, plain, rate, fresh_tenant())
    job.run(whole)
    wanted = job.state(whole, look)
    nth, heard = 0, "stopped\n"
    while heard == "stopped\n":
        nth += 1
        memory = filled(job, plain, rate, tenant := fresh_tenant())
        given = (name, str(nth), late, LATER.isoformat())
        with children.running(CHILD, *given, settings=migrated, tenant=tenant) as child:
            assert child.stdout is not None
            heard = child.stdout.readline()
            child.send_signal(signal.SIGKILL)
        job.run(memory)
        assert memory.admin.verify().wrong == ()
        assert job.state(memory, look) == wanted
    assert heard == "finished\n"
    assert nth >= 3
