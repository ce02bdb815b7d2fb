"""Data of every earlier release is imported and read as that release read it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import graphmem
from graphmem import GraphMem, Handle
from tests.release.fixture import FOLDER, known_of, migrations, read, write

EXPORTS = sorted(FOLDER.glob("*.jsonl"))


def held(export: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(export.with_suffix(".json").read_text("utf-8"))
    return found


def test_this_version_has_its_files() -> None:
    """If this fails, run `just fixture`."""
    assert f"{graphmem.__version__}.jsonl" in [export.name for export in EXPORTS]


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.stem)
def test_an_export_of_a_release_is_read_as_it_was(memory: Handle, export: Path) -> None:
    done = memory.admin.import_from(export)
    assert (done.there, done.kept, done.erased) == (0, 0, {})
    assert read(memory, known_of(export)) == held(export)["read"]
    assert memory.admin.verify().wrong == ()


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.stem)
def test_a_migration_of_a_release_has_not_changed(export: Path) -> None:
    """A graph of that release refuses a changed file; add another migration instead."""
    now = migrations()
    assert {name: now.get(name) for name in held(export)["migrations"]} == held(export)[
        "migrations"
    ]


def test_the_files_are_written(client: GraphMem, tmp_path: Path) -> None:
    write(client, tmp_path, "new")
    new = tmp_path / "new.jsonl"
    scopes = held(new)["read"]
    assert scopes.keys() == {"global", "user:alice"}
    assert len(str(scopes)) > 2_000
