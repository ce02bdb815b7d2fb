"""A client in a forked process, in another event loop, without a home, and with a lost server."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import pwd
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from graphmem import AsyncGraphMem, ConfigurationError, GraphMem, Settings, local_server
from graphmem.errors import EventLoopError
from graphmem.folders import settings_folder
from graphmem.testing import HashEmbedder
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike

FORKED = multiprocessing.get_context("fork")


def opened(settings: Settings) -> GraphMem:
    return GraphMem.open(settings=settings, embedder=HashEmbedder())


def read_many(memory: Any, text: str, answers: Any) -> None:
    """Read in a forked process, then end it as a program ends, with all its destructors."""
    try:
        answers.put([str(memory.recall(text).bites[0].text) for _ in range(20)])
    except Exception as error:  # noqa: BLE001 - the parent shows it
        answers.put(repr(error))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_parent_and_children_read_at_once_on_connections_of_their_own(migrated: Settings) -> None:
    with opened(migrated) as client:
        tenants = [fresh_tenant() for _ in range(3)]
        for number, tenant in enumerate(tenants):
            client.tenant(tenant).remember(unlike(number))
        answers = FORKED.Queue()
        children = [
            FORKED.Process(target=read_many, args=(client.tenant(tenant), unlike(number), answers))
            for number, tenant in enumerate(tenants)
        ]
        for child in children:
            child.start()
        own = [client.tenant(tenants[0]).recall(unlike(0)).bites[0].text for _ in range(20)]
        found = [answers.get(timeout=60) for _ in children]
        for child in children:
            child.join(60)
        assert own == [unlike(0)] * 20
        assert sorted(found) == sorted([unlike(number)] * 20 for number in range(3))
        # The children's end left the parent's connections open.
        assert client.tenant(tenants[0]).recall(unlike(0)).bites[0].text == unlike(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_that_uses_nothing_closes_nothing_of_its_parent(migrated: Settings) -> None:
    with opened(migrated) as client:
        memory = client.tenant(fresh_tenant())
        memory.remember(unlike(1))
        assert memory.recall(unlike(1)).bites
        child = os.fork()
        if child == 0:
            inherited = client._state.accesses.waiting()
            del client, memory
            os._exit(len(inherited))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert memory.recall(unlike(1)).bites
        assert memory.usage.flush() == 2


# The first loop was closed with open connections.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_client_serves_one_event_loop_after_the_other(migrated: Settings) -> None:
    async def first() -> AsyncGraphMem:
        client = await AsyncGraphMem.open(settings=migrated, embedder=HashEmbedder())
        await client.tenant(tenant).remember(unlike(1))
        return client

    async def second() -> int:
        return len((await client.tenant(tenant).recall(unlike(1))).bites)

    tenant = fresh_tenant()
    client = asyncio.run(first())
    assert asyncio.run(second()) == 1
    asyncio.run(client.close())
    gc.collect()  # warns of the first loop's connections here, not in another test


def test_a_client_is_refused_in_a_second_loop_beside_its_own(migrated: Settings) -> None:
    async def both() -> None:
        async with await AsyncGraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
            caught: list[Exception] = []

            def elsewhere() -> None:
                try:
                    asyncio.run(client.health())
                except Exception as error:  # noqa: BLE001 - asserted below
                    caught.append(error)

            thread = threading.Thread(target=elsewhere)
            thread.start()
            await asyncio.to_thread(thread.join)
            [error] = caught
            assert isinstance(error, EventLoopError)
            assert "in each event loop" in str(error)
            await client.health()

    asyncio.run(both())


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom the system does not know, as in many containers."""

    def unknown(*_: object) -> None:
        raise KeyError("uid not found")

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


@pytest.mark.usefixtures("homeless")
def test_without_a_home_the_settings_and_a_server_of_ones_own_work(migrated: Settings) -> None:
    assert settings_folder() is None
    assert Settings.load(None).home is None
    with opened(migrated.model_copy(update={"home": None, "cache": None})) as client:
        assert client.health().dimension > 0


@pytest.mark.usefixtures("homeless")
def test_without_a_home_the_managed_server_needs_a_setting() -> None:
    with pytest.raises(ConfigurationError, match="HOME is not set") as caught:
        GraphMem.open(settings=Settings.load({}))
    assert "GRAPHMEM_HOME" in caught.value.hint


@pytest.fixture(scope="module")
def own_server(
    server_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """A managed server that may be killed."""
    home = tmp_path_factory.mktemp("lost") / "home"
    own = server_settings.model_copy(update={"home": home})
    try:
        yield own
    finally:
        local_server.stop(own)


def taken(port: int) -> socket.socket:
    """Listen on a port as soon as the process that had it has ended."""
    while True:
        with suppress(OSError):
            return socket.create_server(("127.0.0.1", port))
        time.sleep(0.1)


@pytest.mark.system
def test_a_client_outlives_its_managed_server(own_server: Settings, tmp_path: Path) -> None:
    """It is started again, on another port if the old one is taken."""
    with opened(own_server) as client:
        tenant = fresh_tenant()
        memory = client.tenant(tenant)
        # A new server takes long to plan a recall or a commit, and no time for what follows.
        kept = str(memory.remember(unlike(1)).memory_id)
        before = local_server.status(own_server)
        os.kill(before.pid or 0, signal.SIGKILL)
        with closing(taken(int(str(before.uri).rsplit(":", 1)[1]))):
            assert memory.memories.get(kept).content == unlike(1)
            assert local_server.status(own_server).uri != before.uri
            assert memory.episodes.add(content=unlike(2))

    async def awaited() -> None:
        async with await AsyncGraphMem.open(settings=own_server, embedder=HashEmbedder()) as one:
            assert local_server.stop(own_server)
            assert (await one.tenant(tenant).memories.get(kept)).content == unlike(1)

    asyncio.run(awaited())


@pytest.mark.system
def test_closing_starts_no_server_and_never_raises(
    own_server: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    client = opened(own_server)
    client.tenant(fresh_tenant()).usage.log_search("?", tool="grep")  # is written when closing
    assert local_server.stop(own_server)
    began = time.monotonic()
    client.close()
    assert time.monotonic() - began < 5
    assert not local_server.status(own_server).running
    assert "still to be written" in caplog.text
