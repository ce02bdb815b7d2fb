"""An import of an export from before an erasure leaves out erased data and its derivatives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import ErasedError
from graphmem.items import PutItem
from graphmem.transfer import ImportReport
from tests.client.test_forgetting import holding
from tests.plugins.clients import on_tenant
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import MAY
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import WINDOW, unlike

SLOW = pytest.mark.system
MARK = "Xanthippe"
"""A person, named in everything that is erased."""
NAME = "Zenobia of Palmyra"
"""Another name of the same person."""


def fill(memory: Handle) -> None:
    """Write a memory, a belief, an episode and a person, and data derived from each."""
    text = f"{MARK} opens the payments service every Friday at noon"
    memory.remember(text, event_id="m", claims=[("service", "owned_by", MARK)])
    memory.remember(text.upper())
    memory.supersede(str(memory.remember(unlike(30)).memory_id), f"{MARK} replaces {unlike(31)}")
    memory.observe("alice", "works_on", "Atlas", at=MAY)
    memory.observe("alice", "works_on", MARK, event_id="o")
    memory.remember(WINDOW, claims=[("alice", "works_on", MARK)])
    memory.remember(unlike(1), at=MAY)
    with memory.session("secret") as session:
        session.add_messages([{"role": "user", "content": f"I live in {MARK}.", "id": "1"}])
        session.remember(f"{MARK} is where {unlike(2)}")
        session.remember(unlike(1))
        session.observe("alice", "works_on", "Atlas")
        session.believe(f"{MARK} is warm")
        session.expand(session.recall("who is warm?").bites[0].id)
        session.extract(extractor="rules", review=True)
    memory.aliases.add(NAME, MARK)
    memory.observe(NAME, "works_at", "the lighthouse")
    swims = memory.scope("swims")
    tell(swims, [f"{text} {MARK}" for text in SWIMS])
    swims.consolidate(policy=FEW, extractive=True)


def erase_person(memory: Handle) -> None:
    assert memory.admin.erase_person(MARK, include_mentions=True, dry_run=False).clean


def erase_each(memory: Handle) -> None:
    """Erase everything that `fill` wrote about the person, item by item."""
    for one in memory.memories.list(limit=100).memories:
        if MARK.lower() in one.content.lower():
            memory.forget("memory", one.id, dry_run=False)
    for belief in memory.beliefs.list(limit=100).beliefs:
        if MARK in belief.statement:
            memory.forget("belief", belief.id, dry_run=False)
    memory.forget("episode", memory.session("secret").episode_id, dry_run=False)
    swims = memory.scope("swims")
    for n in range(len(SWIMS)):
        swims.forget("episode", swims.session(f"s{n}").episode_id, dry_run=False)
    memory.admin.erase_person(NAME, dry_run=False)


def content(memory: Handle, path: Path) -> list[dict[str, Any]]:
    """Return what the tenant holds, as the records of an export."""
    memory.admin.export_to(path)
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()][1:]
    path.unlink()
    return [{**one, "check": None} for one in records]


def import_again(memory: Handle, folder: Path, file: Path) -> ImportReport:
    """Import a file from before; nothing may change."""
    before = content(memory, folder / "now.jsonl")
    done = memory.admin.import_from(file)
    assert content(memory, folder / "now.jsonl") == before
    assert memory.admin.verify().wrong == ()
    assert done.written == done.links == 0
    return done


@pytest.mark.parametrize("erase", [erase_person, pytest.param(erase_each, marks=SLOW)])
def test_what_was_erased_and_what_was_derived_from_it_stay_away(
    plain: Handle, look: Look, tenant: str, tmp_path: Path, erase: Callable[[Handle], None]
) -> None:
    fill(plain)
    plain.admin.seal()
    file = tmp_path / "before.jsonl"
    plain.admin.export_to(file)
    erase(plain)
    assert holding(look, tenant, MARK) == holding(look, tenant, NAME) == []

    done = import_again(plain, tmp_path, file)

    assert holding(look, tenant, MARK) == holding(look, tenant, MARK.upper()) == []
    assert holding(look, tenant, NAME) == []
    assert done.erased.keys() >= {"Memory", "Belief", "Episode", "Turn", "Event", "Name", "Reply"}
    # The file itself is what it was: elsewhere it is imported whole.
    assert on_tenant(plain, fresh_tenant()).admin.import_from(file).erased == {}


def test_a_scope_stays_empty_closed_and_reopened(
    plain: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    alice = plain.scope("alice")
    shared = str(plain.remember(WINDOW, at=MAY).memory_id)
    alice.remember(WINDOW)
    alice.remember(f"{MARK} is where {unlike(2)}")
    alice.items.batch([PutItem(namespace=("a",), key="k", value={"where": MARK})])
    plain.admin.export_to(tmp_path / "before.jsonl")
    alice.forget("scope", "alice", dry_run=False)

    done = import_again(plain, tmp_path, tmp_path / "before.jsonl")
    assert done.erased == {"Event": 2, "Item": 1, "Memory": 1}
    plain.admin.reopen("alice")
    import_again(plain, tmp_path, tmp_path / "before.jsonl")

    assert holding(look, tenant, MARK) == []
    assert plain.memories.get(shared).reinforce_count == 0
    # An export from after the reopening is taken whole.
    plain.admin.export_to(tmp_path / "later.jsonl")
    assert plain.admin.import_from(tmp_path / "later.jsonl").erased == {}


def test_what_may_be_derived_from_erased_data_is_refused_before_anything_is_written(
    plain: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    secret = plain.session("secret")
    secret.add_messages([{"role": "user", "content": f"I live in {MARK}.", "id": "1"}])
    plain.remember(f"{MARK} is warm", claims=[("weather", "is_in", MARK)])
    plain.admin.export_to(tmp_path / "before.jsonl")
    elsewhere = on_tenant(plain, fresh_tenant())
    elsewhere.admin.import_from(tmp_path / "before.jsonl")
    elsewhere.remember(f"{MARK} is where {unlike(2)}", episode_id=secret.episode_id)
    elsewhere.admin.export_to(tmp_path / "more.jsonl")
    plain.forget("episode", secret.episode_id, dry_run=False)
    before = holding(look, tenant, MARK)
    with pytest.raises(ErasedError, match=r"^Line \d+: Event .* refers to erased data"):
        plain.admin.import_from(tmp_path / "more.jsonl")
    assert holding(look, tenant, MARK) == before


def test_what_a_killed_erasure_has_left_is_refused(plain: Handle, tmp_path: Path) -> None:
    """Its tombstone is there, the digests by which an import leaves out its data are not."""
    known = plain.remember(f"{MARK} is warm", claims=[("weather", "is_in", MARK)])
    plain.admin.export_to(tmp_path / "before.jsonl")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plain.forget("memory", str(known.memory_id), dry_run=False, on_progress=killed)
    with pytest.raises(ErasedError, match="has not finished"):
        plain.admin.import_from(tmp_path / "before.jsonl")
    assert plain.forget("memory", str(known.memory_id), dry_run=False).clean
    assert plain.admin.import_from(tmp_path / "before.jsonl").erased["Memory"] == 1
