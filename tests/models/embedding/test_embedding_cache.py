"""The vectors on disk: same bits, shared, and never in the way."""

from __future__ import annotations

import logging
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from graphmem.errors import ModelUnavailableError
from graphmem.models import open_embedder
from graphmem.models import vector_cache as caching
from graphmem.models.local import LocalEmbedder
from graphmem.models.vector_cache import FileCache, MemoryCache
from graphmem.ports import Embedder, Role, run_now
from graphmem.settings import Settings

if TYPE_CHECKING:
    from tests.models.embedding.conftest import Service

Reopened = Callable[..., Embedder]


def unit(*numbers: float) -> Any:
    row = np.array(numbers, dtype=np.float32)
    return row / np.linalg.norm(row)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


@pytest.fixture
def cache(file: Path) -> FileCache:
    return FileCache(file)


def test_a_hit_asks_nobody_and_has_the_same_bits(reopened: Reopened, service: Service) -> None:
    fresh = run_now(reopened().embed(["one", "two"], Role.DOCUMENT))
    cached = run_now(reopened().embed(["two", "one"], Role.DOCUMENT))
    assert len(service.bodies) == 1
    np.testing.assert_array_equal(cached, fresh[::-1])


def test_only_what_is_missing_is_asked(reopened: Reopened, service: Service) -> None:
    run_now(reopened().embed(["one", "two"], Role.DOCUMENT))
    run_now(reopened().embed(["one", "three", "two"], Role.DOCUMENT))
    assert service.sent == [["one", "two"], ["three"]]


def test_the_dimension_comes_from_the_cache_too(reopened: Reopened, service: Service) -> None:
    assert run_now(reopened().dimension()) == 3
    assert run_now(reopened().dimension()) == 3
    assert len(service.bodies) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"embedder": "openai/another-model"},
        {"embedder_dimension": 3},
        {"embedder_url": "/other"},
        {"role": Role.QUERY},
    ],
    ids=lambda other: next(iter(other)),
)
def test_what_decides_a_vector_is_part_of_its_key(
    reopened: Reopened, service: Service, other: dict[str, Any]
) -> None:
    other = dict(other)
    run_now(reopened().embed(["one"], Role.DOCUMENT))
    role = other.pop("role", Role.DOCUMENT)
    if "embedder_url" in other:
        other["embedder_url"] = service.url + other["embedder_url"]
    run_now(reopened(**other).embed(["one"], role))
    assert len(service.bodies) == 2


def test_finished_batches_survive_a_failure(reopened: Reopened, service: Service) -> None:
    service.play(service.data([{"embedding": [1.0, 2.0, 3.0]}]), service.status(401))
    with pytest.raises(ModelUnavailableError):
        run_now(reopened(embedder_batch=1).embed(["a", "bb", "ccc"], Role.DOCUMENT))
    run_now(reopened().embed(["a", "bb", "ccc"], Role.DOCUMENT))
    assert service.sent == [["a"], ["bb"], ["bb", "ccc"]]


def test_it_can_be_switched_off(reopened: Reopened, service: Service, file: Path) -> None:
    run_now(reopened(embedder_cache=False).embed(["one"], Role.DOCUMENT))
    run_now(reopened(embedder_cache=False).embed(["one"], Role.DOCUMENT))
    assert len(service.bodies) == 2
    assert not file.exists()


def test_it_holds_no_text_and_is_the_owners_alone(reopened: Reopened, file: Path) -> None:
    run_now(reopened().embed(["the password is swordfish"], Role.DOCUMENT))
    assert b"swordfish" not in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_platforms_folder_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, **_: Path("/c") / name)
    opened = FileCache.of(Settings.load({}))
    assert opened is not None
    assert opened._path == Path("/c/graphmem/embeddings.sqlite")


def test_many_threads_share_it(cache: FileCache, threads: ThreadPoolExecutor) -> None:
    def work(number: int) -> None:
        for step in range(20):
            cache.put({f"{number}-{step}": unit(number + 1, step)})
            assert f"{number}-{step}" in cache.get([f"{number}-{step}"])

    list(threads.map(work, range(8)))
    assert len(cache.get([f"{n}-{s}" for n in range(8) for s in range(20)])) == 160


def test_it_is_begun_by_several_at_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with ThreadPoolExecutor(4) as pool:
        for n in range(100):
            file, together = tmp_path / str(n) / "cache.sqlite", threading.Barrier(4)

            def put(key: int, file: Path = file, together: threading.Barrier = together) -> None:
                cache = FileCache(file)
                together.wait()
                cache.put({str(key): np.array([0.6, 0.8], dtype=np.float32)})

            list(pool.map(put, range(4)))
            assert len(FileCache(file).get([str(key) for key in range(4)])) == 4
    assert not caplog.messages


def test_two_processes_share_it(cache: FileCache, file: Path) -> None:
    code = (
        "import sys, pathlib, numpy as np\n"
        "from graphmem.models.vector_cache import FileCache, MemoryCache\n"
        "cache, start = FileCache(pathlib.Path(sys.argv[1])), int(sys.argv[2])\n"
        "for n in range(start, start + 50):\n"
        "    cache.put({str(n): np.array([0.6, 0.8], dtype=np.float32)})\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(file)]
    with (
        subprocess.Popen([*command, "0"], stderr=subprocess.PIPE) as one,
        subprocess.Popen([*command, "50"], stderr=subprocess.PIPE) as two,
    ):
        errors = [process.communicate()[1] for process in (one, two)]
    assert errors == [b"", b""]
    found = cache.get([str(n) for n in range(100)])
    assert len(found) == 100
    np.testing.assert_array_equal(found["99"], np.array([0.6, 0.8], dtype=np.float32))


def zeroed_page(file: Path) -> None:
    """Keep the header and lose the table's pages."""
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    file.write_bytes(content)


def other_tables(file: Path) -> None:
    file.unlink()
    db = sqlite3.connect(file)
    db.execute("CREATE TABLE vectors (something TEXT)")
    db.close()


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "no database": lambda file: file.write_bytes(b"scribble" * 1000),
    "lost pages": zeroed_page,
    "other tables": other_tables,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(
    cache: FileCache, file: Path, damage: Callable[[Path], Any], caplog: pytest.LogCaptureFixture
) -> None:
    cache.put({str(n): unit(n + 1, 1) for n in range(500)})
    damage(file)
    assert cache.get(["7"]) == {}
    assert "is damaged" in caplog.text
    assert file.with_suffix(".damaged").exists()
    cache.put({"7": unit(1, 1)})
    assert list(cache.get(["7"])) == ["7"]


@pytest.mark.parametrize("blob", [b"", b"\0" * 8, b"\xff" * 8, b"odd"])
def test_a_garbled_vector_counts_as_missing(cache: FileCache, file: Path, blob: bytes) -> None:
    cache.put({"good": unit(1, 1), "bad": unit(1, 2)})
    db = sqlite3.connect(file)
    with db:
        db.execute("UPDATE vectors SET vector = ? WHERE key = 'bad'", (blob,))
    db.close()
    assert list(cache.get(["good", "bad"])) == ["good"]


def test_an_empty_file_is_a_new_cache(cache: FileCache, file: Path) -> None:
    file.parent.mkdir()
    file.touch()
    cache.put({"a": unit(1, 1)})
    assert list(cache.get(["a"])) == ["a"]


def test_where_nothing_can_be_written_work_goes_on(
    reopened: Reopened, service: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "occupied").write_text("a file, not a folder")
    embedder = reopened(cache=tmp_path / "occupied")
    run_now(embedder.embed(["one"], Role.DOCUMENT))
    run_now(embedder.embed(["one"], Role.DOCUMENT))
    assert len(service.bodies) == 2
    warnings = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert ["not cached" in r.getMessage() for r in warnings] == [True]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_on_a_full_disk_work_goes_on(file: Path) -> None:
    code = (
        "import logging, pathlib, resource, sys, numpy as np\n"
        "from graphmem.models.vector_cache import FileCache, MemoryCache\n"
        "logging.basicConfig(format='%(message)s', stream=sys.stdout)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "cache = FileCache(pathlib.Path(sys.argv[1]))\n"
        "row = np.zeros(4000, dtype=np.float32); row[0] = 1\n"
        "for n in range(50): cache.put({str(n): row})\n"
        "assert cache.get(['49']) == {}\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(file)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.count("not cached") == 1
    assert "damaged" not in done.stdout
    assert "0" in FileCache(file).get(["0"])


def test_the_one_in_memory_keeps_the_newest(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    monkeypatch.setattr(caching, "KEPT", 3)
    kept = MemoryCache()
    vector = np.ones(2, dtype=np.float32)
    list(threads.map(lambda n: kept.put({str(n): vector}), range(100)))
    kept.put({"a": vector, "b": vector})
    kept.put({"c": vector, "d": vector})
    assert kept.get(["a", "b", "c", "d", "0"]).keys() == {"b", "c", "d"}


def test_vectors_of_a_local_model_reach_no_file(file: Path) -> None:
    settings = Settings.load({}, cache=file.parent)
    local = open_embedder(settings, awaited=False)
    assert isinstance(local, LocalEmbedder)
    run_now(local._keep({"one": np.ones(384, dtype=np.float32)}, Role.DOCUMENT))
    assert not file.exists()
    assert run_now(local._cached([local._key("one", Role.DOCUMENT)]))


def test_it_stays_within_its_bound(cache: FileCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "ROWS", 10)
    for n in range(30):
        cache.put({str(n): unit(n + 1, 1)})
    assert sorted(map(int, cache.get([str(n) for n in range(30)]))) == list(range(20, 30))
