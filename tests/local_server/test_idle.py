"""The idle stop of the managed server: never during use, and the next use starts it again."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import neo4j
import psutil
import pytest

from graphmem import local_server
from graphmem.local_server import Endpoint, idle, idle_watch, process
from graphmem.local_server.files import DataFolder, ServerState
from graphmem.settings import Settings


def test_idle_time_counts_from_the_last_connection_or_request_of_the_address() -> None:
    checks = [
        # seconds, mark, connected, idle
        (60.0, 1, False, 60.0),
        (120.0, 1, True, 0.0),
        (180.0, 1, False, 60.0),
        (240.0, 2, False, 0.0),
        (300.0, 2, False, 60.0),
    ]
    time_without_use = idle_watch.IdleTime(1, 0.0)
    for now, mark, connected, seconds in checks:
        assert time_without_use.seconds(now, mark, connected=connected) == seconds, now


def test_a_connection_counts_until_a_check_has_seen_it() -> None:
    this = psutil.Process()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not idle_watch.is_connected(this, (port,))
        client = socket.create_connection(("127.0.0.1", port))
        with closing(client), listener.accept()[0]:
            assert idle_watch.is_connected(this, (1, port))
            assert not idle_watch.is_connected(this, (1,))
        if psutil.LINUX:
            assert idle_watch.is_connected(this, (port,)), "closed since the last check"


def test_a_client_that_asks_for_the_address_moves_the_mark(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    assert idle_watch.last_asked(folder.state_file, 7) is None
    folder.write_state(ServerState(7, 0.0, 1, 2, "2026.08.1", 0))
    os.utime(folder.state_file, (1, 1))
    assert idle_watch.last_asked(folder.state_file, 7) == 1_000_000_000
    folder.mark_asked()
    assert (idle_watch.last_asked(folder.state_file, 7) or 0) > 1_000_000_000
    assert idle_watch.last_asked(folder.state_file, 8) is None, "another server has replaced it"
    folder.state_file.write_text("[")
    assert idle_watch.last_asked(folder.state_file, 7) is None


def _connect(found: Endpoint) -> neo4j.Driver:
    auth = (found.user, found.password.get_secret_value())
    return neo4j.GraphDatabase.driver(found.uri, auth=auth)


def _watchers(folder: DataFolder) -> list[psutil.Process]:
    found = []
    for running in psutil.process_iter():
        try:
            if str(folder.state_file) in running.cmdline():
                found.append(running)
        except psutil.Error:
            continue
    return found


@pytest.mark.system
def test_a_server_stops_after_its_last_use_and_starts_with_the_next(
    own_server: Settings, eventually: Callable[..., None]
) -> None:
    settings = own_server.model_copy(update={"idle_stop_s": 2.0})
    folder = DataFolder.of(settings)
    found = local_server.ensure(settings)
    [watcher] = _watchers(folder)
    if psutil.LINUX:
        assert watcher.memory_info().rss < 20e6
    with _connect(found) as driver, driver.session() as session:
        tx = session.begin_transaction()
        tx.run("CREATE (:Kept)").consume()
        time.sleep(6)
        tx.commit()
        driver.execute_query("CREATE (:Kept)")
    assert local_server.status(settings).running
    # A server that crashes leaves its state.
    eventually(lambda: folder.read_state() is None)
    eventually(lambda: not _watchers(folder), 60)

    with _connect(local_server.ensure(settings)) as driver:
        [row] = driver.execute_query("MATCH (n:Kept) RETURN count(n) AS n").records
    assert row["n"] == 2
    local_server.stop(settings)
    eventually(lambda: not _watchers(folder), 60)


@pytest.mark.system
def test_a_stop_gives_way_to_a_client_and_a_client_waits_for_a_stop(
    own_server: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = DataFolder.of(own_server)
    found = local_server.ensure(own_server)
    pid = local_server.status(own_server).pid
    assert pid is not None
    assert not _watchers(folder), "0 is never"
    mark = idle_watch.last_asked(folder.state_file, pid)
    assert mark is not None
    with _connect(found) as driver:
        driver.verify_connectivity()
        assert not idle.stop_if_unused(folder, pid, mark, 5), "a connection is open"
    monkeypatch.setattr(idle_watch, "is_connected", lambda *_: False)
    assert not idle.stop_if_unused(folder, pid, mark - 1, 5), "its address was asked for"
    assert idle.stop_if_unused(folder, pid - 1, mark, 5), "another server runs"
    assert local_server.status(own_server).pid == pid

    monkeypatch.setenv("GRAPHMEM_HOME", str(own_server.home))
    monkeypatch.setenv("GRAPHMEM_IDLE_STOP_S", "60")
    idle.main(pid, mark - 1)
    [watcher] = _watchers(folder)
    assert watcher.cmdline()[-2:] == [idle.MODULE, str(pid)], "it watches again"
    watcher.kill()

    ending = threading.Event()
    end = process.end

    def slow_end(server: psutil.Process) -> bool:
        ending.set()
        time.sleep(1)
        return end(server)

    monkeypatch.setattr(process, "end", slow_end)
    stopping = threading.Thread(target=idle.stop_if_unused, args=(folder, pid, mark, 5))
    stopping.start()
    assert ending.wait(30)
    with _connect(local_server.ensure(own_server)) as driver:
        driver.execute_query("CREATE (:Kept)")
    stopping.join()
    assert local_server.status(own_server).pid not in (None, pid)
