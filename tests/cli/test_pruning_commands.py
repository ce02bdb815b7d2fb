"""`graphmem usage prune | restore | pack`, as people and programs read them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.plugins.ratings import MARCH, Rate

Run = Callable[..., Any]


def failing(ran: Any, code: int) -> Any:
    assert ran.code == code
    return ran


@pytest.fixture
def unused(run: Run, migrated: Settings, tenant: str, rate: Rate) -> str:
    """A tenant with a memory and episodes, two of them unused; the id of the least used."""
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        memory = client.tenant(tenant)
        idle = memory.episodes.add(content="The shed has a blue door", at=MARCH)
        used = str(memory.remember("The garden has nine roses", at=MARCH).memory_id)
        memory.episodes.add(episode_id="text", content="Ann moved to Porto in May. " * 40, at=MARCH)
        rate(memory, {idle: 500, used: 1e9, "text": 900})
    return idle


def test_nothing_to_prune_or_restore(run: Run) -> None:
    assert "Nothing to prune: 0 rated items examined" in run("usage", "prune").out
    assert "Nothing has been pruned." in run("usage", "prune-manifest").out
    assert "Nothing to pack." in run("usage", "pack").out
    missing = failing(run("usage", "restore-pruned", "prune_x"), 1)
    assert "No pruning 'prune_x'" in missing.err
    assert "RUN_ID" in failing(run("usage", "restore-pruned", "--item-id", "m"), 2).err


def test_the_plan_then_the_deed_then_all_is_back(run: Run, unused: str, tmp_path: Path) -> None:
    plan = run("usage", "prune").out
    assert "Would be pruned: 2 archived." in plan
    assert "The shed has a blue door" in plan
    assert "use --apply" in plan
    assert "Nothing has been pruned." in run("usage", "prune-manifest").out
    file = tmp_path / "manifest.json"
    done = run("usage", "prune", "--apply", "-o", str(file)).out
    manifest = json.loads(file.read_text(encoding="utf-8"))
    assert manifest["applied"] is True
    assert f"graphmem usage restore-pruned {manifest['run_id']}" in " ".join(done.split())
    assert [item["id"] for item in manifest["items"]] == [unused, "text"]
    listed = run("usage", "prune-manifest", manifest["run_id"]).out
    assert f"{manifest['run_id']}" in listed
    assert "3 items, 3 still pruned" in listed
    part = run("usage", "restore-pruned", manifest["run_id"], "--item-id", unused)
    assert "Restored: 1 item." in part.out
    assert "3 items, 2 still pruned" in run("usage", "prune-manifest").out
    assert run("usage", "restore-pruned", manifest["run_id"], "--json").data == {"items": 1}
    assert (
        "All items are already restored." in run("usage", "restore-pruned", manifest["run_id"]).out
    )
    data = run("usage", "prune-manifest", "--json").data
    assert [line["away"] for line in data] == [False, False, False]


def test_a_pinned_episode_is_not_pruned(run: Run, unused: str) -> None:
    assert f"{unused} is pinned." in " ".join(run("episode", "pin", unused).out.split())
    assert [item["id"] for item in run("usage", "prune", "--json").data["items"]] == ["text"]
    assert "not pinned" in run("episode", "unpin", unused).out


@pytest.mark.usefixtures("unused")
def test_a_pack_and_its_manifest(run: Run, tmp_path: Path) -> None:
    shown = run("usage", "pack", "--tokens", "1000").out
    assert "The garden has nine roses" in shown
    assert "of 1,000 tokens (o200k_base)" in shown
    file = tmp_path / "pack.md"
    assert "Written to" in run("usage", "pack", "-o", str(file)).out
    assert "The garden has nine roses" in file.read_text(encoding="utf-8")
    manifest = json.loads((tmp_path / "pack.manifest.json").read_text(encoding="utf-8"))
    assert "text" not in manifest
    assert {item["how"] for item in manifest["items"]} == {"whole", "left_out", "pointer"}
    refused = failing(run("usage", "pack", "-o", str(tmp_path / "no" / "pack.md")), 1)
    assert "No such file or directory" in refused.err
