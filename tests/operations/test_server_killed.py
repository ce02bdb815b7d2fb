"""Law 8: what was acknowledged is there after the server was killed, once."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import neo4j
import pytest

from graphmem import GraphMem, Message, Settings
from graphmem.adapters import local_server
from graphmem.errors import UnavailableError
from graphmem.rules.gathering import Kept
from graphmem.testing import HashEmbedder
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

MEMORIES = {"dev": 1_500, "check": 1_500, "deep": 5_000}[
    os.environ.get("HYPOTHESIS_PROFILE", "dev")
]
TENANT = "survivor"


@pytest.fixture
def own_server(server_settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    """A managed server that may be killed."""
    own = server_settings.model_copy(update={"home": tmp_path / "home", "retry_time_s": 1.0})
    try:
        yield own
    finally:
        local_server.stop(own)


def looked_at(settings: Settings) -> tuple[list[str], list[str], Counter[str]]:
    """Return every event's id, every turn's id, and how often each content is a memory."""
    endpoint = local_server.ensure(settings)
    auth = (endpoint.user, endpoint.password.get_secret_value())
    with neo4j.GraphDatabase.driver(endpoint.uri, auth=auth) as driver:
        look = Look(driver)
        turns = look.rows("MATCH (t:Turn {tenant: $tenant}) RETURN t.id AS id", tenant=TENANT)
        events = look.rows(
            "MATCH (e:Event {tenant: $tenant})-[:REINFORCES]->(m:Memory) RETURN e.id AS id",
            tenant=TENANT,
        )
        memories = look.rows(
            "MATCH (m:Memory {tenant: $tenant}) RETURN m.content AS content", tenant=TENANT
        )
    return (
        [row["id"] for row in events],
        [row["id"] for row in turns],
        Counter(row["content"] for row in memories),
    )


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.timeout(600)
def test_what_was_acknowledged_survives_the_server_once(own_server: Settings) -> None:
    said = [
        Message(role="user", content=unlike(n), id=str(n), session=f"s{n % 3}")
        for n in range(MEMORIES)
    ]
    acknowledged: list[Kept] = []
    is_time = threading.Event()
    pid: list[int] = []

    def kill() -> None:
        is_time.wait()
        os.kill(pid[0], signal.SIGKILL)

    def on_batch(kept: Sequence[Kept]) -> None:
        acknowledged.extend(kept)
        if len(acknowledged) >= MEMORIES // 2:
            is_time.set()

    # The killer is a thread of its own, so that it strikes while the next batch is on its way.
    killer = threading.Thread(target=kill)
    with GraphMem.open(own_server, embedder=HashEmbedder()) as client:
        pid.append(local_server.status(own_server).pid or 0)
        assert pid[0]
        killer.start()
        try:
            with pytest.raises(UnavailableError):
                client.tenant(TENANT).ingest(said, on_batch)
        finally:
            is_time.set()
            killer.join()
    assert MEMORIES // 2 <= len(acknowledged) < MEMORIES

    events, turns, _ = looked_at(own_server)
    promised = [kept.outcome for kept in acknowledged if kept.outcome]
    assert len(promised) == len(acknowledged)
    assert {outcome.event_id for outcome in promised} <= set(events)
    assert len(set(events)) == len(events)
    assert len(set(turns)) == len(turns)

    with GraphMem.open(own_server, embedder=HashEmbedder()) as client:
        memory = client.tenant(TENANT)
        resumed = memory.ingest(said)
        again = memory.ingest(said)
        for outcome in promised[:: MEMORIES // 20]:
            assert memory.get(str(outcome.memory_id)).content_hash == outcome.content_hash

    assert resumed.repeated >= len(acknowledged)
    assert (again.turns_added, again.repeated, again.outcomes) == (0, MEMORIES, {})
    events, turns, contents = looked_at(own_server)
    assert len(events) == len(set(events)) == len(turns) == len(set(turns)) == MEMORIES
    assert contents == Counter(message.content for message in said)
