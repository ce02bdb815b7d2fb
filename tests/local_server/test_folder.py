"""The data folder: made for its owner alone, guarded against other versions and bad places."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import local_server
from graphmem.errors import (
    ConfigurationError,
    LocalServerError,
    ServerFetchError,
    ServerLockedError,
)
from graphmem.local_server import process
from graphmem.local_server.files import (
    DataFolder,
    ServerState,
    cache_root,
    environment,
    version_key,
)
from graphmem.local_server.jars import fetch
from graphmem.local_server.lifecycle import ignore_progress
from graphmem.private_files import exposed_mode
from graphmem.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache", start_timeout_s=5)


@pytest.fixture
def folder(settings: Settings) -> DataFolder:
    made = DataFolder.of(settings)
    made.create()
    return made


def _written_by(folder: DataFolder, version: str) -> None:
    (folder.root / "data" / "databases").mkdir(parents=True)
    folder.claim_version(version)


def test_the_password_is_random_private_and_lasting(folder: DataFolder, tmp_path: Path) -> None:
    first = folder.password()
    assert folder.password() == first
    assert len(first.get_secret_value()) >= 32
    assert first.get_secret_value() not in repr(first)
    assert stat.S_IMODE(folder.password_file.stat().st_mode) == 0o600
    other = DataFolder(tmp_path / "other")
    other.create()
    assert other.password() != first


def test_data_without_its_password_are_not_given_a_new_one(folder: DataFolder) -> None:
    _written_by(folder, "2026.08.1")
    with pytest.raises(LocalServerError, match="missing or empty"):
        folder.password()
    folder.password_file.write_text("\n", encoding="utf-8")
    with pytest.raises(LocalServerError, match="missing or empty"):
        folder.password()
    folder.password_file.write_bytes(b"\xff\xfe")
    with pytest.raises(LocalServerError, match="cannot be read"):
        folder.password()


def test_data_of_a_newer_neo4j_are_refused_with_both_versions(
    folder: DataFolder, settings: Settings, server_settings: Settings
) -> None:
    _written_by(folder, "2027.01.0")
    with pytest.raises(LocalServerError, match=r"2027\.01\.0.*2026\.08\.1"):
        folder.claim_version("2026.08.1")
    assert folder.data_version() == "2027.01.0"
    found = {f.name: f for f in local_server.diagnose(settings)}
    assert found["version"].level == "bad"


@given(year=st.integers(2025, 2030), month=st.integers(1, 11), patch=st.integers(0, 20))
def test_versions_sort_by_their_numbers(year: int, month: int, patch: int) -> None:
    version = f"{year}.{month:02}.{patch}"
    assert version_key(version) < version_key(f"{year}.{month:02}.{patch + 1}")
    assert version_key(version) < version_key(f"{year}.{month + 1}.0")
    assert version_key(version) < version_key(f"{year + 1}.01.0")


def _modes(*places: Path) -> list[int]:
    return [stat.S_IMODE(place.stat().st_mode) for place in places]


def test_what_graphmem_makes_is_closed_to_others(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = DataFolder(tmp_path / "new" / "home" / "server")
        folder.create()
        folder.write_configuration(Settings(heap="300m"), bolt_port=1, http_port=2)
    finally:
        os.umask(before)
    conf = folder.conf / "neo4j.conf"
    assert _modes(folder.root.parent, folder.root, conf, folder.imports) == [
        *(0o700, 0o700, 0o600, 0o500)
    ]
    assert folder.configured("server.memory.heap.max_size") == "300m"
    assert folder.configured("server.memory.heap") is None
    assert DataFolder(tmp_path / "none").configured("server.memory.heap.max_size") is None


@pytest.mark.parametrize("linked", [False, True], ids=["folder", "link"])
def test_folders_that_others_can_open_are_told_and_closed(
    settings: Settings, folder: DataFolder, tmp_path: Path, *, linked: bool
) -> None:
    cache = cache_root(settings)
    cache.mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.touch()
    outside.chmod(0o644)
    for root in (folder.root, cache):
        (root / "data").mkdir()
        (root / "data" / "store").touch()
        (root / "data" / "link").symlink_to(outside)
        for place in (root, root / "data", root / "data" / "store"):
            place.chmod(0o777)
        if linked:
            root.rename(root.with_name("real"))
            root.symlink_to(root.with_name("real"))
    findings = [f for f in local_server.diagnose(settings) if f.name == "privacy"]
    assert [(f.level, "(777)" in f.message) for f in findings] == [("warn", True)] * 2
    assert _modes(folder.root, cache) == [0o777, 0o777], "doctor changes nothing"
    folder.create()
    with pytest.raises(ServerFetchError):  # nothing can be fetched, yet it is closed first
        fetch(
            settings.model_copy(update={"maven_mirror": "http://127.0.0.1:1"}),
            report=ignore_progress,
        )
    for root in (folder.root, cache):
        assert _modes(root, root / "data", root / "data" / "store") == [0o700] * 3
    assert _modes(outside) == [0o644], "links lead out of the folder"
    findings = [f for f in local_server.diagnose(settings) if f.name == "privacy"]
    assert [f.level for f in findings] == ["ok", "ok"]


def test_a_folder_of_another_user_is_refused(
    settings: Settings, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = folder.root.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    folder.root.chmod(0o777)
    with pytest.raises(ConfigurationError, match="belongs to another user") as caught:
        local_server.ensure(settings)
    assert "GRAPHMEM_HOME" in caught.value.hint
    assert _modes(folder.root) == [0o777]
    [findings, _] = [f for f in local_server.diagnose(settings) if f.name == "privacy"]
    assert (findings.level, "GRAPHMEM_HOME" in findings.advice) == ("bad", True)


@pytest.mark.parametrize(
    ("owner", "mode", "is_safe"),
    [(0, 0o755, True), (0, 0o775, False), (0, 0o757, False), (1, 0o755, False), (1, 0o700, False)],
)
def test_what_only_the_administrator_can_change_is_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, *, is_safe: bool
) -> None:
    """A container's image may hold the files, made by its administrator."""
    real = Path.stat
    found = os.stat_result([stat.S_IFDIR | mode, 0, 0, 1, owner, 0, 0, 0, 0, 0])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(Path, "stat", lambda path, **_: found if path == tmp_path else real(path))
    if is_safe:
        assert exposed_mode(tmp_path, setting="GRAPHMEM_CACHE") == 0
    else:
        with pytest.raises(ConfigurationError, match=f"number {owner}"):
            exposed_mode(tmp_path, setting="GRAPHMEM_CACHE")


def test_a_process_of_the_server_inherits_what_it_needs_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = ["OPENAI_API_KEY", "AWS_PROFILE", "GRAPHMEM_PASSWORD", "JAVA_TOOL_OPTIONS"]
    for name in [*planted, "PATH", "LC_TIME", "TZ", "SystemRoot"]:
        monkeypatch.setenv(name, "planted")
    found = environment()
    assert not found.keys() & {*planted}
    assert found.keys() >= {"PATH", "LC_TIME", "TZ", "SystemRoot"}


@pytest.mark.parametrize(
    ("free", "heap", "level"), [(3.2, "1g", "ok"), (2.7, "1g", "warn"), (2.5, "1G", "warn")]
)
def test_memory_is_compared_with_what_the_server_may_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, heap: str, level: str
) -> None:
    settings = Settings(home=tmp_path / "home", cache=tmp_path / "cache", heap=heap)
    index = DataFolder.of(settings).root / "data/databases/neo4j/schema/index/vector-2026.08/7"
    index.mkdir(parents=True)
    with (index / "_0.vec").open("wb") as file:
        file.truncate(500_000_000)
    memory = Mock(available=int(free * 1e9))
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    [found] = [one for one in local_server.diagnose(settings) if one.name == "memory"]
    assert found.level == level, found
    assert "At most 2.2 GB for the server" in found.message
    assert "A client: 0.4 GB. Vector indexes: 0.5 GB" in found.message
    asked = {3.2: "", 2.7: "Add memory", 2.5: "GRAPHMEM_HEAP"}[free]
    assert asked in found.advice


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_a_file_in_the_way_is_told(tmp_path: Path, below: str) -> None:
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    settings = Settings(home=tmp_path / "taken" / below, cache=tmp_path / "cache")
    with pytest.raises(ConfigurationError, match="a file has this name") as caught:
        local_server.ensure(settings)
    assert "GRAPHMEM_HOME" in caught.value.hint
    assert local_server.status(settings).running is False
    assert local_server.stop(settings) is False
    levels = {f.name: f.level for f in local_server.diagnose(settings)}
    assert levels["folder"] == "bad"


@contextmanager
def as_other_user() -> Iterator[None]:
    """Be a user who may not write everywhere, as root may."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o500)
    (tmp_path / "file").touch()
    # Imports what is imported late, which the other user may not read.
    with pytest.raises(ConfigurationError, match="a file has this name"):
        local_server.ensure(Settings(home=tmp_path / "file", cache=tmp_path / "cache"))
    with as_other_user(), pytest.raises(ConfigurationError, match="GRAPHMEM_HOME"):
        local_server.ensure(Settings(home=tmp_path / "home", cache=tmp_path / "cache"))


def test_a_lock_held_elsewhere_ends_in_an_error(folder: DataFolder) -> None:
    with (
        folder.locked(0),
        pytest.raises(ServerLockedError, match="starting or stopping"),
        DataFolder(folder.root).locked(0.05),
    ):
        pytest.fail("two held the lock")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "other": 2}'])
def test_a_damaged_state_counts_as_none(folder: DataFolder, text: str) -> None:
    (folder.root / "state.json").write_text(text, encoding="utf-8")
    assert folder.read_state() is None


def test_a_foreign_process_with_our_old_id_is_left_alone(
    folder: DataFolder, settings: Settings
) -> None:
    folder.write_state(ServerState(os.getpid(), 0.0, 7687, 7474, "2026.08.1", 0))
    assert process.find(folder, folder.read_state()) is None
    assert local_server.status(settings).running is False
    assert local_server.stop(settings) is False
    assert folder.read_state() is None


def test_a_server_whose_command_line_is_not_there_yet_is_not_taken_for_dead(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = iter([[], [], ["java", process.MAIN, *process.identity(folder)]])
    monkeypatch.setattr(psutil.Process, "cmdline", lambda _: next(shown))
    server = process.find(folder, ServerState(os.getpid(), 0.0, 7687, 7474, "2026.08.1", 0))
    assert server is not None
    assert server.pid == os.getpid()


def test_what_never_has_a_command_line_is_left_alone(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "EMPTY_COMMAND_LINE_S", 0.05)
    monkeypatch.setattr(psutil.Process, "cmdline", lambda _: [])
    assert process.find(folder, ServerState(os.getpid(), 0.0, 7687, 7474, "2026.08.1", 0)) is None


def test_wished_ports_are_taken_when_they_are_free() -> None:
    bolt, http = process.free_ports(0, 0)
    assert bolt != http
    assert process.free_ports(bolt, http) == [bolt, http]


def test_nothing_is_there_before_the_first_start(settings: Settings) -> None:
    found = local_server.status(settings)
    assert (found.running, found.uri, found.version, found.data_bytes) == (False, None, None, 0)
    assert local_server.stop(settings) is False
    assert local_server.stored_password(settings) is None
    assert not any((settings.home or Path()).glob("*"))


@pytest.mark.parametrize(
    ("log", "reason", "kind", "message"),
    [
        (
            "Caused by: UnsupportedLogVersionException: This indicates that the log files "
            "originates from a newer version of neo4j, which we don't support downgrading from.",
            "other",
            LocalServerError,
            "newer release",
        ),
        (
            "Lock file has been locked by another process: /x/store_lock",
            "other",
            ServerLockedError,
            "Another Neo4j",
        ),
        ("PortBindException: Address localhost:1 is already in use", "port", LocalServerError, "1"),
        (
            "# A fatal error has been detected by the Java Runtime Environment:",
            "crash",
            LocalServerError,
            "while it was starting",
        ),
        ("Error: Too small maximum heap", "other", LocalServerError, "GRAPHMEM_HEAP"),
        (
            "# There is insufficient memory for the Java Runtime Environment to continue.",
            "other",
            LocalServerError,
            "GRAPHMEM_HEAP",
        ),
        ("ERROR no such thing", "other", LocalServerError, "no such thing"),
    ],
)
def test_the_log_of_a_dead_server_says_why(
    folder: DataFolder, log: str, reason: str, kind: type[LocalServerError], message: str
) -> None:
    old = "ERROR of the run before: Lock file has been locked by another process\n"
    (folder.root / "logs" / "neo4j.log").write_text(f"{old}{log}\n\tat frame\n", encoding="utf-8")
    dead = ServerState(1 << 22, 0.0, process.free_ports(0)[0], 0, "2026.08.1", len(old))
    with pytest.raises(process.ServerExitedError) as caught:
        process.wait_ready(folder, dead, 5)
    assert caught.value.reason == reason
    assert type(caught.value.error) is kind
    assert message in str(caught.value.error)
    assert "the run before" not in str(caught.value.error)
    assert "frame" not in str(caught.value.error)


def test_a_server_that_dies_after_it_greeted_is_not_waited_for(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.root / "logs" / "neo4j.log").write_text("ERROR no such thing\n", encoding="utf-8")
    monkeypatch.setattr(process, "answers", lambda _: True)
    dead = ServerState(1 << 22, 0.0, 1, 0, "2026.08.1", 0)
    with pytest.raises(process.ServerExitedError, match="no such thing"):
        process.wait_ready(folder, dead, 60, lambda: False)


STARTS_AND_LIVES = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
time.sleep(60)
"""


def test_a_server_whose_starter_lives_on_is_seen_to_have_ended() -> None:
    """Until its starter asks for it, the system keeps the dead process."""
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_LIVES], stdout=subprocess.PIPE, text=True
    ) as starter:
        try:
            assert starter.stdout is not None
            server = psutil.Process(int(starter.stdout.readline()))
            process.end(server, timeout_s=10)
            assert not server.is_running() or server.status() == psutil.STATUS_ZOMBIE
            assert starter.poll() is None
        finally:
            starter.kill()


DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(60)
"""


def test_a_server_that_does_not_listen_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        process.end(psutil.Process(started.pid), timeout_s=1)
        assert not psutil.pid_exists(started.pid)
