"""Law 8: what was acknowledged is there after the server was killed, once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest

from graphmem import GraphMem, Message, Settings, local_server
from graphmem.errors import UnavailableError
from graphmem.items import PutItem, SearchItems
from graphmem.model import EvidenceReceipt, Origin
from graphmem.testing import HashEmbedder
from tests.plugins.examples import examples
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

TURNS = examples(1_500, 1_500, 5_000)
EVIDENCE = examples(3_000, 3_000, 20_000)
BATCH = 500
"""Pieces of evidence that are one transaction."""
TENANT = "survivor"
WITNESS = "witness"
"""The tenant of the evidence."""


@pytest.fixture(scope="module")
def own_server(
    server_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """A managed server that may be killed; whoever needs it starts it."""
    home = tmp_path_factory.mktemp("killed") / "home"
    own = server_settings.model_copy(update={"home": home, "max_retry_time_s": 1.0})
    try:
        yield own
    finally:
        local_server.stop(own)


def by_address(own: Settings) -> Settings:
    """Return settings with the address of the running server, whose schema is current.

    A client that manages its server would start it again and continue, if that is fast enough.
    """
    GraphMem.open(settings=own, embedder=HashEmbedder()).close()
    endpoint = local_server.ensure(own)
    found = {"uri": endpoint.uri, "user": endpoint.user, "password": endpoint.password}
    return own.model_copy(update=found)


@contextmanager
def killing(settings: Settings) -> Iterator[threading.Event]:
    """Yield what kills the server once it is set.

    The killer is a thread of its own, so that it strikes while the next batch is on its way.
    """
    pid = local_server.status(settings).pid
    assert pid
    is_time = threading.Event()

    def kill() -> None:
        is_time.wait()
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield is_time
    finally:
        is_time.set()
        killer.join()


def stored_turns(settings: Settings) -> list[tuple[str, str]]:
    """Return the id and the text of every turn."""
    endpoint = local_server.ensure(settings)
    auth = (endpoint.user, endpoint.password.get_secret_value())
    with neo4j.GraphDatabase.driver(endpoint.uri, auth=auth) as driver:
        rows = Look(driver).rows(
            "MATCH (t:Turn {tenant: $tenant}) RETURN t.id AS id, t.text AS text", tenant=TENANT
        )
    return [(row["id"], row["text"]) for row in rows]


@pytest.mark.system
@pytest.mark.timeout(600)
def test_what_was_acknowledged_survives_the_server_once(own_server: Settings) -> None:
    said = [
        Message(role="user", content=unlike(n), id=str(n), session=f"s{n % 3}")
        for n in range(TURNS)
    ]
    acknowledged = 0
    with (
        GraphMem.open(settings=by_address(own_server), embedder=HashEmbedder()) as client,
        killing(own_server) as kill,
    ):

        def on_batch(_: str, count: int) -> None:
            nonlocal acknowledged
            acknowledged += count
            if acknowledged >= TURNS // 2:
                kill.set()

        with pytest.raises(UnavailableError):
            client.tenant(TENANT).ingest(said, on_batch)
    assert TURNS // 2 <= acknowledged < TURNS

    stored = stored_turns(own_server)
    # Sessions are stored one after the other.
    promised = sorted(said, key=lambda one: str(one.session))[:acknowledged]
    assert {one.content for one in promised} <= {text for _, text in stored}
    assert len({turn_id for turn_id, _ in stored}) == len(stored)

    with GraphMem.open(settings=own_server, embedder=HashEmbedder()) as client:
        memory = client.tenant(TENANT)
        assert memory.ingest(said).turns_added == TURNS - len(stored)
        assert memory.ingest(said).turns_added == 0

    texts = sorted(text for _, text in stored_turns(own_server))
    assert texts == sorted(one.content for one in said)


def events_of(settings: Settings, tenant: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the events and the beliefs of a tenant, each by its id."""
    endpoint = local_server.ensure(settings)
    auth = (endpoint.user, endpoint.password.get_secret_value())
    with neo4j.GraphDatabase.driver(endpoint.uri, auth=auth) as driver:
        look = Look(driver)
        return look.events(tenant), look.beliefs(tenant)


@pytest.mark.system
@pytest.mark.timeout(600)
def test_acknowledged_evidence_survives_the_server_once(own_server: Settings) -> None:
    start = datetime(2025, 5, 5, tzinfo=UTC)
    seen = [
        {
            "subject": f"s{n % 40}",
            "predicate": "is",
            "object": f"o{n % 3}",
            "confidence": n % 10 / 10,
            "at": start + timedelta(seconds=n),
            "event_id": f"e{n}",
        }
        for n in range(EVIDENCE)
    ]
    acknowledged: list[EvidenceReceipt] = []
    with (
        GraphMem.open(settings=by_address(own_server), embedder=HashEmbedder()) as client,
        killing(own_server) as kill,
    ):
        memory = client.tenant(WITNESS)
        memory.predicates.declare("is", cardinality="ONE", at=start)
        old = memory.believe("It rains", at=start)
        memory.add_evidence(old, "refuting", 0.85, event_id="told")
        memory.beliefs.retract("told", origin=Origin(event_id="taken back"))
        # Of something that the first batch brings, and of something that the last one brings.
        memory.beliefs.retract("e7", missing_ok=True)
        memory.beliefs.retract(f"e{EVIDENCE - 1}", missing_ok=True)
        new = memory.beliefs.revise(old, "It pours").newer_ids[0]

        def on_batch(part: Sequence[EvidenceReceipt]) -> None:
            acknowledged.extend(part)
            if len(acknowledged) >= EVIDENCE // 2:
                kill.set()

        with pytest.raises(UnavailableError):
            memory.observe_many(seen, on_batch)
    assert EVIDENCE // 2 <= len(acknowledged) < EVIDENCE

    events, _ = events_of(own_server, WITNESS)
    there = {name for name in events if name in {one["event_id"] for one in seen}}
    assert {one.event_id for one in acknowledged} <= there
    # A batch is there whole or not at all.
    assert len(there) % BATCH == 0

    with GraphMem.open(settings=own_server, embedder=HashEmbedder()) as client:
        memory = client.tenant(WITNESS)
        resumed = memory.observe_many(seen)
        assert {one.event_id for one in resumed if one.repeated} == there
        assert all(one.repeated for one in memory.observe_many(seen))
        assert memory.admin.verify().wrong == ()
        counted = [memory.current(f"s{n}", "is").candidates for n in range(40)]
        assert sum(c.events for values in counted for c in values) == EVIDENCE - 2
        assert [memory.beliefs.get(b).status for b in (old.belief_id, new)] == [
            "superseded",
            "current",
        ]
        assert memory.beliefs.get(old).verdict.evidence == 0

    events, beliefs = events_of(own_server, WITNESS)
    assert len(events) == EVIDENCE + 8
    assert all("embedding" in b and "unembedded" not in b for b in beliefs.values())
    retracted = {e["target_id"]: e["edges"] for e in events.values() if e["type"] == "RETRACT"}
    assert retracted == {
        name: [["RETRACTS", "Event", name]] for name in ("told", "e7", f"e{EVIDENCE - 1}")
    }


@pytest.mark.system
@pytest.mark.timeout(600)
def test_items_that_were_acknowledged_survive_the_server(own_server: Settings) -> None:
    acknowledged: dict[str, int] = {}
    with (
        GraphMem.open(settings=by_address(own_server), embedder=HashEmbedder()) as client,
        killing(own_server) as kill,
    ):
        memory = client.tenant("items")

        def put_on() -> None:
            for n in range(5_000):
                put = [kept(f"{n % 20} {m}", n) for m in range(5)]
                memory.items.batch(put)
                acknowledged.update({one.key: n for one in put})
                if n == 100:
                    kill.set()

        with pytest.raises(UnavailableError):
            put_on()
    assert len(acknowledged) == 100

    with GraphMem.open(settings=own_server, embedder=HashEmbedder()) as client:
        memory = client.tenant("items")
        [found, named] = memory.items.batch([SearchItems(limit=1_000), SearchItems(query="text")])
        values = {one.key: one.value["n"] for one in found}  # type: ignore[union-attr]
        # The batch that was under way may be there too, whole.
        last = max(acknowledged.values()) + 1
        creation_order = {kept(f"{last % 20} {m}", last).key: last for m in range(5)}
        assert values in (acknowledged, acknowledged | creation_order)
        assert len(named) == 10  # type: ignore[arg-type]


def kept(key: str, n: int) -> PutItem:
    """One item, found by one text."""
    return PutItem(namespace=("a",), key=key, value={"n": n}, texts={"text": f"text {n}"})
