"""Plan the longest reads in the background, right after the server has started.

A JVM that has just started takes seconds to plan one of them. Run as a module, this file waits for
a byte on its standard input and then runs each of them once for a tenant without data, so that
their plans are cached for the first caller.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphmem.graph import catalog
from graphmem.graph.catalog import LANGUAGE, MAP, Procedure, in_generation, in_one_map
from graphmem.local_server import process
from graphmem.local_server.files import DataFolder, ServerState
from graphmem.maven import Progress, Report
from graphmem.settings import Settings

if TYPE_CHECKING:
    from neo4j import Session

FIRST = ("recall/hits", "recall/current")
"""Queries of a recall. Planning the first one takes as long as planning all others."""
OTHERS = (
    FIRST[1],
    "recall/filtered",
    "belief/current",
    "belief/states",
    "belief/explain",
    "recall/vitality",
)
"""Queries to plan at the same time, in this order: those of a recall, of one of the past, of a
slot, of an explanation, and of a context of beliefs."""
HOT = (FIRST[0], *OTHERS)
GO = b"\n"
"""Byte for the planning process: the server has started."""
WAIT_S = 10.0
"""Seconds that a read waits for a plan in progress, before it lets the server plan again."""
LIMIT_S = 120.0
"""Seconds the server may plan one query, even on a busy machine."""


@contextmanager
def after_start(folder: DataFolder) -> Iterator[None]:
    """Plan in a process that outlives this one, as soon as the block has started the server.

    The process is started first, because its imports take half a second. It plans nothing if the
    block fails or this process dies.
    """
    waiting, started = os.pipe()
    try:
        try:
            process.run_in_background(__name__, stdin=waiting, home=folder.root.parent)
        finally:
            os.close(waiting)
        yield
        with suppress(BrokenPipeError):
            os.write(started, GO)
    finally:
        os.close(started)


def plan_first_reads(settings: Settings, report: Report) -> None:
    """Return when the queries of a recall are planned, unless no server is running."""
    from neo4j.exceptions import DriverError, Neo4jError

    folder = DataFolder.of(settings)
    if (state := process.running(folder)) is None:
        return
    report(Progress("ready", "Planning the first recall"))
    # An unplanned query is planned on first use.
    with suppress(DriverError, Neo4jError):
        _plan_all(folder, state, FIRST)


def warm(folder: DataFolder) -> None:
    """Plan the hot queries, unless another process is planning them or no server is running.

    Raises:
        neo4j.exceptions.Neo4jError: the server rejected a query.
        neo4j.exceptions.DriverError: the server was stopped meanwhile.
    """
    from filelock import FileLock, Timeout

    if (state := process.running(folder)) is None:
        return
    plan_these = partial(_plan_all, folder, state)
    with (
        suppress(Timeout),
        FileLock(folder.root / "warming.lock", timeout=0),
        # Two at once: the planner is compiled only once for both, 15 s instead of 22.
        ThreadPoolExecutor(2) as planners,
    ):
        list(planners.map(plan_these, (FIRST[:1], OTHERS)))


def _plan_all(folder: DataFolder, state: ServerState, names: Iterable[str]) -> None:
    """Plan queries; a query that another process is planning is waited for.

    For a graph that was never migrated nothing is planned, because its indexes do not exist.
    """
    from filelock import FileLock
    from neo4j import READ_ACCESS

    with (
        process.connect(state.uri, folder.password()) as driver,
        driver.session(default_access_mode=READ_ACCESS) as session,
    ):
        text = catalog.procedure("schema/generation").text
        for generation in session.run(LANGUAGE + text).value():
            for name in names:
                file = _lock_file(folder, name)
                with FileLock(file):
                    plan(session, name, generation)
                file.unlink(missing_ok=True)


def plan_in_progress(folder: DataFolder, name: str) -> Callable[[], None] | None:
    """Return a function that waits until a hot query is planned; None if it is not being planned.

    The server would plan it a second time for a read that does not wait.
    """
    if name not in HOT or not (file := _lock_file(folder, name)).exists():
        return None

    def wait() -> None:
        from filelock import FileLock, Timeout

        with suppress(Timeout, OSError), FileLock(file, timeout=WAIT_S):
            # Opening the lock creates the file again if it was removed meanwhile.
            file.unlink(missing_ok=True)

    return wait


def _lock_file(folder: DataFolder, name: str) -> Path:
    """Return the file that is locked while a query is being planned, and removed afterwards."""
    return folder.root / f"planning-{name.replace('/', '-')}.lock"


def plan(session: Session, name: str, generation: int) -> None:
    """Run a query as the client sends it, for no tenant; EXPLAIN would skip a quarter of it."""
    from neo4j import Query

    query = in_generation(catalog.query(name, dict), generation)
    # `Any`, because the driver's type is a literal string; the text is from the catalog.
    text: Any = LANGUAGE + in_one_map(query)
    session.run(Query(text, timeout=LIMIT_S), _params(catalog.procedure(name))).consume()


def _params(procedure: Procedure) -> dict[str, Any]:
    """Return parameters that match nothing; a plan depends only on their types."""
    values: Mapping[str, Any] = {
        "map": {},
        "integer": 1,
        "float": 1.0,
        "boolean": False,
        "datetime": datetime.now(UTC),
        "string": "",
        "list": [],
    }
    sized = {entry.name: values[entry.kind] for entry in procedure.params if entry.is_sized}
    return {MAP: sized} | {
        entry.name: values[entry.kind] for entry in procedure.params if not entry.is_sized
    }


def main() -> None:
    """Plan the queries of the server of one data folder, once it has started."""
    from neo4j.exceptions import DriverError, Neo4jError

    catalog.procedure(HOT[0])  # The first access reads and expands it; the server is starting.
    if sys.stdin.buffer.read(len(GO)) != GO:
        return
    try:
        warm(DataFolder.of(Settings.load(os.environ)))
    except (DriverError, Neo4jError) as error:
        # No caller waits for this process; an unplanned query is planned on first use.
        sys.exit(f"{type(error).__name__}: the rest was not planned.")


if __name__ == "__main__":
    main()
