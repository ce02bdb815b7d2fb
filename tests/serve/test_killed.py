"""A server that is killed in each long call: the next one continues it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from graphmem import Handle
from graphmem.serve.keys import RIGHTS, Grant, KeyFile
from graphmem.settings import Settings
from tests.plugins.children import environ_of
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.ratings import Rate
from tests.plugins.service import settings_of
from tests.plugins.texts import unlike

SCOPE = "user:alice"
SERVER = """
import os, sys
from contextvars import ContextVar
from graphmem.client import AsyncGraphMem
from graphmem.graph.driver import AwaitedGraph
from graphmem.serve.listening import ListenAddress
from graphmem.serve import app, long_calls, server
from graphmem.settings import Settings

settings = Settings.load()
listening = ListenAddress(port=0).opened()
address = ListenAddress(port=listening.getsockname()[1])
left = ContextVar("left", default=None)

def deadly(method):
    real = getattr(AwaitedGraph, method)
    async def transaction(self, work):
        done = await real(self, work)
        rest = left.get()
        if rest is not None:
            rest.pop()
            if not rest:
                os.kill(os.getpid(), 9)
        return done
    setattr(AwaitedGraph, method, transaction)

def arranged(method, transactions):
    real = long_calls.performed
    async def performed(memory, handle, lease, progress):
        if lease.method == method:
            left.set([None] * transactions)
        return await real(memory, handle, lease, progress)
    long_calls.performed = performed
    called = app._called
    async def answered(handle, operation, arguments):
        if operation.method == method:
            left.set([None] * transactions)
        return await called(handle, operation, arguments)
    app._called = answered
    deadly("read")
    deadly("write")

print(address.port, flush=True)
for line in sys.stdin:
    method, transactions = line.split()
    child = os.fork()
    if not child:
        if method != "none":
            arranged(method, int(transactions))
        server.serve(server.Options(settings, address), listening)
        os._exit(0)
    print(child, flush=True)
    print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
"""
ERASURES: tuple[tuple[str, str, Any, int], ...] = (
    ("admin.erase_tenant", "/admin/erase-tenant", {}, 7),
    ("admin.erase_person", "/admin/erase-person", {"subject": "alice"}, 8),
    ("forget", "/forget", {"what": "scope", "item_id": SCOPE}, 8),
)
"""Likewise, of erasures, which have no operation: its node would be erased with the tenant."""
LONG_AGO = datetime.now(UTC) - timedelta(days=400)
TALK = [{"role": "user", "content": unlike(n), "session": f"s{n}", "id": "1"} for n in range(1, 5)]
FOREIGN = [
    {
        "id": str(n),
        "memory": unlike(n),
        "user_id": "alice",
        "created_at": "2025-05-01T10:00:00+00:00",
    }
    for n in range(1, 5)
]
CALLS: tuple[tuple[str, str, Any, int], ...] = (
    ("ingest", "/ingest", {"messages": TALK}, 3),
    ("extract", "/sessions/talk/extract", {"extractor": "rules"}, 1),
    ("consolidate", "/consolidate", {"extractive": True}, 2),
    ("episodes.compress", "/episodes/compress", {}, 2),
    ("episodes.summarise", "/episodes/summarise", {"by_rules": True}, 1),
    ("usage.prune", "/usage/prune", {"dry_run": False}, 1),
    ("usage.restore_pruned", "/usage/prune/{run_id}/restore", {}, 1),
    ("usage.rate", "/usage/rate", {}, 1),
    ("usage.roll_up", "/usage/roll-up", {"dry_run": False, "days": 0}, 1),
    ("run_jobs", "/admin/jobs", {"jobs": ["seal", "rate"]}, 3),
    ("admin.backfill", "/admin/backfill", {}, 1),
    ("admin.import_foreign", "/admin/import", {"data": {"results": FOREIGN}}, 1),
    ("admin.rebuild", "/admin/rebuild", {}, 3),
    ("admin.seal", "/admin/seal", {}, 1),
    ("admin.verify", "/admin/verify", {}, 3),
)
"""Method, path, body, and the number of transactions after which the process is killed."""


def fill(memory: Handle) -> None:
    """Write something for each of the calls."""
    with memory.session("talk") as session:
        session.add_messages([{"role": "user", "content": "I moved to Lisbon.", "at": LONG_AGO}])
    for n in range(1, 13):
        memory.episodes.add(episode_id=f"e{n}", content=f"{unlike(n)} " * 40, at=LONG_AGO)
        memory.observe("alice", "works_on", f"Project {n}")
        stored = str(memory.remember(unlike(n + 12)).memory_id)
        memory.usage.log_search("where?", tool="grep", results=[stored])
    memory.usage.flush()


class Launcher:
    """A process that forks a server, again after each was killed."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        keys = str(folder / "keys.json")
        own = {"GRAPHMEM_EMBEDDER": "hash", "GRAPHMEM_SERVE_KEYS": keys}
        self.child = 0
        self.log = folder / "log.txt"
        self.file = KeyFile.of(settings_of(settings, folder / "keys.json"))
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SERVER],
                env=environ_of(settings, "default") | own,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.http = httpx2.Client(base_url=f"http://127.0.0.1:{self.line()}", timeout=60)

    def line(self) -> int:
        """Return the next number that it prints."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def launch(self, method: str, transactions: int) -> int:
        """Start a server that is killed in a call of the method; return its process id."""
        assert self._process.stdin is not None
        print(method, transactions, file=self._process.stdin, flush=True)
        self.child = self.line()
        return self.child

    def close(self) -> None:
        """End the launcher."""
        self.http.close()
        with suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGKILL)
        self._process.communicate(timeout=60)

    def ended(self, key: str, operation_id: str) -> dict[str, Any]:
        """Return the state of an operation after its end."""
        headers = {"Authorization": f"Bearer {key}"}
        for _ in range(600):
            found = self.http.get(f"/v1/operations/{operation_id}", headers=headers).json()
            if found["finished_at"] is not None:
                break
            time.sleep(0.1)
        return dict(found)


@pytest.fixture
def launcher(migrated: Settings, tmp_path: Path) -> Iterator[Launcher]:
    found = Launcher(migrated, tmp_path)
    yield found
    found.close()
    assert "Traceback" not in found.log.read_text()


def key_of(launcher: Launcher, tenant: str) -> str:
    """Return a key with all rights in a tenant."""
    grant = Grant(tenant=tenant, scopes=(SCOPE, "*"), rights=RIGHTS)
    return launcher.file.create("test", grant, days=None)[1]


def killed(launcher: Launcher, memory: Handle, call: tuple[str, str, Any, int]) -> tuple[str, str]:
    """Return key and operation of a call in which its server was killed."""
    method, path, body, transactions = call
    tenant = memory._state.context.tenant
    if "{run_id}" in path:
        run_id = memory.usage.prune(dry_run=False).run_id
        assert run_id is not None
        path = path.replace("{run_id}", run_id)
    key = key_of(launcher, tenant)
    launcher.launch(method, transactions)
    headers = {"Authorization": f"Bearer {key}"}
    answer = launcher.http.post(f"/v1{path}", json=body, headers=headers)
    assert answer.status_code == 202, answer.text
    assert launcher.line() == signal.SIGKILL, method
    return key, answer.json()["id"]


@pytest.mark.timeout(300)
def test_killed_long_calls_are_continued(
    client: Handle, look: Look, launcher: Launcher, rate: Rate
) -> None:
    started = dict[str, tuple[str, str, str]]()
    for call in CALLS:
        tenant = fresh_tenant()
        memory = on_tenant(client, tenant).scope(SCOPE)
        fill(memory)
        rate(memory, {f"e{n}": 500.0 for n in range(1, 13)})
        started[call[0]] = (tenant, *killed(launcher, memory, call))
    child = launcher.launch("none", 0)
    for method, (tenant, key, operation_id) in started.items():
        state = launcher.ended(key, operation_id)
        assert state["state"] == "succeeded", (method, state)
        [row] = look.rows(
            "MATCH (n:JobUnit {tenant: $tenant, id: $id}) RETURN n.failures AS resumed",
            tenant=tenant,
            id=operation_id,
        )
        assert row["resumed"] >= 1, method
    os.kill(child, signal.SIGTERM)
    ingested = on_tenant(client, started["ingest"][0]).scope(SCOPE)
    assert [len(ingested.episodes.list(session_id=f"s{n}").episodes) for n in range(1, 5)] == [
        1
    ] * 4
    imported = on_tenant(client, started["admin.import_foreign"][0]).scope(SCOPE)
    texts = [one.content for one in imported.memories.list(limit=100).memories]
    assert all(texts.count(unlike(n)) == 1 for n in range(1, 5))


LEFT = """
MATCH (n {tenant: $tenant})
WHERE NOT n:Tombstone AND n.scope IN [$scope, 'global']
RETURN count(n) AS found, count(CASE WHEN n.subject = 'alice' THEN 1 END) AS of_alice
"""


@pytest.mark.timeout(300)
def test_killed_erasures_are_continued_by_the_same_request(
    client: Handle, look: Look, launcher: Launcher
) -> None:
    started = dict[str, tuple[str, dict[str, str]]]()
    for method, path, body, transactions in ERASURES:
        tenant = fresh_tenant()
        fill(on_tenant(client, tenant).scope(SCOPE))
        headers = {"Authorization": f"Bearer {key_of(launcher, tenant)}"}
        launcher.launch(method, transactions)
        with pytest.raises(httpx2.TransportError):
            launcher.http.post(f"/v1{path}", json=body | {"dry_run": False}, headers=headers)
        assert launcher.line() == signal.SIGKILL, method
        started[method] = tenant, headers
    child = launcher.launch("none", 0)
    for method, path, body, _ in ERASURES:
        tenant, headers = started[method]
        given = body | {"dry_run": False}
        answer = launcher.http.post(f"/v1{path}", json=given, headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.json()["certificate"]["signature"], answer.text
        [left] = look.rows(LEFT, tenant=tenant, scope=SCOPE)
        assert left["of_alice" if method == "admin.erase_person" else "found"] == 0
        records = launcher.http.get("/v1/admin/erasures", headers=headers).json()["erasures"]
        assert len(records) == 1
    os.kill(child, signal.SIGTERM)
