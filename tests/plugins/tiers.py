"""Selection, distribution and time limit of tests.

Three tiers: `-m "not server and not system"` runs without Neo4j; the default is everything that a
change must pass; `system` takes minutes, has its own server, opens Chromium, builds a release, or
checks a benchmark or a simulation.
"""

from __future__ import annotations

import gc
import os
import time
import uuid
from collections.abc import Sequence
from typing import Any

import pytest

OWN = {"own_server", "newcomer"}
"""Fixtures that start a Neo4j for a test that changes its schema, stops it or starts without one.
Such a start takes as long as fifty other tests."""
SERVERS = {"server", *OWN}
"""Fixtures that start or require a Neo4j."""
NO_PRODUCT = ("tests/bench/", "tests/research/")
"""Folders of tests of benchmarks and simulations, which are not part of the product."""
TOGETHER = (
    *("tests/docs/", "tests/isolation/", "tests/local_server/", "tests/migrations/"),
    "tests/release/",
)
"""Folders whose tests share a server of their own, a costly tenant or a release, so one worker runs
each folder."""
STARTED = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for a time limit."""
    parser.addoption(
        "--minutes",
        type=float,
        help="start no further test after this many minutes; each run starts with a different test",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Record the start time of the run; workers collect no garbage while they import tests."""
    config.stash[STARTED] = time.monotonic()
    if hasattr(config, "workerinput"):
        gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that need a server and run them first: the quick ones fill the end evenly."""
    for item in items:
        used = set(getattr(item, "fixturenames", ()))
        if SERVERS & used:
            item.add_marker("server")
        if OWN & used or item.nodeid.startswith(NO_PRODUCT):
            item.add_marker("system")
    if config.getoption("minutes"):
        run = (
            os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
        )  # the same for all workers
        first = int(run, 16) % max(1, len(items))
        items[:] = [*items[first:], *items[:first]]
    else:
        items.sort(key=lambda item: item.get_closest_marker("server") is None)


def pytest_collection_finish() -> None:
    """Let the garbage collector ignore what was imported and collected.

    It would traverse these millions of objects repeatedly: a quarter of the processor time of each
    worker's collection, and a seventh of that of the tests that need no server.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests after the time limit; `-rs` counts them."""
    minutes = item.config.getoption("minutes")
    if minutes and time.monotonic() - item.config.stash[STARTED] > 60 * minutes:
        pytest.skip(f"the {minutes:g} minutes of this run are over")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Assign whole files or folders to a worker, so that it sets up their fixtures once."""
    from xdist.scheduler import LoadFileScheduling

    class Whole(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

    return Whole(config, log)


def scope(nodeid: str, folders: Sequence[str] = TOGETHER) -> str:
    """Return the folder or the file whose tests share a worker with this test."""
    folder = next((prefix for prefix in folders if nodeid.startswith(prefix)), None)
    return folder or nodeid.partition("::")[0]
