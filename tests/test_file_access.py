"""Files that users own: written whole, one writer at a time, with everything they were."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import file_access
from graphmem.errors import DigestFileError, DigestLockedError
from graphmem.file_access import TextFiles
from graphmem.io_modes import AWAITED, BLOCKING
from graphmem.ports import run_now

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["blocking", "awaited"])
def files(request: pytest.FixtureRequest, runner: Any) -> Any:
    """Both faces, behind one that returns."""
    inner = TextFiles(BLOCKING if request.param == "blocking" else AWAITED)
    run: Callable[[Any], Any] = run_now if request.param == "blocking" else runner.run

    class Returning:
        def read(self, path: Path) -> str | None:
            found: str | None = run(inner.read(path))
            return found

        def revise(self, path: Path, change: Callable[[str | None], str]) -> None:
            run(inner.revise(path, change))

    return Returning()


def always(text: str) -> Callable[[str | None], str]:
    return lambda _: text


def refused(files: Any, path: Path) -> str:
    """Error messages for unusable files; the same for reading and writing."""
    with pytest.raises(DigestFileError) as caught:
        files.read(path)
    with pytest.raises(DigestFileError) as again:
        files.revise(path, always("x"))
    assert caught.value.code == "digest_file"
    assert caught.value.hint
    assert str(caught.value) == str(again.value)
    return caught.value.message


def test_a_file_is_read_and_written_byte_for_byte(files: Any, tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    assert files.read(path) is None
    files.revise(path, lambda text: f"{text}\r\n")
    assert path.read_bytes() == b"None\r\n"
    path.write_bytes("\ufeffa\r\nb\rc\n\u2028\x00é".encode())
    files.revise(path, lambda text: f"{text}!")
    assert path.read_bytes() == "\ufeffa\r\nb\rc\n\u2028\x00é!".encode()
    assert files.read(path) == "\ufeffa\r\nb\rc\n\u2028\x00é!"
    assert {one.name for one in tmp_path.iterdir()} == {"MEMORY.md", ".MEMORY.md.lock"}


def test_permissions_are_kept_and_links_followed(files: Any, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "notes.md", tmp_path / "MEMORY.md"
    real.write_text("a")
    real.chmod(0o640)
    link.symlink_to(Path("real") / "notes.md")
    files.revise(link, lambda text: f"{text}b")
    assert link.is_symlink()
    assert real.read_text() == "ab"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    new = tmp_path / "to come.md"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(new)
    files.revise(dangling, always("c"))
    assert dangling.is_symlink()
    assert new.read_text() == "c"


def test_what_does_not_change_is_not_written(files: Any, tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("a")
    before = path.stat()
    files.revise(path, lambda text: text or "")
    after = path.stat()
    # Reading alone changes the time of the last access.
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert path.read_text() == "a"


def test_a_change_that_fails_leaves_the_file(files: Any, tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("a")

    def change(text: str | None) -> str:
        raise DigestFileError("broken")

    with pytest.raises(DigestFileError, match="broken"):
        files.revise(path, change)
    with pytest.raises(UnicodeEncodeError):
        files.revise(path, always("\ud800"))
    assert path.read_text() == "a"
    assert {one.name for one in tmp_path.iterdir()} == {"MEMORY.md", ".MEMORY.md.lock"}


def test_what_cannot_be_a_file_is_refused(files: Any, tmp_path: Path) -> None:
    assert refused(files, tmp_path) == f"{tmp_path} is a folder."
    lost = tmp_path / "no" / "MEMORY.md"
    assert refused(files, lost) == f"The folder {lost.parent} does not exist."
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert "cannot be read" in refused(files, loop)
    (tmp_path / "plain").write_text("")
    assert "cannot be read" in refused(files, tmp_path / "plain" / "MEMORY.md")
    assert "cannot be read" in refused(files, Path("a\x00b"))
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    assert "is not UTF-8: invalid byte at position 3" in refused(files, tmp_path / "latin")
    assert (tmp_path / "latin").read_bytes() == b"caf\xe9"
    assert refused(files, Path("/dev/null")) == "/dev/null is not a regular file."


def test_a_pipe_is_not_waited_for(files: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refused(files, tmp_path / "pipe").endswith("is not a regular file.")


def test_a_read_only_file_is_not_replaced(files: Any, tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("a")
    path.chmod(0o444)
    with pytest.raises(DigestFileError, match="read-only"):
        files.revise(path, always("b"))
    assert path.read_text() == "a"
    assert files.read(path) == "a"
    assert not [*tmp_path.glob("*.part")]


def test_what_the_system_refuses_is_said(
    files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("a")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DigestFileError, match="No space left on device"):
        files.revise(path, always("b"))
    assert path.read_text() == "a"
    assert not [*tmp_path.glob("*.part")]


def test_a_draft_of_a_private_file_is_private(
    files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("a")
    path.chmod(0o600)
    seen: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: seen.append(stat.S_IMODE(os.fstat(fd).st_mode)))
    files.revise(path, always("b"))
    assert seen == [0o600]


def test_what_an_editor_saved_meanwhile_is_kept(files: Any, tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("a")
    os.utime(path, (0, 0))
    seen: list[str | None] = []

    def change(text: str | None) -> str:
        seen.append(text)
        if len(seen) == 1:
            path.write_text("b")
        return f"{text} and more"

    files.revise(path, change)
    assert seen == ["a", "b"]
    assert path.read_text() == "b and more"


def test_a_file_that_never_rests_is_given_up(files: Any, tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"

    def change(text: str | None) -> str:
        path.write_text(f"{text}x")
        return "mine"

    with pytest.raises(DigestFileError, match="keeps changing"):
        files.revise(path, change)
    assert path.read_text() != "mine"


def test_a_lock_that_is_held_is_waited_for_and_then_said(
    files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    monkeypatch.setattr(file_access, "LOCK_S", 0.05)
    path = tmp_path / "MEMORY.md"
    with FileLock(tmp_path / ".MEMORY.md.lock"), pytest.raises(DigestLockedError) as caught:
        files.revise(path, always("b"))
    assert caught.value.code == "digest_locked"
    assert not path.exists()
    files.revise(path, always("b"))
    assert path.read_text() == "b"


APPENDING = """
import sys
from pathlib import Path
from graphmem.file_access import TextFiles
from graphmem.io_modes import BLOCKING
from graphmem.ports import run_now
for n in range(40):
    line = f"{sys.argv[2]}{n}\\n"
    run_now(TextFiles(BLOCKING).revise(Path(sys.argv[1]), lambda t: (t or "") + line))
"""


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    running = [
        subprocess.Popen([sys.executable, "-c", APPENDING, str(path), name], cwd=ROOT)
        for name in "ab"
    ]
    assert [process.wait(300) for process in running] == [0, 0]
    lines = path.read_text().split()
    assert len(lines) == 80
    for name in "ab":
        assert [line for line in lines if line[0] == name] == [f"{name}{n}" for n in range(40)]
