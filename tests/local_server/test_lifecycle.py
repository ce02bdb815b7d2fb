"""The managed server: one per folder, found, restarted, stopped; no secret in its output."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pytest
from neo4j.exceptions import TransientError
from pydantic import SecretStr

from graphmem import local_server, maven
from graphmem.errors import (
    ConfigurationError,
    GraphAccessError,
    GraphUnavailableError,
    LocalServerError,
)
from graphmem.local_server import Endpoint, lifecycle, process
from graphmem.local_server.files import DataFolder
from graphmem.local_server.jars import JarStore, shipped_lock
from graphmem.local_server.java import find_java
from graphmem.settings import Settings
from tests.plugins.server import nothing_may_be_skipped

VECTORS = 40
"""Number of nodes with a vector."""
ENSURE = """
import sys
from graphmem.local_server import ensure
from graphmem.settings import Settings
print("ready", flush=True)
sys.stdin.readline()
found = ensure(Settings.model_validate_json(sys.argv[1]))
print(found.uri, found.password.get_secret_value())
"""


@pytest.fixture(scope="module", autouse=True)
def _managed(server_settings: Settings) -> None:
    """Skip if Java is missing; fail if tests must not be skipped."""
    try:
        find_java(server_settings)
    except ConfigurationError as error:
        if nothing_may_be_skipped():
            pytest.fail(f"no managed server: {error}", pytrace=False)
        pytest.skip(f"no managed server: {error}")


def _count(found: Endpoint) -> int:
    auth = (found.user, found.password.get_secret_value())
    with neo4j.GraphDatabase.driver(found.uri, auth=auth) as driver:
        return int(driver.execute_query("MATCH (n:Kept) RETURN count(n) AS n").records[0]["n"])


def _keep_one(found: Endpoint) -> None:
    with _driver(found) as driver:
        driver.execute_query("CREATE (:Kept)")


def _driver(found: Endpoint) -> neo4j.Driver:
    auth = (found.user, found.password.get_secret_value())
    return neo4j.GraphDatabase.driver(found.uri, auth=auth)


def _write_vectors(found: Endpoint) -> None:
    """Write nodes with a vector, each in a transaction of its own."""
    with _driver(found) as driver:
        driver.execute_query(
            "CREATE VECTOR INDEX near FOR (n:Near) ON (n.v) "
            "OPTIONS {indexConfig: {`vector.dimensions`: 2}}"
        )
        driver.execute_query("CALL db.awaitIndexes(60)")
        for number in range(VECTORS):
            driver.execute_query("CREATE (:Near {v: [1.0, toFloat($number)]})", number=number)


def _vector_parts(settings: Settings) -> int:
    """Return the number of parts of the vector index on disk."""
    folder = DataFolder.of(settings).root / "data" / "databases" / "neo4j" / "schema" / "index"
    return len([*folder.glob("vector-*/*/1/_*.si")])


def _largest_heap(found: Endpoint) -> int:
    """Return the heap size that the JVM reports, bytes."""
    with _driver(found) as driver:
        [row] = driver.execute_query(
            "CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes RETURN attributes"
        ).records
    return int(row["attributes"]["HeapMemoryUsage"]["value"]["properties"]["max"])


def _pid(settings: Settings) -> int:
    pid = local_server.status(settings).pid
    assert pid is not None
    return pid


def _children_of(argument: str) -> list[psutil.Process]:
    found = []
    for running in psutil.process_iter():
        try:
            if argument in running.cmdline():
                found.append(running)
        except psutil.Error:
            continue
    return found


def test_one_life(
    own_server: Settings,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Start, use, see, stop, start again: the data stay, and the password shows nowhere."""
    caplog.set_level(logging.DEBUG)
    stages: list[str] = []
    found = local_server.ensure(own_server, report=lambda step: stages.append(step.stage))
    assert stages[-3:] == ["prepare", "start", "ready"]
    _keep_one(found)
    with monkeypatch.context() as patched:
        # It has accepted a login, so no connection is opened to check that.
        patched.delattr(neo4j.GraphDatabase, "driver")
        assert local_server.ensure(own_server) == found
    assert found.version == shipped_lock().neo4j

    status = local_server.status(own_server)
    assert (status.running, status.uri) == (True, found.uri)
    assert (status.heap, status.page_cache) == (own_server.heap, own_server.page_cache)
    assert _largest_heap(found) == 256 << 20
    assert status.uptime_s is not None
    assert status.data_bytes > 0
    levels = {finding.name: finding.level for finding in local_server.diagnose(own_server)}
    assert "bad" not in levels.values(), levels
    assert levels["bolt"] == "ok"

    server = psutil.Process(_pid(own_server))
    listening = {c.laddr.ip for c in server.net_connections() if c.status == "LISTEN"}
    assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"}
    assert server.ppid() != 0
    assert os.getsid(server.pid) == server.pid, "it must outlive our terminal"

    link = local_server.browse_link(own_server, "MATCH (m) RETURN m")
    secret = found.password.get_secret_value()
    assert link is not None
    captured = capfd.readouterr()
    seen = [
        repr(found), str(found), link, json.dumps(server.cmdline()), json.dumps(server.environ()),
        caplog.text,
        captured.out, captured.err, repr(local_server.diagnose(own_server)),
    ]  # fmt: skip
    assert not any(secret in text for text in seen)
    root = DataFolder.of(own_server).root
    holders = [p for p in root.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]
    assert holders == [DataFolder.of(own_server).password_file]

    assert local_server.stop(own_server) is True
    assert not psutil.pid_exists(server.pid)
    assert not process.answers(int(found.uri.rpartition(":")[2]))
    assert local_server.stop(own_server) is False
    assert not [p for p in root.rglob("*") if "crash" in p.name]
    assert "Stopped." in (root / "logs" / "neo4j.log").read_text().splitlines()[-1]

    assert _count(local_server.ensure(own_server)) == 1


@pytest.mark.system
def test_the_parts_of_a_vector_index_are_merged_early(own_server: Settings) -> None:
    _write_vectors(local_server.ensure(own_server))
    local_server.stop(own_server)  # writes the index to disk
    # By default, Neo4j keeps one part for each of these writes.
    assert 0 < _vector_parts(own_server) < VECTORS / 2


@pytest.mark.system
def test_a_server_keeps_queries_and_other_users_out(
    own_server: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One start on a folder that was left open, with a provider's key in the environment."""
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GRAPHMEM_MODEL_KEY"):
        monkeypatch.setenv(name, "sk-planted")
    root = DataFolder.of(own_server).root
    (root / "data").mkdir(parents=True)
    (root / "data" / "old").write_text("open", encoding="utf-8")
    for path in (root, root / "data", root / "data" / "old"):
        path.chmod(0o777)
    found = local_server.ensure(own_server)
    written = [root, *(root / "data").rglob("*"), *(root / "logs").iterdir()]
    assert not [path for path in written if path.stat().st_mode & 0o077]
    assert "sk-planted" not in json.dumps(psutil.Process(_pid(own_server)).environ())
    secret = tmp_path / "secret.csv"
    secret.write_text("a secret", encoding="utf-8")
    (root / "import" / "x.csv").parent.chmod(0o700)
    (root / "import" / "x.csv").write_text("a secret", encoding="utf-8")
    with closing(socket.create_server(("127.0.0.1", 0))) as page:
        port = page.getsockname()[1]
        sources = [secret.as_uri(), "file:///x.csv", "file:/x.csv", f"ftp://localhost:{port}/x"]
        sources += [f"http://{host}:{port}/x" for host in ("127.0.0.1", "localhost", "[::1]")]
        for source in sources:
            with _driver(found) as driver, pytest.raises(neo4j.exceptions.ClientError):
                driver.execute_query("LOAD CSV FROM $source AS row RETURN row", source=source)
        page.settimeout(0.1)
        with pytest.raises(TimeoutError):
            page.accept()
    with _driver(found) as driver:
        driver.execute_query("CALL db.labels()")  # as Browser does
        names = [row["name"] for row in driver.execute_query("SHOW PROCEDURES YIELD name").records]
    assert {name.partition(".")[0] for name in names} == {"db", "dbms", "tx", "graphmem"}
    own = [one for one in local_server.diagnose(own_server) if str(root) in one.message]
    assert [one.level for one in own if one.name == "privacy"] == ["ok"]


@pytest.mark.system
def test_two_processes_at_once_share_one_server(own_server: Settings) -> None:
    text = own_server.model_dump_json(exclude={"password", "embedder_key"})
    command = [sys.executable, "-c", ENSURE, text]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    starters = [subprocess.Popen(command, **pipes) for _ in range(3)]  # type: ignore[call-overload]
    for starter in starters:
        assert starter.stdout.readline() == "ready\n"
    answers = {starter.communicate("go\n", timeout=300)[0] for starter in starters}
    assert [starter.returncode for starter in starters] == [0, 0, 0]
    assert len(answers) == 1
    home = f"--home-dir={DataFolder.of(own_server).root}"
    assert [running.pid for running in _children_of(home)] == [_pid(own_server)]


@pytest.mark.system
def test_threads_at_once_share_one_server_and_a_killed_one_is_replaced(
    own_server: Settings,
) -> None:
    found: list[Endpoint] = []

    def ensure() -> None:
        found.append(local_server.ensure(own_server))

    threads = [threading.Thread(target=ensure) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len({endpoint.uri for endpoint in found}) == 1

    _keep_one(found[0])
    killed = psutil.Process(_pid(own_server))
    killed.kill()
    killed.wait()
    assert local_server.status(own_server).running is False
    stale = {f.name: f for f in local_server.diagnose(own_server)}["lock"]
    assert (stale.level, str(killed.pid) in stale.message) == ("warn", True)
    assert _count(local_server.ensure(own_server)) == 1
    assert _pid(own_server) != killed.pid


@pytest.mark.system
def test_taken_ports_are_stepped_around_even_when_taken_meanwhile(
    own_server: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        taken = other.getsockname()[1]
        preferred = own_server.model_copy(update={"bolt_port": taken})
        assert process.free_ports(taken)[0] != taken
        notes = {f.name: f.level for f in local_server.diagnose(preferred)}
        assert notes["ports"] == "warn"
        choices = iter([[taken, process.free_ports(0)[0]]])
        real = process.free_ports
        monkeypatch.setattr(process, "free_ports", lambda *p: next(choices, None) or real(*p))
        found = local_server.ensure(preferred)
    assert int(found.uri.rpartition(":")[2]) != taken
    assert next(choices, None) is None
    assert process.log_in(found.uri, found.user, found.password) == f"Neo4j/{found.version}"


@pytest.mark.system
def test_a_wrong_password_and_a_lost_state_are_told(own_server: Settings) -> None:
    local_server.ensure(own_server)
    folder = DataFolder.of(own_server)
    file = folder.password_file
    right = file.read_text()
    file.write_text("0" * 48)
    with pytest.raises(GraphAccessError, match="does not match the data") as caught:
        local_server.ensure(own_server)
    assert str(file) in str(caught.value)
    found = {f.name: f for f in local_server.diagnose(own_server)}["bolt"]
    assert (found.level, str(file) in found.advice) == ("bad", True)
    file.write_text(right)
    file.chmod(0o644)
    found = {f.name: f for f in local_server.diagnose(own_server)}["password"]
    assert (found.level, "chmod 600" in found.advice) == ("bad", True)

    state = folder.read_state()
    assert state is not None
    folder.forget_state()
    with pytest.raises(LocalServerError, match="Another Neo4j uses the data"):
        local_server.ensure(own_server)
    folder.write_state(state)


@pytest.mark.system
def test_a_server_that_greets_and_takes_nobody_yet_is_waited_for(
    own_server: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refused = neo4j.GraphDatabase.driver, iter(range(2))

    def early(*args: Any, **kwargs: Any) -> neo4j.Driver:
        if next(refused, None) is not None:
            raise TransientError("the system database is not available")
        return real(*args, **kwargs)

    monkeypatch.setattr(neo4j.GraphDatabase, "driver", early)
    found = local_server.ensure(own_server)
    assert next(refused, None) is None
    refused = iter([0])
    with pytest.raises(GraphUnavailableError, match="cannot be reached"):
        process.log_in(found.uri, found.user, found.password)


@pytest.mark.system
def test_a_dying_server_shows_the_end_of_its_log(
    own_server: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = DataFolder.write_configuration

    def wrong(folder: DataFolder, settings: Settings, *, bolt_port: int, http_port: int) -> None:
        real(folder, settings, bolt_port=bolt_port, http_port=http_port)
        with (folder.conf / "neo4j.conf").open("a") as conf:
            conf.write("server.no_such_setting=1\n")

    monkeypatch.setattr(DataFolder, "write_configuration", wrong)
    with pytest.raises(LocalServerError) as caught:
        local_server.ensure(own_server)
    assert "no_such_setting" in caught.value.log_tail
    assert "graphmem server doctor" in str(caught.value)
    assert local_server.status(own_server).running is False
    assert DataFolder.of(own_server).read_state() is None


@pytest.mark.system
def test_a_server_that_takes_too_long_is_ended(
    own_server: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    real = process.spawn_detached

    def spy(*args: object, **options: object) -> int:
        started.append(real(*args, **options))  # type: ignore[arg-type]
        return started[-1]

    monkeypatch.setattr(process, "spawn_detached", spy)
    with pytest.raises(LocalServerError, match="did not answer within"):
        local_server.ensure(own_server.model_copy(update={"start_timeout_s": 0.2}))
    # The process that would have planned the longest reads, and the server.
    assert len(started) == 2
    assert not psutil.pid_exists(started[1])
    assert local_server.status(own_server).running is False


@pytest.mark.system
def test_a_broken_aot_cache_does_not_stop_the_server(
    own_server: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = find_java(own_server)
    made = lifecycle.aot_cache_file(own_server, java, JarStore.of(own_server, shipped_lock()))
    if made is None:
        pytest.skip("this Java has no AOT cache")
    broken = tmp_path / "broken.aot"
    (tmp_path / "draft").write_bytes(os.urandom(1 << 20))
    maven.keep(tmp_path / "draft", broken)
    monkeypatch.setattr(lifecycle, "aot_cache_file", lambda *_: broken)
    monkeypatch.setattr(lifecycle, "make_aot_cache_in_background", lambda *_: None)
    found = local_server.ensure(own_server)
    assert process.answers(int(found.uri.rpartition(":")[2]))


@pytest.mark.system
def test_a_cache_that_breaks_the_jvm_is_dropped(
    own_server: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A JVM may crash over a cache whose head is sound; then the server starts without."""
    cache = tmp_path / "cruel.aot"
    (tmp_path / "draft").touch()
    maven.keep(tmp_path / "draft", cache)
    monkeypatch.setattr(lifecycle, "aot_cache_file", lambda *_: cache)
    monkeypatch.setattr(lifecycle, "make_aot_cache_in_background", lambda *_: None)
    real = process.wait_ready
    seen: list[bool] = []

    def crash_once(folder: DataFolder, state: object, timeout_s: float, *ready: Any) -> None:
        seen.append(cache.exists())
        if len(seen) == 1:
            lifecycle.stop_locked(folder)
            raise process.ServerExitedError(LocalServerError("crashed"), "crash")
        real(folder, state, timeout_s, *ready)  # type: ignore[arg-type]

    monkeypatch.setattr(process, "wait_ready", crash_once)
    local_server.ensure(own_server)
    assert seen[:2] == [True, False]


def test_nobody_there_is_no_server(eventually: Callable[..., None]) -> None:
    free = process.free_ports(0)[0]
    assert process.answers(free) is False
    with pytest.raises(GraphUnavailableError, match="cannot be reached"):
        process.log_in(f"bolt://127.0.0.1:{free}", "neo4j", SecretStr("a-secret-of-ours"))
    with closing(socket.create_server(("127.0.0.1", 0))) as mute:
        assert process.answers(mute.getsockname()[1], timeout_s=0.05) is False


def test_a_process_that_does_not_end_is_killed() -> None:
    stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(); input()"
    for code, obeys in (("print(); input()", True), (stubborn, False)):
        with subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            # A JVM that is killed while it writes leaves a cache that cannot be used.
            assert process.end(psutil.Process(child.pid), 5.0 if obeys else 0.2) is obeys
        assert not psutil.pid_exists(child.pid)


@pytest.mark.system
def test_the_aot_cache_is_made_once_and_used(server_settings: Settings, tmp_path: Path) -> None:
    """In a cache of its own, with the jars borrowed from the user's."""
    settings = server_settings.model_copy(
        update={"home": tmp_path / "home", "cache": tmp_path / "cache", "heap": "256m"}
    )
    for shelf in (JarStore.of_build_tools, JarStore.of):
        own = shelf(settings, shipped_lock())
        own.folder.mkdir(parents=True)
        for path in shelf(server_settings, shipped_lock()).folder.glob("*.jar"):
            (own.folder / path.name).symlink_to(path)
    cache = lifecycle.aot_cache_file(settings, find_java(settings), own)
    if cache is None:
        pytest.skip("this Java has no AOT cache")
    lifecycle.make_aot_cache(settings)
    # The one that the tool for passwords would leave has 31 MB.
    assert cache.stat().st_size > 100_000_000
    kept = [cache.name, f"{cache.name}.sha256", "make.lock"]
    assert sorted(path.name for path in cache.parent.iterdir()) == kept
    made = cache.stat().st_ino
    lifecycle.make_aot_cache(settings)
    assert cache.stat().st_ino == made
    try:
        local_server.ensure(settings)
        assert f"-XX:AOTCache={cache}" in psutil.Process(_pid(settings)).cmdline()
        levels = {f.name: f.level for f in local_server.diagnose(settings)}
        assert levels["aot"] == "ok"
    finally:
        local_server.stop(settings)


@pytest.mark.skipif(sys.platform == "win32", reason="priorities are numbers on Unix only")
def test_a_process_of_its_own_session_yields_with_its_session() -> None:
    waits = [sys.executable, "-c", "input()"]
    own, shared = (
        subprocess.Popen(waits, stdin=subprocess.PIPE, start_new_session=alone)
        for alone in (True, False)
    )
    try:
        ours = _session_priority(os.getpid())
        for child in (own, shared):
            process.yield_processor(child.pid)
            assert psutil.Process(child.pid).nice() == process.LOWEST
        assert _session_priority(own.pid) in ("", f"nice {process.LOWEST}")
        assert _session_priority(os.getpid()) == ours
    finally:
        for child in (own, shared):
            child.communicate(b"\n", timeout=60)


def _session_priority(pid: int) -> str:
    """Return the priority of a session; empty on systems without one, and in a control group."""
    group = Path(f"/proc/{pid}/autogroup")
    return group.read_text().partition(" ")[2].strip() if group.exists() else ""


def test_what_was_changed_after_it_was_made_is_not_loaded(tmp_path: Path) -> None:
    """A cache and a plugin hold code: size and time as before are not enough."""
    made = tmp_path / "made.aot"
    (tmp_path / "draft").write_bytes(b"code of ours")
    maven.keep(tmp_path / "draft", made)
    assert f"-XX:AOTCache={made}" in lifecycle.aot_flags(made)
    before = made.stat()
    made.write_bytes(b"code of evil")
    os.utime(made, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert lifecycle.aot_flags(made) == []
    assert not [*tmp_path.iterdir()]
    made.write_bytes(b"never kept")
    assert lifecycle.aot_flags(made) == []


@pytest.mark.system
def test_a_cache_that_was_changed_is_told(
    server_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "x.aot"
    (tmp_path / "draft").write_bytes(b"code of ours")
    maven.keep(tmp_path / "draft", changed)
    changed.write_bytes(b"code of evil")
    monkeypatch.setattr(lifecycle, "aot_cache_file", lambda *_: changed)
    found = {f.name: f for f in local_server.diagnose(server_settings)}["aot"]
    assert (found.level, "changed after it was made" in found.message) == ("warn", True)


@pytest.mark.system
def test_a_cache_that_cannot_be_made_is_noted_and_tried_again_later(
    server_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "aot" / "x.aot"
    monkeypatch.setattr(lifecycle, "aot_cache_file", lambda *_: cache)

    def fail(*_: object) -> None:
        raise LocalServerError("no room to rehearse")

    monkeypatch.setattr(lifecycle, "_run_once", fail)
    lifecycle.make_aot_cache(server_settings)
    assert "no room" in lifecycle.failure_note(cache).read_text(encoding="utf-8")
    started: list[object] = []
    monkeypatch.setattr(process, "spawn_detached", lambda command, **_: started.append(command))
    lifecycle.make_aot_cache_in_background(server_settings, cache)
    assert started == []
    found = {f.name: f for f in local_server.diagnose(server_settings)}["aot"]
    assert (found.level, str(lifecycle.failure_note(cache)) in found.advice) == ("warn", True)
    long_ago = time.time() - maven.RETRY_S - 1
    os.utime(lifecycle.failure_note(cache), (long_ago, long_ago))
    lifecycle.make_aot_cache_in_background(server_settings, cache)
    assert len(started) == 1
