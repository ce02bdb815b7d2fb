"""The commands of docs/reference/http.md run in order against a server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from graphmem.serve.keys import RIGHTS
from graphmem.settings import Settings
from tests.docs.conftest import FENCED
from tests.plugins.children import environ_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "http.md").read_text("utf-8")
START, CALLS, KEYS = (text for kind, text in FENCED.findall(PAGE) if kind == "bash")
WORKERS = 2


@pytest.fixture
def environ(migrated: Settings, tenant: str, tmp_path: Path) -> dict[str, str]:
    """The environment of the commands, on an unused tenant."""
    return environ_of(migrated, tenant) | {
        "GRAPHMEM_EMBEDDER": "hash",
        "GRAPHMEM_SERVE_KEYS": str(tmp_path / "keys.json"),
        "PYTHONPATH": str(ROOT),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
    }


@pytest.fixture
def address(environ: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """The address of a running server, which is ready."""
    log = tmp_path / "log.txt"
    command = [sys.executable, "-m", "graphmem", "serve", "--port", "0", "--workers", str(WORKERS)]
    with log.open("w") as errors:
        server = subprocess.Popen(command, env=environ, cwd=tmp_path, stderr=errors)
    try:
        yield _ready(server, log)
    finally:
        server.terminate()
        assert server.wait(60) in (0, -15), log.read_text()
    assert "Traceback" not in log.read_text()
    assert "gm_" not in log.read_text().replace("Bearer gm_…", "")


def _ready(server: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        if found := re.search(r"Serving http://(\S+)\. ", log.read_text()):
            try:
                if httpx2.get(f"http://{found[1]}/health/ready", timeout=30).status_code == 200:
                    return found[1]
            except httpx2.TransportError:
                pass
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def test_the_commands_run(address: str, environ: dict[str, str], tmp_path: Path) -> None:
    install, key, serve = START.splitlines()
    assert install.startswith("pip install 'graphmem[")
    assert serve == "graphmem serve &"
    lines = CALLS.replace("localhost:8766", address).splitlines()
    assert len(lines) == 5
    assert all(line.startswith("curl ") for line in lines)

    def run(*script: str) -> str:
        done = subprocess.run(
            ["bash", "-euc", "\n".join(script)],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    shown = run(key, "sleep 1.2", *(f"{line}; echo" for line in lines)).splitlines()
    stored, turns, _, block, slot = map(json.loads, shown)
    assert stored["outcome"] == "INSERTED_NEW"
    assert turns["added"] == 1
    assert block["text"]
    assert slot["leader"]["object"] == "Atlas"
    create, listing, rotate, revoke, audit = KEYS.splitlines()
    keys = json.loads(run(create, f"{listing} --json")[:].partition("\n")[2])
    assert [(one["name"], one["scopes"]) for one in keys] == [
        ("laptop", ["user:alice"]),
        ("ci", ["team:*"]),
    ]
    run(rotate.replace("ID", keys[0]["id"]), revoke.replace("ID", keys[1]["id"]))
    changes = json.loads(run(f"{audit} --json"))
    assert [one["action"] for one in changes] == ["create", "create", "rotate", "revoke"]


def test_the_page_names_all_rights() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(RIGHTS)
