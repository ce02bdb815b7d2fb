"""`graphmem admin metrics`, scraped as Prometheus does it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.plugins import children

Run = Callable[..., Any]


@pytest.fixture
def remembered(migrated: Settings, tenant: str) -> str:
    """A tenant of two memories in two scopes."""
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        memory = client.tenant(tenant)
        memory.remember("Alice deploys from Borealis.")
        memory.scope("alice").remember("Bob prefers tea.")
    return tenant


def values(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Return the samples of one name, by the values of their labels, in the labels' order."""
    return {
        tuple(one.labels.values()): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
        if one.name == name
    }


def test_a_scrape_is_printed(run: Run, remembered: str) -> None:
    shown = run("admin", "metrics", "show").out
    assert values(shown, "graphmem_memories")["current",] == 2
    assert values(shown, "graphmem_graph_up") == {(): 1}
    assert remembered not in shown
    families = {family["name"]: family for family in run("admin", "metrics", "show", "--json").data}
    assert families["graphmem_memories"]["type"] == "gauge"
    assert families["graphmem_memories"]["samples"][0] == {
        "name": "graphmem_memories",
        "labels": {"status": "current"},
        "value": 2,
    }


def test_tenants_are_named_when_that_is_asked_for(run: Run, remembered: str) -> None:
    labelled = run(
        "admin", "metrics", "show", "--by-tenant", remembered, "--by-tenant", "nobody"
    ).out
    found = values(labelled, "graphmem_memories")
    assert found["current", remembered] == 2
    assert found["current", "nobody"] == 0
    other = run("admin", "metrics", "show", "--tenant", "nobody").out
    assert values(other, "graphmem_memories")["current",] == 0
    refused = run("admin", "metrics", "show", "--by-tenant", "")
    assert (refused.code, "tenant" in refused.err) == (2, True)


def test_a_served_exporter_is_scraped(migrated: Settings, remembered: str, tenant: str) -> None:
    environ = children.environ_of(migrated, tenant)
    password = environ["GRAPHMEM_PASSWORD"]
    command = [sys.executable, "-m", "graphmem", "admin", "metrics", "serve"]
    options = ["--port", "0", "--every", "1", "--json"]
    with subprocess.Popen([*command, *options], env=environ, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            told = b"".join(server.stdout.readline() for _ in range(3))
            address = json.loads(told)["address"]
            assert address.startswith("http://127.0.0.1:")
            first = scrape(address)
            assert values(first, "graphmem_memories")["current",] == 2
            for secret in (password, tenant, "Borealis"):
                assert secret not in first
            with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
                client.tenant(tenant).remember("Carol deploys from Atlas.")
            until = time.monotonic() + 300
            while values(scrape(address), "graphmem_memories")["current",] != 3:
                assert time.monotonic() < until
                time.sleep(0.1)
            taken = subprocess.run(
                [*command, "--port", address.rpartition(":")[2].partition("/")[0]],
                env=environ,
                capture_output=True,
                text=True,
                timeout=300,
            )
            assert taken.returncode == 2
            assert "--port" in taken.stderr
        finally:
            server.kill()
    with pytest.raises(urllib.error.URLError):
        scrape(address)


def scrape(address: str) -> str:
    with urllib.request.urlopen(address, timeout=300) as answer:  # noqa: S310 - our own, on loopback
        text: str = answer.read().decode()
        return text


def test_an_address_that_is_none_is_refused(run: Run) -> None:
    refused = run("admin", "metrics", "serve", "--host", "256.1.1.1", "--port", "0")
    assert (refused.code, "256.1.1.1" in refused.err) == (2, True)
    assert run("admin", "metrics", "serve", "--every", "0").code == 2
