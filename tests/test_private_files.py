"""Private files: created exclusively for one user, and nothing else is written to as one."""

from __future__ import annotations

import multiprocessing
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import private_files
from graphmem.errors import ExportFileError
from graphmem.file_access import ExportFiles
from graphmem.io_modes import AWAITED, BLOCKING
from graphmem.ports import run_now

VICTIM = b"another file of this user\n"


@pytest.fixture(params=["blocking", "awaited"])
def exports(request: pytest.FixtureRequest, runner: Any) -> Any:
    """Both implementations, behind functions that return."""
    inner = ExportFiles(BLOCKING if request.param == "blocking" else AWAITED)
    run: Callable[[Any], Any] = run_now if request.param == "blocking" else runner.run
    return SimpleNamespace(
        append=lambda path, start, data: run(inner.append(path, start, data)),
        cut=lambda path, end: run(inner.cut(path, end)),
        finish=lambda part, path: run(inner.finish(part, path)),
    )


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask() -> Any:
    """Others may read whatever is created without a mode of its own."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_an_export_is_private_from_its_first_octet_and_goes_on(
    exports: Any, tmp_path: Path
) -> None:
    part, whole = tmp_path / "x.part", tmp_path / "x"
    exports.append(part, 0, b"")
    assert mode(part) == 0o600
    exports.append(part, 0, b"one\n")  # it was interrupted before its first line
    exports.append(part, 4, b"two\nthr")
    exports.cut(part, 8)
    exports.append(part, 8, b"three\n")
    with pytest.raises(ExportFileError, match="Another export"):
        exports.append(part, 8, b"again\n")
    exports.finish(part, whole)
    assert (whole.read_bytes(), mode(whole), part.exists()) == (b"one\ntwo\nthree\n", 0o600, False)


def linked(part: Path, victim: Path) -> None:
    part.symlink_to(victim)


def dangling(part: Path, victim: Path) -> None:
    victim.unlink()
    part.symlink_to(victim)


def second_name(part: Path, victim: Path) -> None:
    part.hardlink_to(victim)


def open_to_others(part: Path, victim: Path) -> None:
    part.touch()
    part.chmod(0o644)


def pipe(part: Path, victim: Path) -> None:
    os.mkfifo(part, 0o600)


def folder(part: Path, victim: Path) -> None:
    part.mkdir()


FOREIGN = [linked, dangling, second_name, open_to_others, pipe, folder]


@pytest.mark.parametrize("left", FOREIGN, ids=lambda left: left.__name__)
def test_what_no_export_made_is_never_written_to(
    exports: Any, tmp_path: Path, left: Callable[[Path, Path], None]
) -> None:
    victim, part = tmp_path / "victim", tmp_path / "x.part"
    victim.write_bytes(b"")
    victim.chmod(0o600)
    left(part, victim)
    found = os.lstat(part)
    attempts: tuple[Callable[[], object], ...] = (
        lambda: exports.append(part, 0, b"secret\n"),
        lambda: exports.cut(part, 0),
        lambda: exports.finish(part, tmp_path / "x"),
    )
    for attempt in attempts:
        with pytest.raises(ExportFileError):
            attempt()
    assert os.lstat(part) == found
    assert not (tmp_path / "x").exists()
    assert victim.exists() == (left is not dangling)
    assert not victim.exists() or victim.read_bytes() == b""


def test_what_another_user_left_is_named(
    exports: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = tmp_path / "x.part"
    exports.append(part, 0, b"one\n")
    monkeypatch.setattr(os, "geteuid", lambda: part.stat().st_uid + 1)
    with pytest.raises(ExportFileError, match="belongs to another user") as caught:
        exports.append(part, 4, b"two\n")
    assert "Remove it" in caught.value.hint


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_name_that_was_taken_meanwhile_is_kept(
    exports: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    if not links:

        def refused(*_: object, **__: object) -> None:
            raise PermissionError(1, "no hard links here")

        monkeypatch.setattr(os, "link", refused)
    part, whole = tmp_path / "x.part", tmp_path / "x"
    exports.append(part, 0, b"ours\n")
    whole.write_bytes(VICTIM)
    with pytest.raises(ExportFileError, match=r"created .* meanwhile"):
        exports.finish(part, whole)
    assert (whole.read_bytes(), part.read_bytes()) == (VICTIM, b"ours\n")
    whole.unlink()
    whole.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ExportFileError, match=r"created .* meanwhile"):
        exports.finish(part, whole)
    whole.unlink()
    exports.finish(part, whole)
    assert (whole.read_bytes(), mode(whole), part.exists()) == (b"ours\n", 0o600, False)


@given(st.integers(0, 0o777))
def test_only_a_file_that_is_closed_to_others_is_reopened(given: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "file"
        os.close(private_files.create(path))
        path.chmod(given | 0o400)
        if given & 0o077:
            with pytest.raises(private_files.NotPrivateError, match=f"{given | 0o400:03o}"):
                private_files.reopen(path, os.O_RDONLY)
        else:
            os.close(private_files.reopen(path, os.O_RDONLY))


def _created(path: Path, barrier: Any, answers: Any, text: str) -> None:
    barrier.wait()
    answers.put(private_files.read_or_create(path, lambda: text, setting="X"))


@pytest.mark.skipif(os.name != "posix", reason="needs fork")
def test_of_many_processes_all_get_the_text_of_the_first(tmp_path: Path) -> None:
    own = multiprocessing.get_context("fork")
    for turn in range(3):
        path = tmp_path / f"new-{turn}" / "token"
        barrier, answers = own.Barrier(8), own.Queue()
        started = [
            own.Process(target=_created, args=(path, barrier, answers, f"text {n}"))
            for n in range(8)
        ]
        for process in started:
            process.start()
        found = {answers.get(timeout=60) for _ in started}
        for process in started:
            process.join()
        assert found == {path.read_text()}
        assert (list(path.parent.iterdir()), mode(path)) == ([path], 0o600)


def test_a_file_is_read_while_another_process_publishes_it(tmp_path: Path) -> None:
    draft, path = tmp_path / "draft", tmp_path / "token"
    draft.write_text("theirs")
    draft.chmod(0o600)
    path.hardlink_to(draft)
    assert private_files.read_or_create(path, lambda: "new", setting="X") == "theirs"


def test_only_a_private_file_of_this_user_is_read_again(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "token"
    victim.write_text("of another file")
    victim.chmod(0o600)
    for spoil in (linked, open_to_others):
        path.unlink(missing_ok=True)
        spoil(path, victim)
        with pytest.raises(private_files.NotPrivateError):
            private_files.read_or_create(path, lambda: "new", setting="X")
    path.unlink()
    path.symlink_to(tmp_path / "absent")
    with pytest.raises(private_files.NotPrivateError):
        private_files.read_or_create(path, lambda: "new", setting="X")
    assert not (tmp_path / "absent").exists()
    path.unlink()
    path.write_text("theirs")
    path.chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 4242)
        with pytest.raises(private_files.NotPrivateError, match="another user"):
            private_files.read_or_create(path, lambda: "new", setting="X")
