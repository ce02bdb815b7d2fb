"""The command line called as a user calls it, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from graphmem.cli import main
from graphmem.settings import Settings
from tests.plugins.children import variables_of


@dataclass(frozen=True)
class Ran:
    """What one command left behind."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


def in_process(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `graphmem …` in this process."""

    def ran(*args: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main(list(args))
        seen = capsys.readouterr()
        return Ran(int(ended.value.code or 0), seen.out, seen.err)

    return ran


@pytest.fixture
def run(
    migrated: Settings,
    tenant: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run `graphmem …` on a fresh tenant of the session's server."""
    for name, value in variables_of(migrated, tenant).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GRAPHMEM_EMBEDDER", "hash")
    monkeypatch.setenv("COLUMNS", "200")

    return in_process(capsys)
