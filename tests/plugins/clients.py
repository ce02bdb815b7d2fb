"""Both clients behind one interface, so that one suite runs on both.

A test that uses `door`, `memory` or `client_name` runs with one client, chosen by the test's name:
the clients run the same coroutines, and test_client_parity compares their signatures. Where they
can differ (opening and closing, sessions, hooks, lost commits, concurrent calls, background logs),
a test or its module uses `usefixtures("both_clients")` and runs with each. The profile `deep` runs
every test with each.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar, cast
from zlib import crc32

import pytest

from graphmem.client import AsyncGraphMem, AsyncHandle, GraphMem, Handle, connect, handle
from graphmem.client.namespace import AsyncNamespace
from graphmem.client.state import HandleState
from graphmem.file_access import ExportFiles, TextFiles
from graphmem.io_modes import BLOCKING, SystemClock
from graphmem.model import EmbeddingModel, TenantScope, Trust
from graphmem.ports import RequestContext, Services, run_now
from graphmem.rules import drafts, hygiene
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.plugins.examples import is_deep
from tests.plugins.faults import Untouchable
from tests.plugins.graph import fresh_tenant

T = TypeVar("T")
Run = Callable[[Coroutine[Any, Any, Any]], Any]


class Returning:
    """A wrapper of an async handle that runs its coroutines, so that its methods return results."""

    def __init__(self, inner: Any, run: Run) -> None:
        self._inner = inner
        self._run = run

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._called(found) if inspect.ismethod(found) else self._wrapped(found)

    def _called(self, method: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._returned(method(*args, **kwargs))

        return call

    def _returned(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            value = self._run(value)
        return self._wrapped(value)

    def _wrapped(self, value: Any) -> Any:
        return Returning(value, self._run) if isinstance(value, AsyncNamespace) else value

    def __enter__(self) -> Self:
        self._run(self._inner.__aenter__())
        return self

    def __exit__(self, *raised: Any) -> None:
        self._run(self._inner.__aexit__(*raised))


H = TypeVar("H", bound="Handle | AsyncHandle")


def on(memory: H, **ports: Any) -> H:
    """Return the same handle on services with other ports."""
    if isinstance(memory, Returning):
        return cast("H", Returning(on(memory._inner, **ports), memory._run))
    context = memory._state.context
    services = replace(context.services, **ports)
    return type(memory)(replace(memory._state, context=replace(context, services=services)))


def by(memory: H, writer: Trust) -> H:
    """Return the same handle for another writer."""
    if isinstance(memory, Returning):
        return cast("H", Returning(by(memory._inner, writer), memory._run))
    return type(memory)(memory._state.with_trust(writer))


def with_empty_log(memory: Handle) -> Handle:
    """Forget what earlier tests left in the log of their client, which is written when full."""
    handle = memory._inner if isinstance(memory, Returning) else memory
    handle._state.accesses.start_over()
    return memory


def on_tenant(memory: Handle, name: str) -> Handle:
    """Return a handle on another tenant with the same client."""
    if isinstance(memory, Returning):
        inner = AsyncHandle(handle.on_tenant(memory._inner._state, name))
        return cast("Handle", Returning(inner, memory._run))
    return Handle(handle.on_tenant(memory._state, name))


class Door:
    """One of the two clients; opens clients whose methods return results in both cases."""

    def __init__(
        self, name: Literal["blocking", "awaited"], settings: Settings, runner: asyncio.Runner
    ) -> None:
        self.name = name
        self.settings = settings
        self._runner = runner

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the event loop of this client."""
        return run_now(work) if self.name == "blocking" else self._runner.run(work)

    def open(self, settings: Settings | None = None, **opening: Any) -> GraphMem:
        """Open a client, which the caller must close."""
        known = settings or self.settings
        opening = {"embedder": HashEmbedder(), **opening}
        if self.name == "blocking":
            return GraphMem.open(settings=known, **opening)
        inner = self._runner.run(AsyncGraphMem.open(settings=known, **opening))
        return cast("GraphMem", Returning(inner, self._runner.run))

    @contextmanager
    def opened(self, settings: Settings | None = None, **opening: Any) -> Iterator[Handle]:
        """Open a client on an unused tenant for the duration of a block."""
        with self.open(settings, **opening) as client:
            yield client.tenant(fresh_tenant())

    def on(self, memory: H, **ports: Any) -> H:
        """Return the same handle on services with other ports."""
        return on(memory, **ports)

    def together(self, memory: Handle, calls: Sequence[Callable[[Any], Any]]) -> list[Any]:
        """Make the calls concurrently and return their results or exceptions in order.

        Blocking calls have a thread each; async ones share the loop.
        """
        if isinstance(memory, Returning):
            inner = memory._inner

            async def gathered() -> list[Any]:
                return await asyncio.gather(*(c(inner) for c in calls), return_exceptions=True)

            return self._runner.run(gathered())
        start = threading.Barrier(len(calls))

        def call_one(call: Callable[[Any], Any]) -> Any:
            start.wait()
            try:
                return call(memory)
            except Exception as error:  # noqa: BLE001 - the exception is the result
                return error

        with ThreadPoolExecutor(len(calls)) as pool:
            return list(pool.map(call_one, calls))


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    """One event loop for all async clients of the session."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def both_clients() -> None:
    """Run the test with each client."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the client or clients of each test that uses `door` or `client_name`."""
    chosen = ["blocking", "awaited"]
    if "both_clients" not in metafunc.fixturenames and not is_deep():
        chosen = [chosen[crc32(metafunc.function.__name__.encode()) % 2]]
    for name in {"door", "client_name"}.intersection(metafunc.fixturenames):
        metafunc.parametrize(name, chosen, indirect=True, scope="session")


@pytest.fixture(scope="session")
def door(request: pytest.FixtureRequest, migrated: Settings, runner: asyncio.Runner) -> Door:
    """One of the two clients."""
    return Door(request.param, migrated, runner)


@pytest.fixture(scope="session")
def client_name(request: pytest.FixtureRequest) -> str:
    """Name of the client, for tests of adapters alone."""
    return str(request.param)


@pytest.fixture(scope="session")
def _clients(runner: asyncio.Runner) -> Iterator[Callable[[Door], GraphMem]]:
    """Open each client once, however often the tests alternate between them."""
    opened: dict[str, GraphMem] = {}
    with ExitStack() as stack:

        def client(door: Door) -> GraphMem:
            if door.name not in opened:
                opened[door.name] = stack.enter_context(door.open())
            return opened[door.name]

        yield client


@pytest.fixture
def memory(door: Door, _clients: Callable[[Door], GraphMem], tenant: str) -> Handle:
    """A handle on a fresh tenant's global scope, with the client that the test runs with."""
    return with_empty_log(_clients(door).tenant(tenant))


@pytest.fixture(scope="session")
def client(migrated: Settings) -> Iterator[GraphMem]:
    """The blocking client."""
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        yield client


@pytest.fixture
def plain(client: GraphMem, tenant: str) -> Handle:
    """A handle on a fresh tenant with the blocking client, if testing both is unnecessary."""
    return with_empty_log(client.tenant(tenant))


@pytest.fixture
def offline() -> Handle:
    """A client without a server, whose graph fails the test on any access.

    It tests errors that are raised before anything is read or written.
    """
    embedder, settings = HashEmbedder(), Settings.load({})
    services = Services(
        Untouchable(),
        embedder,
        SystemClock(BLOCKING),
        settings,
        connect.silent,
        TextFiles(BLOCKING),
        ExportFiles(BLOCKING),
    )
    model = EmbeddingModel(
        name=embedder.name, dimension=embedder.DIMENSION, mu_document=0.0, mu_query=0.0
    )
    tenant_scope = TenantScope(tenant="offline", scopes=drafts.default_read_scopes("global"))
    rules = hygiene.default_rules(settings.min_content_chars, settings.max_content_chars)
    return GraphMem(HandleState(RequestContext(services, tenant_scope, model), rules))
