"""Keys: created, listed and revoked on the command line, and accepted while they are valid."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from graphmem import Handle
from graphmem.cli import main
from graphmem.errors import ConfigurationError, NotFoundError, RefusedError, UnavailableError
from graphmem.serve import key_check, keys
from graphmem.serve.guard import GRANT
from graphmem.serve.key_check import ErasedTenants, KeyCheck
from graphmem.serve.keys import RIGHTS, Grant, KeyFile, KeyRing
from graphmem.settings import Settings
from tests.plugins.clients import on_tenant
from tests.plugins.loops import run_apart
from tests.plugins.service import Api, served, settings_of


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


def test_rotation_and_audit_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "keys.json"
    monkeypatch.setenv("GRAPHMEM_SERVE_KEYS", str(file))
    monkeypatch.setenv("COLUMNS", "120")
    made = json.loads(run(capsys, "create", "ci", "--json")[1])
    rotated = json.loads(run(capsys, "rotate", made["id"], "--until", "2020-01-01", "--json")[1])
    assert rotated["key"].startswith(f"gm_{rotated['id']}_")
    states = {one["id"]: one["state"] for one in json.loads(run(capsys, "list", "--json")[1])}
    assert (states[made["id"]], states[rotated["id"]]) == ("expired", "valid")
    assert run(capsys, "rotate", made["id"])[0] == 1
    assert run(capsys, "revoke", rotated["id"])[0] == 0
    assert json.loads(run(capsys, "list", "--json")[1])[0]["state"] == "expired"
    changes = json.loads(run(capsys, "audit", "--json")[1])
    assert [(one["action"], one["key"]["id"], one.get("replaces")) for one in changes] == [
        ("create", made["id"], None),
        ("rotate", rotated["id"], made["id"]),
        ("revoke", rotated["id"], None),
    ]
    assert "digest" not in json.dumps(changes)
    assert made["id"] in run(capsys, "audit")[1]
    log = file.with_name("keys.audit.jsonl")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    log.chmod(0o644)
    code, _, err = run(capsys, "create", "unrecorded")
    assert (code, "cannot be written" in err) == (2, True)
    log.chmod(0o600)
    assert len(json.loads(run(capsys, "list", "--json")[1])) == 2
    log.write_text("{}")
    code, _, err = run(capsys, "audit")
    assert (code, "not a change of a key" in err) == (2, True)


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
    key, text = file.create("b", grant, days=1)
    now[0] += 1
    assert ring.is_valid(key)
    past = key.model_copy(update={"expires_at": datetime.now(UTC) - timedelta(seconds=1)})
    file.path.write_text(f"[{past.model_dump_json()}]")
    now[0] += 1
    assert ring.find(text) is None
    assert not ring.is_valid(key)


def test_a_rotated_key_is_valid_for_a_while(tmp_path: Path) -> None:
    file, now = KeyFile(tmp_path / "keys.json"), datetime.now(UTC)
    grant = Grant(tenant="acme", scopes=("team:*",), rights=("read",), trust="tool")
    old, text = file.create("a", grant, days=30)
    later = now + timedelta(hours=3)
    new, other = file.rotate(old.id, until=later)
    ring = KeyRing(file)
    assert {key.id for key in (ring.find(text), ring.find(other)) if key} == {old.id, new.id}
    assert [getattr(new, name) for name in Grant.model_fields] == [
        getattr(old, name) for name in Grant.model_fields
    ]
    assert new.expires_at is not None
    assert new.expires_at - new.created_at == timedelta(days=30)
    known = {key.id: key for key in file.read()}
    assert known[old.id].expires_at == later
    assert known[old.id].state(later) == "expired"
    assert known[old.id].replaced_by == new.id
    with pytest.raises(RefusedError, match=f"{new.id} replaces it"):
        file.rotate(old.id)
    last, _ = file.rotate(new.id)
    ends = {key.id: key for key in file.read()}[new.id].expires_at
    assert ends is not None
    assert timedelta(hours=23) < ends - now < timedelta(hours=25)
    file.revoke(last.id)
    with pytest.raises(RefusedError, match="revoked"):
        file.rotate(last.id)


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


@pytest.mark.skipif(os.name != "posix", reason="owners and links are not available")
def test_a_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = KeyFile(tmp_path / "keys.json")
    file.create("a", Grant(tenant="acme"), days=None)
    link = tmp_path / "link.json"
    link.symlink_to(file.path)  # as a container's secrets are
    assert KeyFile(link).read() == file.read()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(ConfigurationError, match="not a regular file"):
        KeyFile(pipe).read()
    if file.path.stat().st_uid:
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
    else:  # the tests run as root, whose files are allowed
        os.chown(file.path, 4242, 4242)
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        file.read()


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


def test_a_grant_contains_what_opens_no_more() -> None:
    own = Grant(
        tenant="acme",
        scopes=("user:alice", "team:*", "a**"),
        rights=("read", "admin"),
        trust="tool",
    )

    def contained(*scopes: str, tenant: str = "acme", **more: Any) -> bool:
        given = {"rights": ("read",), "trust": "tool"} | more
        return own.contains(Grant(tenant=tenant, scopes=scopes, **given))

    assert own.contains(own)
    assert contained("user:alice", "team:red", "team:*", "team:r*", trust="model")
    for refused in ("*", "te*", "team*", "user:alice*", "user:*", "global", "a*", "a"):
        assert not contained("user:alice", refused), refused
    assert not contained("user:alice", tenant="other")
    assert not contained("user:alice", rights=("read", "write"))
    assert not contained("user:alice", trust="person")


def test_a_running_server_accepts_a_new_key_and_refuses_a_revoked_one(
    api: Api, tenant: str
) -> None:
    text = api.key(tenant)
    assert api.send(text, "GET", "/v1/memories").status_code == 200
    api.file.revoke(text.split("_")[1])
    assert api.send(text, "GET", "/v1/memories").status_code == 401


def test_keys_are_managed_by_a_key(api: Api, tenant: str) -> None:
    admin = api.key(tenant, "*", rights="read write admin")
    team = api.key(tenant, "team:*", rights="read admin", trust="tool")
    made = sent(api, admin, "POST", "", {"name": "ci", "scopes": ["team:red"], "days": 3})
    assert api.send(made["key"], "POST", "/v1/recall", {"query": "x"}).status_code == 200
    assert (made["rights"], made["trust"], made["state"]) == (["read", "write"], "person", "valid")
    assert made["created_by"] == admin.split("_")[1]
    own = {"name": "bot", "scopes": ["team:blue"], "rights": ["read"]}
    bot = sent(api, team, "POST", "", own)
    assert (bot["trust"], bot["expires_at"]) == ("tool", None)

    listed = sent(api, team, "GET", "", None)
    assert [one["id"] for one in listed["keys"]] == [team.split("_")[1], bot["id"]]
    assert "digest" not in json.dumps(listed)
    first = sent(api, admin, "GET", "", {"limit": 3})
    rest = sent(api, admin, "GET", "", {"limit": 3, "cursor": first["next_cursor"]})
    assert len({one["id"] for one in [*first["keys"], *rest["keys"]]}) == 4
    assert rest["next_cursor"] is None

    rotated = sent(api, admin, "POST", f"/{bot['id']}/rotate", {"until": "2020-01-01T00:00:00Z"})
    assert (rotated["scopes"], rotated["name"]) == (["team:blue"], "bot")
    assert api.send(rotated["key"], "GET", "/v1/memories").status_code == 200
    assert api.send(bot["key"], "GET", "/v1/memories").status_code == 401
    again = sent(api, team, "POST", f"/{rotated['id']}/rotate", None)
    assert {
        api.send(one["key"], "GET", "/v1/memories").status_code for one in (rotated, again)
    } == {200}
    assert sent(api, team, "POST", f"/{again['id']}/revoke", None)["state"] == "revoked"
    assert api.send(again["key"], "GET", "/v1/memories").status_code == 401
    by = team.split("_")[1]
    assert [one.action for one in api.file.changes() if one.by == by] == [
        "create",
        "rotate",
        "revoke",
    ]


def test_a_key_cannot_grant_more_than_it_has(api: Api, tenant: str) -> None:
    team = api.key(tenant, "team:*", rights="read admin")
    one = {"name": "x", "scopes": ["team:red"], "rights": ["read"]}
    sent(api, team, "POST", "", one)
    for more in ({"scopes": ["*"]}, {"scopes": ["global"]}, {"rights": ["read", "erase"]}):
        assert refused(api, team, "POST", "", one | more) == (409, "refused"), more
    plain = api.key(tenant, "*", rights="read write review erase")
    others = api.file.create("o", Grant(tenant=f"{tenant}x", scopes=("*",)), days=None)[0].id
    wider = plain.split("_")[1]
    for path in ("", "/x/rotate", "/x/revoke"):
        given = one if path == "" else None
        for body in (given, {"colour": "red"}):  # the right is checked before the parameters
            assert refused(api, plain, "POST", path, body) == (403, "not_granted")
    assert refused(api, plain, "GET", "", None) == (403, "not_granted")
    for path in (f"/{id_}/{verb}" for id_ in (wider, others, "x") for verb in ("rotate", "revoke")):
        assert refused(api, team, "POST", path, None) == (404, "not_found"), path
    assert refused(api, team, "POST", "", one | {"tenant": "x"})[0] == 422
    header = {"Idempotency-Key": "x"}
    assert api.send(team, "POST", "/v1/keys", one, headers=header).status_code == 422


def test_no_key_outlives_the_one_that_made_it(api: Api, tenant: str) -> None:
    grant = Grant(tenant=tenant, rights=("read", "admin"))
    key, text = api.file.create("short", grant, days=2)
    one = {"name": "x", "scopes": ["global"], "rights": ["read"]}
    assert refused(api, text, "POST", "", one | {"days": 3}) == (409, "refused")
    assert sent(api, text, "POST", "", one | {"days": 1})["expires_at"] is not None
    own = key.shown(datetime.now(UTC)).model_dump(mode="json")["expires_at"]
    assert sent(api, text, "POST", "", one)["expires_at"] == own
    assert sent(api, text, "POST", f"/{key.id}/rotate", None)["expires_at"] == own


def test_a_server_without_keys_manages_none(api: Api, migrated: Settings, tmp_path: Path) -> None:
    settings = settings_of(migrated, tmp_path / "keys.json")
    with served(settings, no_auth=True) as own:
        assert refused(own, None, "GET", "", None) == (403, "not_granted")
    assert not (tmp_path / "keys.json").exists()


def test_the_keys_of_an_erased_tenant_stop(
    api: Api, client: Handle, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_check, "TENANT_S", 0.0)
    key = api.key(tenant, "*", "global", rights=" ".join(RIGHTS))
    other = api.key(f"{tenant}x")
    assert api.send(key, "POST", "/v1/memories", {"content": "Alice rows."}).status_code == 200
    on_tenant(client, tenant).admin.erase_tenant(dry_run=False)
    for verb, path in (("GET", "/memories"), ("GET", "/keys"), ("GET", "/nowhere")):
        found = api.send(key, verb, f"/v1{path}")
        assert (found.status_code, "was erased" in found.text) == (401, True), path
    assert len(api.of(key)("GET", "/admin/erasures")["erasures"]) == 1
    assert api.send(other, "GET", "/v1/memories").status_code == 200


def test_it_is_asked_at_times_whether_a_tenant_was_erased() -> None:
    now, asked = [100.0], list[str]()

    class Down:
        async def memory(self) -> Any:
            asked.append("memory")
            raise UnavailableError("down")

    tenants = ErasedTenants(Down(), lambda: now[0])  # type: ignore[arg-type]

    async def contained(times: int) -> None:
        assert (
            await asyncio.gather(*(tenants.contain("acme") for _ in range(times)))
            == [False] * times
        )

    for wait in (0.0, 1.0, key_check.TENANT_S):
        now[0] += wait
        run_apart(contained(3))
    assert len(asked) == 2


def test_a_stream_ends_when_its_key_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_check, "STREAM_S", 0.02)
    monkeypatch.setattr(keys, "RELOAD_S", 0.0)
    file = KeyFile(tmp_path / "keys.json")
    ring = KeyRing(file)

    class Open(ErasedTenants):
        async def contain(self, _: str) -> bool:
            return False

    async def told(kind: str, *, revoke: bool = False, ends: bool = False) -> list[Any]:
        key = file.create("a", Grant(tenant="acme"), days=None)[0]
        assert ring.is_valid(key)
        answered: list[Any] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            headers = [(b"content-type", kind.encode())]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await asyncio.sleep(0.3)
            await send({"type": "http.response.body", "body": b"end", "more_body": False})

        async def send(message: Any) -> None:
            answered.append(message.get("body"))

        check = KeyCheck(app, ring, Open(None))  # type: ignore[arg-type]
        scope = {"type": "http", "path": "/mcp", GRANT: key}
        answering = asyncio.ensure_future(check(scope, None, send))  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
        if revoke:
            file.revoke(key.id)
        if ends:
            file.rotate(key.id, until=datetime.now(UTC))
        await answering
        return answered

    assert run_apart(told("text/event-stream", revoke=True)) == [None, b""]
    assert run_apart(told("text/event-stream", ends=True)) == [None, b""]
    assert run_apart(told("text/event-stream")) == [None, b"end"]
    assert run_apart(told("application/json", revoke=True)) == [None, b"end"]


def sent(api: Api, key: str, verb: str, path: str, given: Any) -> Any:
    found = api.send(key, verb, f"/v1/keys{path}", given)
    assert found.status_code == 200, found.text
    return found.json()


def refused(api: Api, key: str | None, verb: str, path: str, given: Any) -> tuple[int, str]:
    found = api.send(key, verb, f"/v1/keys{path}", given)
    return found.status_code, found.json()["code"]
