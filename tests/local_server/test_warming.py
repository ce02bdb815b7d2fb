"""The longest reads are planned in the background of a start, as the client sends them."""

from __future__ import annotations

import asyncio
import io
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import neo4j
import psutil
import pytest
from filelock import FileLock

from graphmem import AsOf, GraphMem, local_server
from graphmem.client import connect
from graphmem.errors import LocalServerError
from graphmem.graph import catalog
from graphmem.graph.driver import AwaitedGraph, BlockingGraph
from graphmem.local_server import Endpoint, warming
from graphmem.local_server.files import DataFolder
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

LONGEST = 31_200
"""Characters of a hot query, without comments and indentation, which are not planned. A cold server
plans about 6,000 of them in a second."""


def at_work(folder: DataFolder) -> bool:
    """Whether a process plans for the server of this folder."""
    home = str(folder.root.parent)
    return any(
        warming.__name__ in (running.info["cmdline"] or ())
        and (running.info["environ"] or {}).get("GRAPHMEM_HOME") == home
        for running in psutil.process_iter(["cmdline", "environ"])
    )


def cleared(endpoint: Endpoint) -> int:
    """Forget every plan of a server; return how many there were."""
    auth = (endpoint.user, endpoint.password.get_secret_value())
    with neo4j.GraphDatabase.driver(endpoint.uri, auth=auth) as driver:
        [row] = driver.execute_query("CALL db.clearQueryCaches()").records
    found = re.search(r"\d+", str(row.value()))  # an empty cache is reported in words
    return int(found[0]) if found else 0


@pytest.mark.parametrize("name", warming.HOT)
def test_a_hot_query_is_short_enough_to_plan(name: str) -> None:
    lines = (line.strip() for line in catalog.procedure(name).text.splitlines())
    assert sum(len(line) + 1 for line in lines if not line.startswith("//")) < LONGEST


def test_a_read_waits_while_its_query_is_being_planned(tmp_path: Path) -> None:
    folder = DataFolder.of(Settings(home=tmp_path))
    folder.create()
    name = warming.HOT[0]
    file = warming._lock_file(folder, name)
    assert warming.plan_in_progress(folder, name) is None
    with FileLock(file):
        assert warming.plan_in_progress(folder, "memory/get") is None
        wait = warming.plan_in_progress(folder, name)
        assert wait is not None
        reader = threading.Thread(target=wait)
        reader.start()
        reader.join(0.2)
        assert reader.is_alive()
    reader.join(60)
    assert not reader.is_alive()
    assert warming.plan_in_progress(folder, name) is None


@pytest.mark.parametrize("awaited", [False, True])
def test_each_query_asks_whether_it_is_being_planned(
    migrated: Settings,
    awaited: bool,  # noqa: FBT001
) -> None:
    asked: list[str] = []
    waited: list[str] = []

    def planning(name: str) -> Callable[[], None]:
        asked.append(name)
        return lambda: waited.append(name)

    kind = AwaitedGraph if awaited else BlockingGraph

    async def read() -> None:
        graph = kind(connect.address(migrated, connect.silent), migrated, planning)
        await graph.read(lambda tx: tx.fetch(catalog.query("schema/generation", dict)))
        await graph.close()

    asyncio.run(read())
    assert asked == waited == ["schema/generation"]


def test_nothing_is_planned_for_a_server_that_did_not_start(
    tmp_path: Path, eventually: Callable[..., None]
) -> None:
    folder = DataFolder.of(Settings(home=tmp_path))

    def fail() -> None:
        with warming.after_start(folder):
            eventually(lambda: at_work(folder))
            raise LocalServerError("it did not start")

    with pytest.raises(LocalServerError):
        fail()
    eventually(lambda: not at_work(folder))
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("sent", "plans"), [(b"", 0), (warming.GO, 1)])
def test_it_plans_when_the_server_has_started(
    sent: bytes,
    plans: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planned: list[DataFolder] = []
    monkeypatch.setenv("GRAPHMEM_HOME", str(tmp_path))
    monkeypatch.setattr(warming, "warm", planned.append)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sent)))
    warming.main()
    assert planned == [DataFolder.of(Settings(home=tmp_path))] * plans


@pytest.mark.system
@pytest.mark.timeout(600)
def test_the_first_reads_find_their_plans(
    own_server: Settings, eventually: Callable[..., None]
) -> None:
    endpoint, folder = local_server.ensure(own_server), DataFolder.of(own_server)
    assert at_work(folder)
    eventually(lambda: not at_work(folder))
    # Queries that write the search log are planned too, at another time.
    settings = own_server.model_copy(update={"access_log": False})
    with GraphMem.open(settings=settings, embedder=HashEmbedder()) as client:
        memory = client.tenant("warm").scope("s")
        belief = memory.observe("alice", "works_on", "Atlas").belief_id
        memory.remember("Alice works on Atlas.")
        cleared(endpoint)

        with FileLock(folder.root / "warming.lock"):
            warming.warm(folder)
        assert cleared(endpoint) == 0

        with warming.after_start(folder):
            eventually(lambda: at_work(folder))
        steps: list[str] = []
        local_server.plan_first_reads(own_server, lambda step: steps.append(step.text))
        assert steps == ["Planning the first recall"]
        eventually(lambda: not at_work(folder), 300)
        now = datetime.now(UTC)
        memory.recall("Who works on Atlas?")
        for then in (AsOf(valid=now), AsOf(valid=now, known=now)):
            memory.recall("Who works on Atlas?", as_of=then)
            memory.current("alice", "works_on", as_of=then)
            memory.why(belief, as_of=then)
        # One more asks for the generation of the embeddings.
        assert cleared(endpoint) == len(warming.HOT) + 1

    with warming.after_start(folder):
        eventually(lambda: at_work(folder))
    local_server.stop(own_server)
    eventually(lambda: not at_work(folder))
