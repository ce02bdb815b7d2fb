"""A tenant with one of everything that moves from one server to another by the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graphmem import GraphMem, Handle, local_server
from graphmem.errors import TenantMovedError
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.client.test_transfer import everything, whole
from tests.local_server.conftest import own_server as own_server
from tests.plugins.graph import Look, driver_of
from tests.plugins.server import keeping_plans
from tests.plugins.texts import unlike
from tests.transfer.test_moving import WRITES

CHILD = """
import sys
from graphmem import GraphMem, Settings
from graphmem.testing import HashEmbedder

def tell(kind, count):
    print(kind, count, flush=True)
    sys.stdin.readline()

def opened(**place):
    return GraphMem.open(settings=Settings.load(**place), embedder=HashEmbedder())

uri, password = sys.argv[1:]
source, target = opened(), opened(uri=uri, password=password)
source.admin.move_to(target, dry_run=False, on_progress=tell)
"""


@pytest.mark.system
def test_a_tenant_moves_to_another_server(
    run: Run,
    plain: Handle,
    tenant: str,
    look: Look,
    own_server: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with keeping_plans():
        place = local_server.ensure(own_server)
    password = place.password.get_secret_value()
    there = own_server.model_copy(update={"uri": place.uri, "password": place.password})
    everything(plain)
    erased = plain.remember(unlike(300))
    assert erased.memory_id
    plain.forget("memory", erased.memory_id, dry_run=False)
    monkeypatch.setenv("GRAPHMEM_TO_PASSWORD", password)
    command = ("admin", "move", "--to", place.uri)
    with GraphMem.open(settings=own_server, embedder=HashEmbedder(), tenant=tenant) as target:
        planned = run(*command, "--json").data
        assert (planned["applied"], planned["passes"]) == (False, 0)
        assert run(*command, "--give-up", "--apply").code == 1

        kill_in_the_middle(place.uri, password)
        acknowledged, report = moved_under_writes(
            plain, lambda: run(*command, "--apply", "--json").data
        )

        assert report["applied"]
        assert report["resumed"]
        assert len(report["digest"]) == 64
        with driver_of(there) as driver:
            copy = Look(driver)
            here, away = whole(look, tenant), whole(copy, tenant)
            assert away == here
            assert acknowledged <= set(copy.events(tenant))
        assert target.admin.verify().wrong == ()
        assert target.admin.erasures() == plain.admin.erasures()
        assert target.remember(unlike(300)).hygiene_reasons == ("erased",)
        assert run(*command, "--apply", "--json").data["repeated"]
    refused = run("memory", "remember", unlike(400), "--json")
    assert (refused.code, json.loads(refused.err)["error"]["code"]) == (1, "tenant_moved")


def kill_in_the_middle(uri: str, password: str) -> None:
    """Begin the move in a process of its own, and kill that when half is copied."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, uri, password],
        env=dict(os.environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin
        assert child.stdout
        while not child.stdout.readline().startswith("Memory"):
            child.stdin.write("\n")
            child.stdin.flush()
        child.send_signal(signal.SIGKILL)


def moved_under_writes(memory: Handle, move: Callable[[], Any]) -> tuple[set[str], Any]:
    """Return the ids of the events that were acknowledged while a tenant moved, and the report."""
    names = ("remember", "observe", "tags")
    acknowledged: dict[str, set[str]] = {name: set() for name in names}
    started = threading.Barrier(len(names) + 1)

    def write(name: str) -> None:
        started.wait()
        for n in range(100_000):
            try:
                acknowledged[name].add(WRITES[name](memory, n))
            except TenantMovedError:
                return

    with ThreadPoolExecutor(len(names)) as pool:
        for name in names:
            pool.submit(write, name)
        started.wait()
        report = move()
    assert all(len(some) > 1 for some in acknowledged.values())
    return set().union(*acknowledged.values()), report
