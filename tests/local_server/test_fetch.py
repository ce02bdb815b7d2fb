"""Fetching the jars: verified, cached, repaired, with clear errors."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.server_lock import dump
from graphmem import maven
from graphmem.errors import ConfigurationError, ServerFetchError
from graphmem.local_server.jars import JarLock, JarStore, fetch, shipped_lock
from graphmem.maven import Jar, Progress
from graphmem.settings import Settings
from tests.plugins.repositories import Repository


def _silent(_: Progress) -> None:
    """Hear no report."""


def _fetch(settings: Settings, lock: JarLock) -> Path:
    return fetch(settings, report=_silent, lock=lock).folder


def _leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob("*.part"))


def test_every_file_arrives_whole_and_the_licence_is_named_once(
    fetching: Settings, tiny: JarLock, repository: Repository
) -> None:
    steps: list[Progress] = []
    shelf = fetch(fetching, report=steps.append, lock=tiny)
    for jar in tiny.jars:
        assert (shelf.folder / jar.name).read_bytes() == repository.bodies[jar.path]
    assert (shelf.folder / "native-2.0-linux-x86_64.jar").exists()
    licences = [step.text for step in steps if step.stage == "licence"]
    assert len(licences) == 1
    assert "GPL v3" in licences[0]
    assert steps[-1].files_done == steps[-1].files_total == 12
    assert steps[-1].bytes_done == steps[-1].bytes_total == sum(jar.size for jar in tiny.jars)
    assert not _leftovers(shelf.folder)


def test_what_was_fetched_is_used_without_asking_anybody(
    fetching: Settings, tiny: JarLock, repository: Repository
) -> None:
    _fetch(fetching, tiny)
    repository.asked.clear()
    steps: list[Progress] = []
    fetch(fetching, report=steps.append, lock=tiny)
    offline = fetching.model_copy(update={"maven_mirror": "http://127.0.0.1:1"})
    _fetch(offline, tiny)
    assert repository.asked == []
    assert steps == []


@pytest.mark.parametrize("fault", ["truncated", "damaged"])
def test_a_damaged_file_is_fetched_once_more(
    fetching: Settings, tiny: JarLock, repository: Repository, fault: str
) -> None:
    jar = tiny.jars[3]
    repository.faults[jar.path] = [fault]
    folder = _fetch(fetching, tiny)
    assert (folder / jar.name).read_bytes() == repository.bodies[jar.path]
    assert repository.asked.count(jar.path) == 2


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        (["missing"], "404"),
        (["truncated", "truncated"], "failed"),
        (["damaged", "damaged"], "damaged file twice"),
    ],
)
def test_a_file_that_stays_bad_is_named_and_the_others_are_kept(
    fetching: Settings, tiny: JarLock, repository: Repository, faults: list[str], message: str
) -> None:
    jar = tiny.jars[0]  # the smallest, so the last to be asked for
    repository.faults[jar.path] = faults
    with pytest.raises(ServerFetchError, match=message) as caught:
        _fetch(fetching, tiny)
    assert jar.name in str(caught.value)
    folder = Path(str(fetching.cache)) / "server" / "neo4j-2026.08.1"
    assert not (folder / jar.name).exists()
    assert not _leftovers(folder)
    repository.asked.clear()
    _fetch(fetching, tiny)
    assert jar.path in repository.asked
    assert len(repository.asked) < len(tiny.jars)


def test_a_source_that_falls_silent_is_given_up(
    fetching: Settings, tiny: JarLock, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maven, "TIMEOUT_S", 0.2)
    jar = tiny.jars[5]
    repository.faults[jar.path] = ["silent", "silent"]
    with pytest.raises(ServerFetchError, match=jar.name):
        _fetch(fetching, tiny)


def test_nobody_listening_is_told_with_the_mirror(fetching: Settings, tiny: JarLock) -> None:
    nowhere = fetching.model_copy(update={"maven_mirror": "http://127.0.0.1:1/maven"})
    with pytest.raises(ServerFetchError, match=r"127\.0\.0\.1:1/maven") as caught:
        _fetch(nowhere, tiny)
    assert "GRAPHMEM_MAVEN_MIRROR" in caught.value.hint


def test_a_mirror_that_is_no_address_is_told(fetching: Settings, tiny: JarLock) -> None:
    with pytest.raises(ServerFetchError, match="could not be fetched"):
        _fetch(fetching.model_copy(update={"maven_mirror": "not an address"}), tiny)


def test_a_jar_damaged_on_disk_is_noticed_and_replaced(
    fetching: Settings, tiny: JarLock, repository: Repository
) -> None:
    folder = _fetch(fetching, tiny)
    jar = tiny.jars[2]
    before = (folder / jar.name).stat()
    (folder / jar.name).write_bytes(b"y" * jar.size)  # same size and time, other content
    os.utime(folder / jar.name, ns=(before.st_atime_ns, before.st_mtime_ns))
    repository.asked.clear()
    _fetch(fetching, tiny)
    assert repository.asked == [jar.path]
    assert (folder / jar.name).read_bytes() == repository.bodies[jar.path]


@pytest.mark.parametrize("fault", ["endless", "compressed"])
def test_a_source_that_sends_too_much_is_cut_off(
    fetching: Settings, tiny: JarLock, repository: Repository, fault: str
) -> None:
    jar = tiny.jars[3]
    repository.faults[jar.path] = [fault, fault]
    with pytest.raises(ServerFetchError, match=jar.name):
        _fetch(fetching, tiny)
    folder = JarStore.of(fetching, tiny).folder
    assert not (folder / jar.name).exists()
    assert not _leftovers(folder)
    assert repository.sent[jar.path] < 40 * Repository.CHUNK, "the whole reply was taken"


def test_files_copied_from_elsewhere_count_when_they_are_sound(
    fetching: Settings, tiny: JarLock, repository: Repository, tmp_path: Path
) -> None:
    folder = _fetch(fetching, tiny)
    for path in folder.glob("*.jar"):
        os.utime(path, ns=(0, 0))
    repository.asked.clear()
    _fetch(fetching, tiny)
    assert repository.asked == []


def test_a_lock_with_another_sum_makes_the_old_file_worthless(
    fetching: Settings, tiny: JarLock, repository: Repository
) -> None:
    _fetch(fetching, tiny)
    old = tiny.jars[0]
    new = repository.add(old.coordinates, b"z" * old.size)
    folder = _fetch(fetching, replace(tiny, jars=(new, *tiny.jars[1:])))
    assert (folder / new.name).read_bytes() == b"z" * old.size


def test_too_little_room_is_told_before_anything_is_asked_for(
    fetching: Settings, repository: Repository
) -> None:
    big = Jar("org.example:huge:1", "0" * 64, 1 << 60)
    huge = JarLock("1", "1", (big,), big)
    with pytest.raises(ServerFetchError, match="MB are free") as caught:
        _fetch(fetching, huge)
    assert "GRAPHMEM_CACHE" in caught.value.hint
    assert repository.asked == []


def test_a_disk_that_fills_up_meanwhile_is_told_and_leaves_no_half_file(
    fetching: Settings, tiny: JarLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = Path.open

    class Full:
        def __init__(self, file: Any) -> None:
            self._file = file

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def write(self, _: bytes) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(path: Path, mode: str = "r", **options: Any) -> Any:
        file = real_open(path, mode, **options)
        return Full(file) if path.suffix == ".part" and mode == "wb" else file

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ServerFetchError, match="No space left"):
        _fetch(fetching, tiny)
    assert not _leftovers(Path(str(fetching.cache)))


def test_a_cache_that_is_a_file_is_told(tmp_path: Path, tiny: JarLock) -> None:
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    settings = Settings(cache=tmp_path / "cache", maven_mirror="http://127.0.0.1:1")
    with pytest.raises(ConfigurationError, match="a file has this name") as caught:
        _fetch(settings, tiny)
    assert "GRAPHMEM_CACHE" in caught.value.hint


def test_a_lock_survives_being_written_and_read(tiny: JarLock) -> None:
    again = JarLock.parse(dump(tiny))
    assert set(again.jars) == set(tiny.jars)
    assert (again.neo4j, again.browser) == (tiny.neo4j, tiny.browser)
    assert JarLock.parse(dump(again)) == again


def test_the_shipped_lock_is_in_the_form_that_dump_writes() -> None:
    lock = shipped_lock()
    names = [jar.name for jar in lock.jars]
    assert len(set(names)) == len(names) > 200
    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in lock.jars)
    assert f"neo4j-browser-{lock.browser}.jar" in names
    assert f"neo4j-{lock.neo4j}.jar" in names
    assert JarLock.parse(dump(lock)) == lock
