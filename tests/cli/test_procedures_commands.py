"""`graphmem admin procedures`: what can be called, and the jar for a server of one's own."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem.settings import Settings
from tests.plugins.server import Server

Run = Callable[..., Any]


@pytest.fixture
def cached(server: Server, server_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache in which the session's server left the compiler and the jar."""
    if server.kind != "managed":
        pytest.skip(f"the server of {server.kind} brings no Java to compile with")
    if server_settings.cache is not None:
        monkeypatch.setenv("GRAPHMEM_CACHE", str(server_settings.cache))


def test_every_procedure_is_listed_as_it_is_called(run: Run) -> None:
    listed = run("admin", "procedures", "list")
    assert (
        "graphmem.belief.slot_values(tenant, scope, scopes, subject, predicate [, valid,"
        in listed.out
    )
    data = run("admin", "procedures", "list", "--json").data
    assert len(data) > 60
    [one] = [each for each in data if each["name"] == "graphmem.belief.slot_values"]
    assert [(a["name"], a["kind"]) for a in one["arguments"] if a["required"]] == [
        *(("tenant", "string"), ("scope", "string"), ("scopes", "texts")),
        *(("subject", "string"), ("predicate", "string")),
    ]
    assert one["columns"][:2] == [
        {"name": "object", "kind": "string", "text": "object of the candidate, as first written"},
        {"name": "belief", "kind": "float", "text": "in [0, 1)"},
    ]


def test_the_jar_is_put_where_it_is_wanted(run: Run, cached: None, tmp_path: Path) -> None:
    made = run("admin", "procedures", "build", "--output", str(tmp_path / "plugins"), "--json").data
    jar = tmp_path / "plugins" / "graphmem-procedures.jar"
    assert made["file"] == str(jar)
    assert made["bytes"] == jar.stat().st_size
    assert made["procedures"] > 60
    with zipfile.ZipFile(jar) as found:
        assert "graphmem/Belief.class" in found.namelist()
    again = run("admin", "procedures", "build")
    assert again.code == 0
    assert "procedures, " in again.out


def test_what_stands_in_the_way_is_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GRAPHMEM_MAVEN_MIRROR", "http://127.0.0.1:1")
    refused = run("admin", "procedures", "build", "--json")
    assert refused.code == 3
    assert "server_fetch" in refused.err
