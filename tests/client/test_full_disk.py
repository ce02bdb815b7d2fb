"""A full disk, for each file that the client writes: an error, and the former file is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphmem import Handle
from graphmem.cli import main
from graphmem.erasure import ErasureCertificate
from graphmem.erasure.signing import SigningKey, is_signed
from graphmem.errors import ConfigurationError, DigestFileError, ExportFileError
from graphmem.settings import Settings
from tests.plugins.children import variables_of
from tests.plugins.episodes import MARCH
from tests.plugins.texts import unlike

resource = pytest.importorskip("resource", reason="needs a limit on the size of files")


@contextmanager
def room_for(octets: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as a disk without space does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        # Python 3.11 would keep half-written bytecode.
        patch.setattr(sys, "dont_write_bytecode", True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (octets, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def ran(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([*args])
    return int(ended.value.code or 0)


def files(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.rglob("*") if not one.name.endswith(".lock"))


def test_a_command_keeps_the_file_that_it_cannot_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    script = tmp_path / ".zfunc" / "_graphmem"
    assert ran("admin", "completion", "zsh", "--install") == 0
    before = script.read_text()
    script.chmod(0o640)
    with room_for(100):
        assert ran("admin", "completion", "zsh", "--install") == 1
    error = capsys.readouterr().err
    assert str(script) in error
    assert "free space" in error
    assert (script.read_text(), script.stat().st_mode & 0o777) == (before, 0o640)
    assert files(tmp_path) == [".zfunc", "_graphmem"]
    assert ran("admin", "completion", "zsh", "--install") == 0
    assert script.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_standard_output_is_named() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "graphmem", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "Error: The output cannot be written: No space left on device.\n"


def test_a_key_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path)
    with room_for(10), pytest.raises(ConfigurationError, match=str(tmp_path / "erasure.key")):
        SigningKey.of(settings)
    assert files(tmp_path) == []
    assert SigningKey.of(settings).public == SigningKey.of(settings).public


def test_a_certificate_that_cannot_be_written_is_printed(
    plain: Handle,
    migrated: Settings,
    tenant: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables_of(migrated, tenant).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GRAPHMEM_EMBEDDER", "hash")
    monkeypatch.setenv("GRAPHMEM_HOME", str(tmp_path))
    memory_id = str(plain.remember(unlike(1)).memory_id)
    file = tmp_path / "certificate.json"
    with room_for(500):
        code = ran("memory", "forget", "memory", memory_id, "--apply", "--certificate", str(file))
    seen = capsys.readouterr()
    assert code == 1
    assert str(file) in seen.err
    assert "printed instead" in seen.err
    assert not file.exists()
    printed = json.loads(seen.out[seen.out.index("{") :])
    assert is_signed(ErasureCertificate.model_validate(printed))


def test_an_export_goes_on_when_there_is_room_again(plain: Handle, tmp_path: Path) -> None:
    plain.remember_many([unlike(n) for n in range(3)])
    file = tmp_path / "all.jsonl"
    for octets in (0, 3_000):
        with room_for(octets), pytest.raises(ExportFileError, match=r"all\.jsonl\.part") as refused:
            plain.admin.export_to(file)
        assert "free disk space" in refused.value.hint
        assert files(tmp_path) == ["all.jsonl.part"]
    assert plain.admin.export_to(file).records["Memory"] == 3
    assert plain.admin.import_from(file).there > 0
    assert files(tmp_path) == ["all.jsonl"]


def test_a_digest_is_written_before_an_episode_counts_as_graduated(
    plain: Handle, tmp_path: Path
) -> None:
    digest = tmp_path / "MEMORY.md"
    digest.write_text("mine\n")
    plain.episodes.add(summary=unlike(1), importance=0.9, at=MARCH)
    with room_for(8), pytest.raises(DigestFileError, match=r"MEMORY\.md"):
        plain.episodes.graduate(digest)
    assert (digest.read_text(), files(tmp_path)) == ("mine\n", ["MEMORY.md"])
    assert plain.episodes.graduate(digest).episodes
    assert unlike(1) in digest.read_text("utf-8")
