"""Leases and due times after the server's clock jumped: nothing is stuck, done twice or lost.

The server's clock cannot be set in a test. Instead, all stored times of the jobs are moved: a clock
that was set back leaves times in the future.
"""

from __future__ import annotations

from typing import LiteralString

import neo4j
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem import ConsolidationPolicy, Handle
from graphmem.client import worker
from graphmem.consolidation import writes
from graphmem.errors import LeaseLostError
from graphmem.extraction import job as extraction
from graphmem.jobs import schedule
from graphmem.ports import RequestContext, run_now
from graphmem.schema import lease as migration
from graphmem.testing import ScriptedLlm
from tests.plugins.clients import on, on_tenant
from tests.plugins.episodes import SWIMS, tell
from tests.plugins.examples import few
from tests.plugins.graph import fresh_tenant

MOVED: LiteralString = (
    "MATCH (n:Job|JobUnit|Consolidation) WHERE n.tenant = $tenant "
    "UNWIND ['until', 'due_at', 'served_at', 'finished_at', 'asked_at', 'known', 'cursor', "
    "'retry_at', 'away_since'] AS name "
    "WITH n, name WHERE n[name] IS NOT NULL "
    "SET n[name] = n[name] + duration({seconds: $seconds})"
)
jumps = st.one_of(st.integers(1, 72), st.integers(-72, -1), st.just(10**6)).map(
    lambda hours: 3_600.0 * hours
)
ends = st.sampled_from(["killed", "finished", "failed"])
SOON = ConsolidationPolicy(min_episodes=1, new_episodes=1, min_belief_episodes=2)


class Server:
    """The stored times of a tenant."""

    def __init__(self, driver: neo4j.Driver, memory: Handle) -> None:
        self.driver = driver
        self.context: RequestContext = memory._state.context

    def set_back(self, seconds: float) -> None:
        """Move the clock back, or forward if negative."""
        tenant = self.context.tenant
        self.driver.execute_query(MOVED, tenant=tenant, seconds=seconds)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.set_back(-seconds)

    def claim(self, owner: str) -> schedule.JobLease | None:
        return run_now(schedule.claim(self.context, "seal", owner))


@few
@given(jump=jumps, ended=ends)
def test_no_job_is_stuck_after_a_jump(
    plain: Handle, driver: neo4j.Driver, jump: float, ended: str
) -> None:
    server = Server(driver, on_tenant(plain, fresh_tenant()))
    first = server.claim("first")
    assert first is not None
    if ended != "killed":
        run_now(first.finish(None if ended == "finished" else "unexpected"))
    server.set_back(jump)
    second = server.claim("second")
    longest = schedule.LEASE_S if ended == "killed" else schedule.INTERVAL_S["seal"]
    if second is None:
        server.wait(longest + 1)
        second = server.claim("second")
    assert second is not None
    with pytest.raises(LeaseLostError):
        run_now(first.renew())
    run_now(second.finish())
    server.wait(schedule.INTERVAL_S["seal"] + 1)
    assert server.claim("third") is not None


@few
@given(jump=jumps.filter(lambda seconds: seconds > 0), jumps_=st.lists(jumps, max_size=2))
def test_a_clock_that_is_set_back_takes_no_lease_from_a_worker(
    plain: Handle, driver: neo4j.Driver, jump: float, jumps_: list[float]
) -> None:
    server = Server(driver, on_tenant(plain, fresh_tenant()))
    held = server.claim("first")
    assert held is not None
    for seconds in [jump, *(one for one in jumps_ if one > 0)]:
        server.set_back(seconds)
        assert server.claim("second") is None
        server.wait(schedule.LEASE_S / 2)
        run_now(held.renew())
        server.wait(schedule.LEASE_S / 2)
        assert server.claim("second") is None
        run_now(held.renew())


@few
@given(jump=jumps)
def test_consolidation_reads_what_is_recorded_after_a_jump(
    plain: Handle, driver: neo4j.Driver, jump: float
) -> None:
    memory = on_tenant(plain, fresh_tenant())
    server = Server(driver, memory)
    tell(memory, SWIMS[:2])
    assert len(memory.consolidate(policy=SOON, if_due=True).changes) == 1
    server.set_back(jump)
    tell(memory, SWIMS[2:], first=9)
    assert memory.consolidation_status(policy=SOON).due
    [change] = memory.consolidate(policy=SOON, if_due=True).changes
    assert [one.text for one in change.quotes] == [SWIMS[2]]
    assert not memory.consolidation_status(policy=SOON).due


@few
@given(jump=jumps)
def test_an_interrupted_run_is_resumed_after_a_jump(
    plain: Handle, driver: neo4j.Driver, jump: float
) -> None:
    memory = on_tenant(plain, fresh_tenant())
    server = Server(driver, memory)
    tell(memory, SWIMS[:2])
    assert run_now(writes.take(server.context, "killed", writes.LEASE_S)) is not None
    server.set_back(jump)
    tell(memory, SWIMS[2:], first=9)
    if memory.consolidate(policy=SOON).skipped:
        server.wait(writes.LEASE_S + 1)
    done = memory.consolidate(policy=SOON)
    assert done.skipped is None
    memory.consolidate(policy=SOON)
    [found] = memory.beliefs.list().beliefs
    assert found.supporting_episodes == len(SWIMS)


@few
@given(jump=jumps)
@example(jump=2 * 3_600.0)
def test_an_outage_of_a_model_ends_within_an_hour(
    plain: Handle, driver: neo4j.Driver, jump: float
) -> None:
    memory = on_tenant(plain, fresh_tenant())
    server = Server(driver, memory)
    tell(memory, SWIMS)
    run_now(writes.take(server.context, "first", writes.LEASE_S))
    run_now(writes.give_back(server.context, "first", finished=False, away=True))
    server.set_back(jump)
    modelled = on(memory, llm=ScriptedLlm([]))
    at_once = modelled.consolidation_status(policy=SOON).due
    server.wait(3_600)
    assert at_once or modelled.consolidation_status(policy=SOON).due


@few
@given(moved=st.integers(-72, 72).map(lambda hours: 3_600.0 * hours))
def test_a_session_is_read_ten_minutes_after_its_last_turn_by_the_servers_clock(
    plain: Handle, driver: neo4j.Driver, moved: float
) -> None:
    memory = on_tenant(plain, fresh_tenant())
    memory.session("s").add_messages([{"role": "user", "content": "I live in Porto."}])
    context = memory._state.context
    driver.execute_query(
        "MATCH (t:Turn {tenant: $tenant}) "
        "SET t.recorded_at = t.recorded_at + duration({seconds: $seconds})",
        tenant=context.tenant,
        seconds=moved,
    )
    asked = {"extractor": "x", "attempts": 5, "skipped": [], "limit": 9}
    found = run_now(context.fetch(extraction.UNREAD, quiet_s=worker.QUIET_S, **asked))
    assert found == ([] if moved == 0 else ["s"])


@pytest.mark.parametrize("hours", [-50, 0, 50])
def test_no_migration_waits_for_a_dead_process(driver: neo4j.Driver, hours: int) -> None:
    """Rolled back, because the lease is the graph's."""
    with driver.session() as session, session.begin_transaction() as tx:

        def lock(owner: str) -> str:
            [row] = tx.run(migration.LOCK.text, owner=owner, seconds=migration.LEASE_S)
            return str(row["owner"])

        def move(seconds: float) -> None:
            tx.run(
                "MATCH (lock:MigrationLock) "
                "SET lock.expires_at = lock.expires_at + duration({seconds: $seconds})",
                seconds=seconds,
            ).consume()

        tx.run("MERGE (lock:MigrationLock {key: 'migration'}) SET lock.owner = null").consume()
        assert lock("first") == "first"
        move(3_600.0 * hours)
        assert lock("second") == ("first" if hours >= 0 else "second")
        move(-migration.LEASE_S - 1)
        assert lock("second") == "second"
        tx.rollback()
