"""A Neo4j for the tests: a running one, a managed one, or one in a container.

GRAPHMEM_TEST_URI names a running server. Otherwise GRAPHMEM_TEST_SERVER decides: `managed` (the
default) or `testcontainers`. The workers of a run share one managed server: the first that needs it
starts it, and the controller stops it at the end. Each worker has a container of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import pytest
from pydantic import SecretStr

from graphmem import local_server
from graphmem.errors import ConfigurationError, LocalServerError
from graphmem.local_server import files, lifecycle
from graphmem.local_server.jars import shipped_lock
from graphmem.settings import Settings

_ENVIRON = dict(os.environ)
"""Environment before any fixture changed it."""

_HOME = pytest.StashKey[Path]()
"""Home of the managed server that the workers of a run share."""

ROOM = 4 << 30
"""Bytes that a folder in memory must have free; a run takes about a tenth of them."""

_KEEPING_PLANS = {"dbms.cypher.min_replan_interval": "24h"}
"""The graph of a run only grows, and replanning because of that would dominate the run time."""
_FLAGS = (
    # A run needs throughput and no short pauses; with G1 it takes 5 % longer.
    *("-XX:-UseG1GC", "-XX:+UseParallelGC"),
    # Four times the default counts: optimising code that runs for a few minutes took a third of the
    # server's time.
    *("-XX:Tier4InvocationThreshold=20000", "-XX:Tier4MinInvocationThreshold=2400"),
    *("-XX:Tier4CompileThreshold=60000", "-XX:Tier4BackEdgeThreshold=160000"),
)
"""Options of the server's JVM."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of cores plus one: each worker waits for the server half of its time."""
    return (os.cpu_count() or 1) + 1


def nothing_may_be_skipped() -> bool:
    """Return whether a test must fail if the machine lacks a requirement, as in CI."""
    return _ENVIRON.get("GRAPHMEM_REQUIRE_SERVER") == "1"


@dataclass(frozen=True)
class Server:
    """A running Neo4j."""

    uri: str
    user: str
    password: SecretStr
    kind: str
    """managed, testcontainers or GRAPHMEM_TEST_URI."""


def kind(environ: Mapping[str, str] = _ENVIRON) -> str:
    """Return the kind of server that the tests use.

    Raises:
        UsageError: GRAPHMEM_TEST_SERVER has another value.
    """
    if environ.get("GRAPHMEM_TEST_URI"):
        return "GRAPHMEM_TEST_URI"
    chosen = environ.get("GRAPHMEM_TEST_SERVER", "managed")
    if chosen not in ("managed", "testcontainers"):
        raise pytest.UsageError(
            f"GRAPHMEM_TEST_SERVER must be managed or testcontainers, not {chosen!r}."
        )
    return chosen


def _settings(home: Path) -> Settings:
    """Return settings of a server on any free ports that shares the user's download cache."""
    wanted = {
        name: value
        for name, value in _ENVIRON.items()
        if name in ("GRAPHMEM_CACHE", "GRAPHMEM_JAVA", "GRAPHMEM_MAVEN_MIRROR")
    }
    sizes = {"heap": "1g", "page_cache": "256m"}
    return Settings.load(wanted, home=home, bolt_port=0, http_port=0, idle_stop_s=0, **sizes)


def _in_memory() -> Path | None:
    """Return a folder in memory with room for the server's files, if the machine has one.

    Each commit writes files of every index that it changes: on a disk the runs take a tenth longer.
    """
    folder = Path("/dev/shm")  # noqa: S108 - the folder in it is unique and closed to others
    if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < ROOM:
        return None
    return folder


def pytest_configure(config: pytest.Config) -> None:
    """Set the home of the server: the controller chooses it and passes it to the workers."""
    given = getattr(config, "workerinput", None)
    home = (
        given["server_home"]
        if given
        else tempfile.mkdtemp(prefix="graphmem-tests-", dir=_in_memory())
    )
    config.stash[_HOME] = Path(home)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the home of the server to a worker."""
    node.workerinput["server_home"] = str(node.config.stash[_HOME])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the server of the run, unless this is a worker."""
    if not hasattr(config, "workerinput"):
        local_server.stop(_settings(config.stash[_HOME]))
        shutil.rmtree(config.stash[_HOME])


def pytest_report_header() -> str:
    """Report the server and the driver of the run."""
    return f"neo4j: {kind()} server (locked {shipped_lock().neo4j}), driver {version('neo4j')}"


@pytest.fixture(scope="session")
def server_settings(pytestconfig: pytest.Config) -> Settings:
    """Settings of a managed server in a temporary home, sharing the user's cache."""
    return _settings(pytestconfig.stash[_HOME])


@pytest.fixture(scope="session")
def server(server_settings: Settings) -> Iterator[Server]:
    """Yield the server that all tests of the run share, each in its own tenants."""
    match kind():
        case "GRAPHMEM_TEST_URI":
            password = SecretStr(_ENVIRON.get("GRAPHMEM_TEST_PASSWORD", ""))
            yield Server(_ENVIRON["GRAPHMEM_TEST_URI"], "neo4j", password, "GRAPHMEM_TEST_URI")
        case "testcontainers":
            yield from _contained()
        case _:
            yield _managed(server_settings)


@contextmanager
def keeping_plans() -> Iterator[None]:
    """Start servers for tests: they keep query plans when their graph grows, and make no AOT cache.

    Making it takes a minute of a core, and a run starts one server. Their JVM has `_FLAGS`.
    """
    flags = lifecycle.aot_flags
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "PLANS", _KEEPING_PLANS)
        patch.setattr(lifecycle, "aot_flags", lambda cache: [*flags(cache), *_FLAGS])
        patch.setattr(lifecycle, "make_aot_cache_in_background", lambda *_: None)
        yield


def started(settings: Settings) -> Iterator[Server]:
    """Yield an exclusive server, so that a test may wipe it."""
    if kind() == "testcontainers":
        yield from _contained()
        return
    try:
        yield _managed(settings)
    finally:
        local_server.stop(settings)


def _managed(settings: Settings) -> Server:
    """Start the managed server of these settings, unless it runs."""
    try:
        with keeping_plans():
            endpoint = local_server.ensure(settings)
    except (LocalServerError, ConfigurationError) as error:
        _lacks_server(f"The managed server does not start: {error}")
    return Server(endpoint.uri, endpoint.user, endpoint.password, "managed")


def _contained() -> Iterator[Server]:
    """Yield a server in a container."""
    try:
        import docker  # type: ignore[import-untyped]
        from testcontainers.neo4j import Neo4jContainer

        docker.from_env().ping()
    except Exception as error:  # noqa: BLE001 - any error means that no engine is available
        _lacks_server(f"No container engine answers: {error}")
    image = f"neo4j:{shipped_lock().neo4j}-community"
    with Neo4jContainer(image, password="graphmem-tests") as container:
        password = SecretStr("graphmem-tests")
        yield Server(container.get_connection_url(), "neo4j", password, "testcontainers")


def _lacks_server(reason: str) -> NoReturn:
    """Skip the test, or fail it where nothing may be skipped."""
    if nothing_may_be_skipped():
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
