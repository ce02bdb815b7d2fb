"""Whatever dies in an extraction, and however many run: the graph of one undisturbed run."""

from __future__ import annotations

import re
import signal
from typing import Any

import pytest

from graphmem import Handle, Settings
from graphmem.errors import GraphUnavailableError
from tests.client import test_consolidation_crashes
from tests.plugins import children
from tests.plugins.clients import Door
from tests.plugins.faults import Dying, Retrying
from tests.plugins.graph import Look
from tests.plugins.histories import clocked
from tests.plugins.offers import JUNE, say

LAST = 4
"""Writes of an undisturbed run: three windows, then the embeddings."""

DEATHS = [*((nth, False) for nth in range(1, LAST + 1)), (LAST, True)]
"""Before each write, and after the last: after the others the graph is as before the next."""


def told(memory: Handle) -> Handle:
    """Say twenty things, of which some are said twice and some are no fact."""
    said = [f"I like City{n % 7}." if n % 3 else "What a day" for n in range(20)]
    say(clocked(memory, JUNE), "s", *said)
    return memory


_TIME = re.compile(r"\('occurred_at', [\w.]+\([^()]*\)\), ")


def assert_same(found: dict[str, list[Any]], wanted: dict[str, list[Any]]) -> None:
    """Compare two graphs, except for the time at which a run declared a predicate."""
    test_consolidation_crashes.assert_same(*map(_without_times, (found, wanted)))


def _without_times(graph: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {kind: list(map(_without_time, there)) for kind, there in graph.items()}


def _without_time(one: Any) -> Any:
    declares = "'POLICY'" in str(one) or "'Predicate'" in str(one)
    return _TIME.sub("", str(one)) if declares else one


def extracted(memory: Handle) -> Any:
    return memory.extract(session_id="s", extractor="rules")


@pytest.fixture(scope="module")
def undisturbed(door: Door, look: Look) -> dict[str, list[Any]]:
    """The graph of one run that nothing disturbed."""
    with door.opened() as memory:
        assert len(extracted(told(memory)).proposals) == 13
        return look.graph(memory._state.context.tenant)


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
        extracted(door.on(memory, graph=dying))
    extracted(memory)
    assert_same(look.graph(tenant), undisturbed)


def test_a_transaction_that_the_driver_runs_twice_writes_once(
    door: Door, memory: Handle, look: Look, tenant: str, undisturbed: dict[str, list[Any]]
) -> None:
    graph = Retrying(told(memory)._state.context.services.graph)
    extracted(door.on(memory, graph=graph))
    assert_same(look.graph(tenant), undisturbed)


@pytest.mark.usefixtures("both_clients")
def test_two_workers_at_once_do_what_one_does(
    door: Door, memory: Handle, look: Look, tenant: str, undisturbed: dict[str, list[Any]]
) -> None:
    told(memory)
    both = door.together(memory, [extracted] * 2)
    assert not [one for one in both if isinstance(one, Exception)]
    assert sum(one.turns for one in both) >= 20
    assert_same(look.graph(tenant), undisturbed)


CHILD = """
import sys
from graphmem import GraphMem
from graphmem.extraction import review
from graphmem.testing import HashEmbedder
real = review.write
async def slow(*given):
    done = await real(*given)
    print("written", flush=True)
    sys.stdin.readline()
    return done
review.write = slow
GraphMem.open(embedder=HashEmbedder()).extract(session_id="s", extractor="rules")
"""


@pytest.mark.system
@pytest.mark.parametrize("after", [1, 2])
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
        for n in range(after):
            assert child.stdout.readline() == "written\n"
            if n + 1 < after:
                child.stdin.write("\n")
                child.stdin.flush()
        child.send_signal(signal.SIGKILL)
    done = extracted(plain)
    assert (done.turns, done.passed) == (20 - 8 * after, 8 * after)
    assert_same(look.graph(tenant), undisturbed)
