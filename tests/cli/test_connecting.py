"""The server of a command: its address, user, password and database, and what each error names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import setting_files
from graphmem.settings import Settings
from tests.cli.conftest import Run
from tests.plugins.children import environ_of

SECRET = "opensesame-0123456789"


@pytest.fixture
def elsewhere(
    run: Run, migrated: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder in which the process works, with a settings file of that folder's own."""
    monkeypatch.delenv(setting_files.CONFIG)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "graphmem.toml"


def test_a_settings_file_names_the_server(
    run: Run,
    elsewhere: Path,
    migrated: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert migrated.password is not None
    for name in ("URI", "PASSWORD", "EMBEDDER"):
        monkeypatch.delenv(f"GRAPHMEM_{name}")
    elsewhere = elsewhere.parent / ".env"
    elsewhere.write_text(
        f"GRAPHMEM_URI={migrated.uri}\nGRAPHMEM_EMBEDDER=hash\n"
        f"GRAPHMEM_PASSWORD={migrated.password.get_secret_value()}\n"
    )
    elsewhere.chmod(0o644)
    ended = run("memory", "list", "--json")
    assert ended.code == 0, ended.err
    assert ended.data["memories"] == []
    # Outside a test it is written to standard error.
    [warned] = [record.getMessage() for record in caplog.records]
    assert f"{elsewhere} contains GRAPHMEM_PASSWORD and can be read by other users" in warned
    assert migrated.password.get_secret_value() not in ended.err + warned


def test_settings_are_listed_with_their_origins(
    run: Run, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere.write_text("max_pool_size = 7")
    monkeypatch.setenv("GRAPHMEM_MODEL_URL", "http://me:a-secret-of-mine@host/")
    found = run("admin", "settings", "--user", "bob", "--json").data
    assert found["user"] == {"value": "bob", "origin": "argument"}
    assert found["tenant"]["origin"] == "environment"
    assert found["max_pool_size"] == {"value": 7, "origin": str(elsewhere)}
    assert found["heap"] == {"value": "1g", "origin": "default"}
    assert found["password"] == {"value": "**********", "origin": "environment"}
    assert found["model_url"]["value"] == "**********"
    shown = run("admin", "settings").out
    assert f"GRAPHMEM_MAX_POOL_SIZE  7  from {elsewhere}" in shown
    assert "GRAPHMEM_HEAP  1g\n" in shown
    assert "a-secret" not in shown


def test_an_unknown_key_of_a_file_is_a_usage_error(run: Run, elsewhere: Path) -> None:
    elsewhere.write_text('tenat = "x"')
    ended = run("recall", "tea")
    assert ended.code == 2
    assert f"tenat in {elsewhere}: no such setting; did you mean tenant?" in ended.err


def test_an_address_without_a_password_names_its_option(
    run: Run, migrated: Settings, monkeypatch: pytest.MonkeyPatch, elsewhere: Path
) -> None:
    monkeypatch.delenv("GRAPHMEM_PASSWORD")
    for given, source in (((), "GRAPHMEM_URI"), (("--uri", str(migrated.uri)), "--uri")):
        for command in (("recall", "tea"), ("server", "status"), ("admin", "migrate")):
            ended = run(*command, *given)
            assert ended.code == 2
            assert f"{source} names a server whose password is missing" in ended.err
            assert "--password" in ended.err
            assert "--user" in ended.err
    monkeypatch.delenv("GRAPHMEM_URI")
    elsewhere.write_text(f'uri = "{migrated.uri}"')
    assert f"{elsewhere} names a server" in run("recall", "tea").err


def test_a_password_option_needs_a_server(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHMEM_URI")
    ended = run("recall", "tea", "--password")
    assert ended.code == 2
    assert "--password is for the server of --uri" in ended.err
    # Its value would be visible in the list of processes.
    assert run("recall", "tea", "--password=secret").code == 2


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are not available")
@pytest.mark.parametrize("given", [(), ("--password",)])
def test_a_password_is_asked_for_in_a_terminal(
    migrated: Settings, tenant: str, given: tuple[str, ...]
) -> None:
    assert migrated.password is not None
    environ = environ_of(migrated, tenant) | {"GRAPHMEM_EMBEDDER": "hash"}
    environ |= {setting_files.CONFIG: os.devnull}
    right = environ.pop("GRAPHMEM_PASSWORD")
    if given:
        environ["GRAPHMEM_PASSWORD"] = SECRET
    terminal, end = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "graphmem", "memory", "list", "--json", *given],
        env=environ,
        stdin=end,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as asked:
        os.close(end)
        assert asked.stderr is not None
        # Input before the question is discarded.
        question = asked.stderr.read(len("Password of neo4j: "))
        os.write(terminal, f"{right}\n".encode())
        out, err = asked.communicate(timeout=300)
        os.close(terminal)
    assert asked.returncode == 0, err
    assert '"memories": []' in out
    assert question == "Password of neo4j: "
    assert right not in out + err


def test_a_wrong_password_is_a_failure_of_every_command(
    run: Run, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neo4j locks a user after some wrong passwords.
    monkeypatch.setenv("GRAPHMEM_USER", f"stranger-{tenant}")
    monkeypatch.setenv("GRAPHMEM_PASSWORD", SECRET)
    for command in (("server", "status"), ("recall", "tea"), ("admin", "migrate", "--check")):
        ended = run(*command)
        assert ended.code == 3
        assert "graph_access" in ended.err
        assert SECRET not in ended.err
    assert run("server", "doctor").code == 1


def test_status_is_that_of_the_server_of_the_address(run: Run, migrated: Settings) -> None:
    found = run("server", "status", "--uri", str(migrated.uri), "--json").data
    assert (found["running"], found["uri"], found["user"]) == (True, migrated.uri, "neo4j")
    assert found["version"].startswith("20")
    assert found["pending_migrations"] == []
    shown = run("server", "status").out
    assert str(migrated.uri) in shown
    assert "current" in shown
    nothing = run("server", "status", "--uri", "bolt://127.0.0.1:1")
    assert nothing.code == 3
    assert "graph_unavailable" in nothing.err


@pytest.mark.parametrize("name", ["up", "down", "backup", "restore"])
def test_the_local_server_takes_no_address(run: Run, name: str) -> None:
    assert "No such option '--uri'" in run("server", name, "--uri", "bolt://127.0.0.1:1").err


def test_a_wrong_database_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_DATABASE", "nope")
    ended = run("recall", "tea")
    assert ended.code == 2
    assert "Error (database_not_found): The server has no database 'nope'." in ended.err
    assert "GRAPHMEM_DATABASE" in ended.err
