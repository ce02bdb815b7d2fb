"""Deletion: what is erased stays away, from this store and from the copies that it reads."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from graphmem import GraphMem, Handle
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.acceptance.surfaces import Surface
from tests.client.test_forgetting import holding
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look, fresh_tenant

WORD = "Xylander"
TEXT = f"The doctor of Alice is called {WORD}."
QUESTION = "who is the doctor of Alice?"
LONG_AGO = datetime(2026, 1, 5, tzinfo=UTC)
OTHER = "The dentist of Alice is called Quintavalle."


def found(memory: Handle) -> str:
    """Return all that reads return for the question."""
    return str(memory.recall(QUESTION, include_hidden=True, limit=50))


def test_what_is_erased_is_absent_from_each_interface(surface: Surface) -> None:
    memory_id = surface.remember(TEXT)
    surface.remember(OTHER)
    assert TEXT in surface.recall(QUESTION)
    surface.forget(memory_id)
    assert TEXT not in surface.recall(QUESTION)
    assert WORD not in surface.prompt(QUESTION)
    assert OTHER in surface.recall(QUESTION)


def test_what_is_erased_stays_away_whatever_runs_later(
    client: GraphMem, plain: Handle, migrated: Settings, look: Look, tenant: str, tmp_path: Path
) -> None:
    done = plain.remember(TEXT, event_id="told")
    plain.remember(OTHER)
    assert TEXT in found(plain)
    memory_id = str(done.memory_id)
    report = plain.forget("memory", memory_id, dry_run=False, actor="dpo", reason="ticket 7")
    assert report.applied

    client.run_jobs(tenants=[tenant], digests=tmp_path)
    plain.admin.rebuild()
    with GraphMem.open(settings=migrated, embedder=HashEmbedder(), tenant=tenant) as again:
        assert WORD not in found(again)
        assert OTHER in found(again)
    plain.admin.export_to(tmp_path / "all.jsonl")
    assert WORD not in (tmp_path / "all.jsonl").read_text("utf-8")
    other = on_tenant(plain, fresh_tenant())
    other.admin.import_from(tmp_path / "all.jsonl")
    assert WORD not in found(other)
    assert OTHER in found(other)
    assert holding(look, tenant, WORD) == []
    # The audit: who asked for it, why and when is recorded, by digest, without what it was.
    [audit] = plain.admin.erasures().erasures
    assert (audit.what, audit.actor, audit.reason) == ("memory", "dpo", "ticket 7")
    assert report.certificate is not None
    assert audit.erased_at == report.certificate.erased_at
    assert WORD not in str(audit)
    assert memory_id not in str(audit)
    # The delivery that made it is refused when it comes again.
    assert plain.remember(TEXT, event_id="told").hygiene_reasons == ("erased",)


def test_a_copy_from_before_does_not_bring_it_back(
    plain: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    done = plain.remember(TEXT)
    plain.remember(OTHER)
    plain.admin.export_to(tmp_path / "before.jsonl")
    digest = tmp_path / "MEMORY.md"
    plain.episodes.add(
        episode_id="decided", content=TEXT, summary=TEXT, importance=0.9, at=LONG_AGO
    )
    plain.episodes.graduate(digest)
    assert WORD in digest.read_text("utf-8")
    # A tenant that imports the file has it: the file is what it was.
    other = on_tenant(plain, fresh_tenant())
    other.admin.import_from(tmp_path / "before.jsonl")
    assert WORD in found(other)

    plain.forget("memory", str(done.memory_id), dry_run=False, digests=[digest])
    plain.forget("episode", "decided", dry_run=False, digests=[digest])
    assert WORD not in digest.read_text("utf-8")
    assert plain.admin.import_from(tmp_path / "before.jsonl").erased
    assert WORD not in found(plain)
    assert OTHER in found(plain)
    assert holding(look, tenant, WORD) == []
