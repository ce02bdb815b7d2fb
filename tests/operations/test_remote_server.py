"""A server behind a proxy that cuts or half-closes connections: nothing is lost or doubled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from graphmem import GraphMem, Settings
from graphmem.errors import GraphUnavailableError
from graphmem.jobs import schedule
from graphmem.testing import HashEmbedder
from graphmem.transfer import exporting
from tests.jobs.test_workers_stopped import JOBS, prepared, state, work
from tests.plugins.cutting import Wire, wire_to
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]
MOST = 400
"""Maximum number of transactions of a call."""
WAYS = [(how, early) for how in ("cut", "half") for early in (True, False)]


@pytest.fixture
def wire(migrated: Settings) -> Iterator[Wire]:
    server = urlsplit(str(migrated.uri))
    with wire_to(str(server.hostname), server.port or 7687) as wire:
        yield wire


@pytest.fixture
def remote(migrated: Settings, wire: Wire) -> Iterator[GraphMem]:
    """A client that reaches the server through the proxy and repeats nothing by itself."""
    given = {"uri": f"bolt://127.0.0.1:{wire.port}", "max_retry_time_s": 0.0}
    settings = migrated.model_copy(update=given)
    with GraphMem.open(settings=settings, embedder=HashEmbedder()) as client:
        yield client


@pytest.mark.parametrize(("how", "early"), WAYS)
def test_a_write_that_is_repeated_counts_once(
    remote: GraphMem, client: GraphMem, look: Look, wire: Wire, how: str, *, early: bool
) -> None:
    tenant = fresh_tenant()
    memory = remote.tenant(tenant)
    for nth in range(1, MOST):
        wire.cut_at(nth, early=early, how=how)
        try:
            memory.remember(unlike(1), event_id="m", claims=[("alice", "lives_in", "Porto")])
            memory.observe("alice", "lives_in", "Lisbon", event_id="o")
        except GraphUnavailableError:
            continue
        break
    assert wire.cuts == nth - 1 > 2
    assert look.count(tenant) == {"Belief": 2, "Event": 2, "Memory": 1}
    assert client.tenant(tenant).admin.verify().wrong == ()


@pytest.mark.parametrize(("how", "early"), WAYS)
def test_an_export_goes_on_after_each_cut(
    remote: GraphMem,
    client: GraphMem,
    wire: Wire,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    *,
    early: bool,
) -> None:
    monkeypatch.setattr(exporting, "PAGE", 2)
    tenant = fresh_tenant()
    client.tenant(tenant).remember_many([unlike(n) for n in range(5)])
    file = tmp_path / "remote.jsonl"
    for nth in range(1, MOST):
        wire.cut_at(nth, early=early, how=how)
        try:
            remote.tenant(tenant).admin.export_to(file)
        except GraphUnavailableError:
            assert not file.exists()
            continue
        break
    assert wire.cuts == nth - 1 > 2
    client.tenant(tenant).admin.export_to(tmp_path / "straight.jsonl")
    remote_lines, straight = (
        [{**json.loads(line), "check": None} for line in path.read_text("utf-8").splitlines()[1:]]
        for path in (file, tmp_path / "straight.jsonl")
    )
    assert remote_lines == straight


@pytest.mark.parametrize(("how", "early"), [("cut", False), ("half", True)])
def test_jobs_go_on_after_each_cut(
    remote: GraphMem,
    client: GraphMem,
    look: Look,
    wire: Wire,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    *,
    early: bool,
) -> None:
    # The next worker need not wait, nor does a failed job or one that has run.
    monkeypatch.setattr(schedule, "LEASE_S", -1)
    monkeypatch.setattr(schedule, "MIN_WAIT_S", -1)
    monkeypatch.setattr(schedule, "INTERVAL_S", dict.fromkeys(schedule.INTERVAL_S, -1))
    whole = prepared(client)
    work(client, whole, tmp_path / "whole", *JOBS)
    tenant = prepared(client)
    for nth in range(1, MOST, 15):
        cuts = wire.cuts
        wire.cut_at(nth, early=early, how=how)
        with suppress(GraphUnavailableError):  # One cut fails only the unit that it hits.
            work(remote, tenant, tmp_path / "remote", *JOBS)
        if wire.cuts == cuts:
            break
    assert wire.cuts > 2
    assert state(client, look, tenant, tmp_path / "remote") == state(
        client, look, whole, tmp_path / "whole"
    )
