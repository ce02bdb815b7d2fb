"""Keys: created, listed and revoked on the command line, and accepted while they are valid."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from graphmem.cli import main
from graphmem.errors import ConfigurationError, NotFoundError
from graphmem.serve import keys
from graphmem.serve.keys import Grant, KeyFile, KeyRing
from tests.serve.conftest import Api


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "keys", *arguments])
    done = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, done.out, done.err


def test_the_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "new" / "keys.json"
    monkeypatch.setenv("GRAPHMEM_SERVE_KEYS", str(file))
    code, out, err = run(capsys, "create", "laptop")
    text = out.strip()
    assert code == 0
    assert out == f"{text}\n"
    assert "not shown again" in err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    secret = text.split("_", 2)[2]
    assert secret not in file.read_text()
    assert len(secret) == 43

    more = ("--tenant", "acme", "--scope", "team:*", "--right", "read", "--days", "30")
    made = json.loads(run(capsys, "create", "ci", *more, "--trust", "model", "--json")[1])
    assert made["key"].startswith(f"gm_{made['id']}_")
    assert (made["tenant"], made["scopes"], made["rights"]) == ("acme", ["team:*"], ["read"])
    assert made["trust"] == "model"

    listed = json.loads(run(capsys, "list", "--json")[1])
    assert [(one["name"], one["state"]) for one in listed] == [("laptop", "valid"), ("ci", "valid")]
    shown = run(capsys, "list")[1]
    assert "laptop" in shown
    assert secret not in shown
    assert "digest" not in json.dumps(listed)
    assert run(capsys, "revoke", listed[0]["id"])[0] == 0
    assert json.loads(run(capsys, "list", "--json")[1])[0]["state"] == "revoked"
    code, _, err = run(capsys, "revoke", "nothing")
    assert (code, "keys list" in err) == (1, True)
    code, _, err = run(capsys, "create", "x", "--scope", "")
    assert (code, "scopes" in err) == (2, True)


def test_options_of_the_server_do_not_stand_before_keys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--tenant", "acme", "keys", "list"])
    assert ended.value.code == 2
    assert "--tenant must not stand before `keys`" in capsys.readouterr().err


def test_a_key_is_valid_until_it_expires_or_is_revoked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "RELOAD_S", 1.0)
    now = [0.0]
    file = KeyFile(tmp_path / "keys.json")
    ring = KeyRing(file, clock=lambda: now[0])
    assert ring.find("gm_x_y") is None
    grant = Grant(tenant="acme")
    key, text = file.create("a", grant, days=1)
    assert ring.find(text) is None  # the file was looked at a moment ago
    now[0] += 1
    assert ring.find(text) == key
    assert key.state(datetime.now(UTC) + timedelta(days=1)) == "expired"
    revoked = file.revoke(key.id)
    assert file.revoke(key.id) == revoked
    now[0] += 1
    assert ring.find(text) is None
    with pytest.raises(NotFoundError):
        file.revoke("nothing")
    past = key.model_copy(update={"expires_at": datetime.now(UTC) - timedelta(seconds=1)})
    file._write([past])
    now[0] += 1
    assert ring.find(text) is None


def test_a_damaged_or_exposed_file_opens_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    file = KeyFile(tmp_path / "keys.json")
    text = file.create("a", Grant(tenant="acme"), days=None)[1]
    ring = KeyRing(file, clock=lambda: now[0])
    assert ring.find(text)
    for spoil in (
        lambda: file.path.chmod(0o644),
        lambda: file.path.write_text("[{]"),
        lambda: file.path.unlink(),
    ):
        file.path.chmod(0o600)
        spoil()
        now[0] += 1
        assert ring.find(text) is None
    assert "Others may read" in caplog.text
    file.path.write_text('[{"digest": "opensesame"}]')
    file.path.chmod(0o600)
    with pytest.raises(ConfigurationError, match="not a file of keys") as found:
        file.read()
    assert found.value.__context__ is None


def test_scopes_of_a_grant() -> None:
    grant = Grant(tenant="acme", scopes=("user:alice", "team:*"))
    granted = ("user:alice", "team:", "team:red", "team:*")
    refused = ("user:alice2", "user:", "team", "Team:red", "global", "*", "")
    assert all(grant.covers(one) for one in granted)
    assert not any(grant.covers(one) for one in refused)
    assert not grant.covers_tenant
    everything = Grant(tenant="acme", scopes=("*",))
    assert everything.covers_tenant
    assert everything.covers("x")
    with pytest.raises(ValidationError):
        Grant(tenant="acme", scopes=())


def test_a_running_server_accepts_a_new_key_and_refuses_a_revoked_one(
    api: Api, tenant: str
) -> None:
    text = api.key(tenant)
    assert api.send(text, "GET", "/v1/memories").status_code == 200
    api.file.revoke(text.split("_")[1])
    assert api.send(text, "GET", "/v1/memories").status_code == 401
