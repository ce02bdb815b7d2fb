"""Backups: all data in one file and back, and nothing lost by any that fails."""

from __future__ import annotations

import os
from pathlib import Path

import neo4j
import pytest

from graphmem import local_server
from graphmem.errors import LocalServerError
from graphmem.local_server import backup, process
from graphmem.local_server.files import DataFolder
from graphmem.settings import Settings


def say(settings: Settings, query: str) -> list[int]:
    """Run a query on the server, started when it does not run, and return its numbers."""
    found = local_server.ensure(settings)
    auth = (found.user, found.password.get_secret_value())
    with neo4j.GraphDatabase.driver(found.uri, auth=auth) as driver:
        rows = driver.execute_query(neo4j.Query(query)).records
    return [row[0] for row in rows]


NUMBERS = "MATCH (n:Kept) RETURN n.number ORDER BY n.number"


@pytest.mark.system
def test_a_backup_brings_the_data_back(own_server: Settings, tmp_path: Path) -> None:
    say(own_server, "UNWIND [1, 2] AS number CREATE (:Kept {number: number})")
    made = local_server.back_up(own_server, tmp_path / "one.dump")
    assert (made.size_bytes > 0, made.file.name, len([*tmp_path.glob(".*")])) == (
        True,
        "one.dump",
        0,
    )
    assert made.file.stat().st_mode & 0o777 == 0o600
    assert local_server.status(own_server).running
    say(own_server, "CREATE (:Kept {number: 3})")
    with pytest.raises(LocalServerError, match="exists already"):
        local_server.back_up(own_server, made.file)
    (tmp_path / "bad.dump").write_bytes(os.urandom(4_096))
    with pytest.raises(LocalServerError, match="are unchanged"):
        local_server.restore(own_server, tmp_path / "bad.dump")
    assert say(own_server, NUMBERS) == [1, 2, 3]
    local_server.restore(own_server, made.file)
    assert say(own_server, NUMBERS) == [1, 2]
    folder = DataFolder.of(own_server)
    assert not folder.replaced.exists()
    # On another machine, with a password of its own.
    elsewhere = own_server.model_copy(update={"home": tmp_path / "elsewhere"})
    try:
        local_server.restore(elsewhere, made.file)
        assert say(elsewhere, NUMBERS) == [1, 2]
        assert DataFolder.of(elsewhere).password() != folder.password()
    finally:
        local_server.stop(elsewhere)


@pytest.mark.system
def test_a_restore_that_was_killed_is_undone_by_the_next_start(
    own_server: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(own_server, "CREATE (:Kept {number: 1})")
    made = local_server.back_up(own_server, tmp_path / "one.dump")
    say(own_server, "CREATE (:Kept {number: 2})")

    class KilledError(BaseException):
        """The process was killed here: nothing of it runs any more."""

    def killed(*_: object) -> None:
        half = DataFolder.of(own_server).root / "data" / "databases" / backup.DATABASE
        half.mkdir()
        (half / "neostore").write_bytes(b"half")
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(process.Launcher, "run_admin_tool", killed)
        patch.setattr(DataFolder, "undo_set_aside", lambda *_: None)
        with pytest.raises(KilledError):
            local_server.restore(own_server, made.file)
    assert say(own_server, NUMBERS) == [1, 2]


@pytest.mark.system
def test_data_that_the_server_does_not_start_with_give_way_again(
    own_server: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(own_server, "CREATE (:Kept {number: 1})")
    made = local_server.back_up(own_server, tmp_path / "one.dump")
    say(own_server, "CREATE (:Kept {number: 2})")

    def refused(*_: object, **__: object) -> None:
        raise LocalServerError("A newer Neo4j wrote them.")

    with monkeypatch.context() as patch:
        patch.setattr(backup, "ensure", refused)
        with pytest.raises(LocalServerError, match="newer"):
            local_server.restore(own_server, made.file)
    assert say(own_server, NUMBERS) == [1, 2]


def test_what_cannot_be_is_said_and_changes_nothing(
    server_settings: Settings, tmp_path: Path
) -> None:
    bare = server_settings.model_copy(update={"home": tmp_path / "none"})
    with pytest.raises(LocalServerError, match="contains no data"):
        local_server.back_up(bare, tmp_path / "one.dump")
    with pytest.raises(LocalServerError, match="is not a file"):
        local_server.restore(bare, tmp_path / "one.dump")
    assert [*tmp_path.iterdir()] == []


def test_a_dump_never_replaces_a_file_that_came_meanwhile(tmp_path: Path) -> None:
    draft, target = tmp_path / "draft", tmp_path / "one.dump"
    draft.write_bytes(b"dump")
    draft.chmod(0o644)
    target.write_bytes(b"another file")
    with pytest.raises(LocalServerError, match="File exists"):
        backup._publish(draft, target)
    assert (target.read_bytes(), draft.exists()) == (b"another file", True)
    target.unlink()
    backup._publish(draft, target)
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"dump", 0o600)


def test_a_folder_that_takes_no_backup_is_told() -> None:
    with pytest.raises(LocalServerError, match="cannot be written"):
        backup._scratch_beside(Path("/proc/one.dump"))
