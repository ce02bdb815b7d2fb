"""Which tests run, on which worker, and for how long.

Three tiers: `-m "not server and not system"` needs no Neo4j, the default is everything that a
change must pass, and `system` takes minutes, has a server of its own, opens Chromium or builds a
release.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Sequence
from typing import Any

import pytest

OWN = {"own_server", "newcomer"}
"""Fixtures that start a Neo4j for a test that changes its schema, stops it or begins without one.
Such a start takes as long as fifty other tests."""
SERVERS = {"server", *OWN}
"""Fixtures that start a Neo4j or need one."""
TOGETHER = ("tests/docs/", "tests/isolation/", "tests/local_server/", "tests/migrations/")
"""Folders whose tests share a server of their own or a costly tenant, so one worker runs each."""
BEGUN = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the limit of a run in time."""
    parser.addoption(
        "--minutes",
        type=float,
        help="start no further test after so many minutes; each run begins with another test",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Note when the run began."""
    config.stash[BEGUN] = time.monotonic()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs a server, and put it first: the many quick tests fill the end evenly."""
    for item in items:
        used = set(getattr(item, "fixturenames", ()))
        if SERVERS & used:
            item.add_marker("server")
        if OWN & used:
            item.add_marker("system")
    if config.getoption("minutes"):
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex  # one for all workers
        first = int(run, 16) % max(1, len(items))
        items[:] = [*items[first:], *items[:first]]
    else:
        items.sort(key=lambda item: item.get_closest_marker("server") is None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what there is no time for; `-rs` counts it."""
    minutes = item.config.getoption("minutes")
    if minutes and time.monotonic() - item.config.stash[BEGUN] > 60 * minutes:
        pytest.skip(f"the {minutes:g} minutes of this run are over")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Give a worker whole files, or whole folders, so that it sets up their fixtures once."""
    from xdist.scheduler import LoadFileScheduling

    class Whole(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

    return Whole(config, log)


def scope(nodeid: str, folders: Sequence[str] = TOGETHER) -> str:
    """Return the folder or the file whose tests run on the worker of this test."""
    folder = next((one for one in folders if nodeid.startswith(one)), None)
    return folder or nodeid.partition("::")[0]
