"""Erasing on the command line: persons, certificates and their check, records, `--compact`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

Run = Callable[..., Any]
NAME = "Xanthippe"


@pytest.fixture
def fact(migrated: Settings, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Id of a belief about the person; the signing key is in a home of its own."""
    monkeypatch.setenv("GRAPHMEM_HOME", str(tmp_path / "home"))
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        handle = client.tenant(tenant)
        handle.remember(f"The bees of {NAME} swarm in May")
        return str(handle.observe(NAME, "lives_in", "Porto").belief_id)


def test_a_person_is_erased_and_the_certificate_holds(run: Run, fact: str, tmp_path: Path) -> None:
    plan = run("admin", "erase-person", NAME).out
    assert f"Forgetting person {NAME} would erase:" in plan
    assert "Named in: Memory m_" in plan
    file = tmp_path / "certificate.json"
    asked = ("--apply", "--actor", "dpo", "--reason", "ticket 7", "--certificate", str(file))
    done = run("admin", "erase-person", NAME, *asked)
    assert done.code == 0
    assert "transaction log: until its file is full" in done.out
    assert file.stat().st_mode & 0o777 == 0o600
    key = tmp_path / "home" / "erasure.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_text() not in file.read_text() + done.out + done.err
    assert NAME.lower() not in file.read_text().lower()

    good = run("admin", "verify-certificate", str(file))
    assert (good.code, "The signature is valid." in good.out) == (0, True)
    assert "Asked by:         dpo" in good.out
    changed = tmp_path / "changed.json"
    for name, value in (("actor", "someone"), ("left", 1), ("residues", []), ("signature", "00")):
        changed.write_text(json.dumps(json.loads(file.read_text()) | {name: value}))
        bad = run("admin", "verify-certificate", str(changed))
        assert (bad.code, "its signature does not match" in bad.out) == (1, True)
    key.unlink()
    other = run("admin", "verify-certificate", str(file), "--json")
    assert (other.code, other.data["valid"]) == (1, False)
    assert "Another key signed it" in other.data["problem"]
    public = other.data["certificate"]["public_key"]
    assert run("admin", "verify-certificate", str(file), "--key", public).code == 0

    [record] = run("admin", "erasures", "--json").data["erasures"]
    assert (record["what"], record["actor"], record["reason"]) == ("person", "dpo", "ticket 7")
    assert run("belief", "observe", NAME, "plays", "chess").code == 1
    assert run("admin", "reopen-person", NAME).code == 0
    assert run("belief", "observe", NAME, "plays", "chess").code == 0


def test_what_cannot_follow_is_refused_before_anything_is_erased(
    run: Run, fact: str, tmp_path: Path
) -> None:
    taken = tmp_path / "taken.json"
    taken.write_text("mine")
    forget = ("memory", "forget", "belief", fact, "--apply")
    remote = run(*forget, "--compact")
    assert (remote.code, "managed server only; nothing was erased" in remote.err) == (2, True)
    for file in (taken, tmp_path / "none" / "file.json"):
        assert "nothing was erased" in run(*forget, "--certificate", str(file)).err
    assert taken.read_text() == "mine"
    for damaged in (b"{}", b"\xff", b"[1]"):
        taken.write_bytes(damaged)
        assert "is not a certificate" in run("admin", "verify-certificate", str(taken)).err
    key = tmp_path / "home" / "erasure.key"
    key.parent.mkdir(exist_ok=True)
    for text, mode in (("not a key", 0o600), ("00" * 32, 0o644)):
        key.write_text(text)
        key.chmod(mode)
        refused = run(*forget)
        assert (refused.code, "The signing key" in refused.err) == (2, True)
        assert text not in refused.err
    assert run("belief", "get", fact).code == 0


def test_processes_share_one_key(tmp_path: Path) -> None:
    from graphmem.erasure.signing import SigningKey

    settings = Settings(home=tmp_path / "home")
    first = SigningKey.of(settings)
    assert SigningKey.of(settings).public == first.public
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["erasure.key"]
    private = (tmp_path / "home" / "erasure.key").read_text()
    assert private not in repr(first)
