"""Whatever dies in consolidation, and however many run: the graph of one undisturbed run."""

from __future__ import annotations

import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import ConsolidationPolicy, Handle, Settings
from graphmem.consolidation import BeliefChangeKind, writes
from graphmem.errors import GraphUnavailableError, LeaseLostError
from graphmem.ports import run_now
from tests.plugins import children
from tests.plugins.clients import Door
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.faults import Dying
from tests.plugins.graph import Look
from tests.plugins.histories import clocked

LAST = 7
"""Writes of an undisturbed run: its lease, a match, three beliefs, a match with one, its end."""
DEATHS = [*((nth, False) for nth in range(1, LAST + 1)), (LAST, True)]
"""Before each write, and after the last: after the others the graph is as before the next."""
WHEN = datetime(2026, 2, 1, tzinfo=UTC)
SAID = (
    *SWIMS,
    "My sister paints blue horses in Lisbon.",
    "In Lisbon my sister paints blue horses.",
    "My sister paints blue horses in Lisbon again.",
    "The tram to the office is late on rainy days.",
    "On rainy days the tram to the office is late.",
    "The tram to the office is always late on rainy days.",
    "I do not drink coffee after four in the afternoon.",
    "I never swim across the cold lake before breakfast.",
)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead worker's lease is free at once."""
    monkeypatch.setattr(writes, "LEASE_S", 0)


def told(memory: Handle) -> Handle:
    """Two conversations, the first consolidated: what follows supports, contradicts and makes."""
    then = clocked(memory, WHEN + timedelta(days=100))
    then.believe("I drink coffee after four in the afternoon", event_id="thought", at=WHEN)
    tell(then, SAID)
    return memory


@pytest.fixture(scope="module")
def undisturbed(door: Door, look: Look) -> dict[str, list[Any]]:
    """The graph of one run that nothing disturbed."""
    with door.opened() as memory:
        done = told(memory).consolidate(policy=FEW)
        assert {one.step for one in done.changes} == {
            BeliefChangeKind.CREATE,
            BeliefChangeKind.CONTRADICT,
            BeliefChangeKind.FLAG,
        }
        assert len(done.changes) == 6
        return look.graph(memory._state.context.tenant)


def assert_same(found: dict[str, list[Any]], wanted: dict[str, list[Any]]) -> None:
    for kind, there in wanted.items():
        assert sorted(set(found[kind]) ^ set(there)) == []
        assert len(found[kind]) == len(there)


@pytest.mark.parametrize(("nth", "late"), DEATHS)
def test_a_run_that_died_is_gone_on_with(
    door: Door,
    memory: Handle,
    look: Look,
    tenant: str,
    undisturbed: dict[str, list[Any]],
    nth: int,
    late: bool,  # noqa: FBT001 - a column of the table
) -> None:
    told(memory)
    dying = Dying(memory._state.context.services.graph, nth, late=late)
    with pytest.raises(GraphUnavailableError):
        door.on(memory, graph=dying).consolidate(policy=FEW)
    done = memory.consolidate(policy=FEW)
    assert done.applied
    # Before the lease was taken there was no run, and after it was given back it was finished.
    assert done.resumed == ((1, False) < (nth, late) < (LAST, True))
    assert_same(look.graph(tenant), undisturbed)


@pytest.mark.usefixtures("both_clients")
def test_two_workers_at_once_do_what_one_does(
    door: Door, memory: Handle, look: Look, tenant: str, undisturbed: dict[str, list[Any]]
) -> None:
    told(memory)
    # Without any lease to speak of, both write.
    done = door.together(memory, [lambda one: one.consolidate(policy=FEW)] * 2)
    assert not [d for d in done if isinstance(d, Exception) and not isinstance(d, LeaseLostError)]
    memory.consolidate(policy=FEW)
    assert_same(look.graph(tenant), undisturbed)


def test_the_second_of_two_workers_is_told(plain: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writes, "LEASE_S", 120)
    told(plain)
    seen: list[str | None] = []

    def meanwhile(kind: str, _count: int) -> None:
        if kind == "cluster":
            seen.append(plain.consolidate(policy=FEW).skipped)

    assert plain.consolidate(policy=FEW, on_progress=meanwhile).changes
    assert seen == ["another worker is running"]
    assert plain.consolidate(policy=FEW).applied  # The lease was given back.


def test_a_worker_that_was_overtaken_stops(
    plain: Handle, look: Look, tenant: str, undisturbed: dict[str, list[Any]]
) -> None:
    told(plain)

    def overtaken(kind: str, _count: int) -> None:
        if kind == "belief":
            assert run_now(writes.take(plain._state.context, "another", 0))

    with pytest.raises(LeaseLostError):
        plain.consolidate(policy=FEW, on_progress=overtaken)
    assert look.count(tenant)["Belief"] == 1
    assert plain.consolidate(policy=FEW).resumed
    assert_same(look.graph(tenant), undisturbed)


CHILD = """
import os, sys, time
from graphmem import ConsolidationPolicy, GraphMem
from graphmem.consolidation import writes
from graphmem.testing import HashEmbedder
writes.LEASE_S = 0
real = writes.write
async def slow(*given):
    done = await real(*given)
    print("written", flush=True)
    sys.stdin.readline()
    return done
writes.write = slow
GraphMem.open(embedder=HashEmbedder()).consolidate(policy=ConsolidationPolicy(min_episodes=1))
"""


@pytest.mark.system
@pytest.mark.parametrize("after", [1, 3])
def test_a_killed_process_leaves_what_the_next_goes_on_with(
    plain: Handle,
    look: Look,
    migrated: Settings,
    tenant: str,
    undisturbed: dict[str, list[Any]],
    after: int,
) -> None:
    told(plain)
    with children.running(CHILD, settings=migrated, tenant=tenant) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        for _ in range(after):
            assert child.stdout.readline() == "written\n"
            child.stdin.write("\n")
            child.stdin.flush()
        child.send_signal(signal.SIGKILL)
    done = plain.consolidate(policy=ConsolidationPolicy(min_episodes=1))
    assert done.resumed
    assert_same(look.graph(tenant), undisturbed)
