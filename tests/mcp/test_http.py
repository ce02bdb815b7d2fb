"""Access over HTTP: tokens, tenants, hosts, origins."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from graphmem.errors import ConfigurationError
from graphmem.mcp import http_server
from graphmem.mcp.connection import Caller
from graphmem.mcp.listening import is_loopback
from graphmem.settings import Settings
from tests.mcp.conftest import INITIALIZE, Command, Environ, Served, data, over_http, refused
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.loops import run_apart as run

WORDS = "Alice deploys from Atlas."
ALICE, BOB, READER = "alice-token-0123456789", "bob-token-0123456789", "reader-token-0123456789"
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def written(file: Path, entries: Any) -> Path:
    """Write a token file that only its owner can read."""
    file.write_text(json.dumps(entries))
    file.chmod(0o600)
    return file


@asynccontextmanager
async def served(
    environ: Environ, tmp_path: Path, tenant: str, readers: str | None = None
) -> AsyncIterator[Served]:
    """Serve two tenants with a scope of the same name, and a third read-only."""
    entries = [
        {"token": ALICE, "tenant": tenant, "scope": "user:alice"},
        {"token": BOB, "tenant": fresh_tenant(), "scope": "user:alice"},
        {"token": READER, "tenant": readers or fresh_tenant(), "read_only": True},
    ]
    file = written(tmp_path / "tokens.json", entries)
    async with over_http(environ, "--tokens", str(file), errors=tmp_path / "errors.txt") as found:
        yield found


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_no_tool_crosses_a_tenant(
    environ: Environ, tmp_path: Path, look: Look, tenant: str, mode: str
) -> None:
    readers = fresh_tenant()

    async def session() -> None:
        async with (
            served(environ, tmp_path, tenant, readers) as server,
            server.client(ALICE, mode=mode) as alice,
            server.client(BOB, mode=mode) as bob,
            server.client(READER, mode=mode) as reader,
        ):
            kept = await data(alice, "remember", content=WORDS, session_id="s")
            seen = await data(
                alice,
                "observe",
                subject="alice",
                predicate="phase",
                object="Atlas",
                session_id="s",
            )
            memory_id, belief_id = kept["memory_id"], seen["belief_id"]
            message = {"role": "user", "content": "I deploy from Atlas."}
            turns = await data(alice, "add_messages", session_id="s", messages=[message])
            assert (await data(alice, "recall", query="Atlas"))["bites"]

            for client in (bob, reader):
                for name, key in (("recall", "query"), ("context", "about")):
                    found = await data(client, name, session_id="s", **{key: "Atlas"})
                    assert [found.get("bites"), found.get("text")] in ([[], None], [None, ""])
                found = await data(client, "current", subject="alice", predicate="phase")
                assert found["candidates"] == []
                for one in (kept["memory_id"], seen["belief_id"], turns["turn_ids"][0], "ep_x"):
                    await _the_same(client, "expand", "item_id", one)
                for name, key, one in (
                    ("memory_history", "memory_id", kept["memory_id"]),
                    ("why", "item_id", seen["belief_id"]),
                    ("why", "item_id", kept["memory_id"]),
                    ("evidence_for", "belief_id", seen["belief_id"]),
                ):
                    await _the_same(client, name, key, one)
            for name, key, one, more in (
                ("memory_deprecate", "memory_id", memory_id, {}),
                ("add_evidence", "belief_id", belief_id, {"kind": "refuting", "strength": 0.9}),
                ("belief_revise", "belief_id", belief_id, {"statement": "Something else"}),
                ("belief_split", "belief_id", belief_id, {"statements": ["One", "Another"]}),
            ):
                await _the_same(bob, name, key, one, **more)
            fact = {"subject": "a", "predicate": "status", "object": "c"}
            await _the_same(bob, "observe", "turn_id", turns["turn_ids"][0], **fact)
            # The same words and the same session are another memory there.
            theirs = await data(bob, "remember", content=WORDS, session_id="s")
            assert theirs["outcome"] == "INSERTED_NEW"
            assert (await data(alice, "memory_history", memory_id=kept["memory_id"]))["events"]
            assert "remember" not in {tool.name for tool in (await reader.list_tools()).tools}

    run(session())
    assert look.events(readers) == {}


async def _the_same(client: Any, name: str, key: str, one: str, **more: Any) -> None:
    """Check that an id of another tenant gets the same error as an unknown id."""
    theirs = await refused(client, name, **{key: one, **more})
    unknown = await refused(client, name, **{key: one[:-6] + "000000", **more})
    assert theirs["code"] == unknown["code"] == "not_found"
    assert theirs["hint"] == unknown["hint"]
    assert theirs["message"].replace(one, "") == unknown["message"].replace(one[:-6] + "000000", "")


def test_a_request_without_a_valid_token_is_refused(
    environ: Environ, tmp_path: Path, tenant: str
) -> None:
    async def session() -> None:
        async with served(environ, tmp_path, tenant) as server, httpx2.AsyncClient() as http:

            async def status(token: str | None, **headers: str) -> int:
                bearer = {} if token is None else {"Authorization": token}
                found = await http.post(
                    server.url, json=INITIALIZE, headers=ACCEPT | bearer | headers
                )
                assert tenant not in found.text
                return found.status_code

            right = f"Bearer {ALICE}"
            for wrong in (None, "", "Bearer", "Bearer x", f"Basic {ALICE}", ALICE):
                assert await status(wrong) == 401, wrong
            for wrong in (f"Bearer {ALICE}x", f"Bearer {ALICE[:-1]}", f"Bearer {ALICE.upper()}"):
                assert await status(wrong) == 401, wrong
            assert await status(right) == 200
            assert await status(f"bearer {ALICE}") == 200
            assert await status(right, Origin="https://evil.example") == 403
            assert await status(right, Origin="null") == 403
            assert await status(right, Host="evil.example") == 421
            assert await status(right, Host="evil.example:8765") == 421
            port = server.url.rpartition(":")[2].partition("/")[0]
            assert await status(right, Origin=f"http://localhost:{port}") == 200
            assert (await http.get(server.url.removesuffix("/mcp"))).status_code in (401, 404)

            began = await http.post(
                server.url, json=INITIALIZE, headers=ACCEPT | {"Authorization": right}
            )
            stolen = {"Mcp-Session-Id": began.headers["mcp-session-id"]}
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            for token, wanted in ((BOB, 404), (ALICE, 200)):
                found = await http.post(
                    server.url,
                    json=listing,
                    headers=ACCEPT | stolen | {"Authorization": f"Bearer {token}"},
                )
                assert found.status_code == wanted
        logged = (tmp_path / "errors.txt").read_text()
        for secret in (ALICE, BOB, READER, environ["GRAPHMEM_PASSWORD"]):
            assert secret not in logged

    run(session())


def test_a_token_is_generated_and_stored_for_this_user(environ: Environ, tmp_path: Path) -> None:
    async def session() -> None:
        named = environ | {"GRAPHMEM_HOME": str(tmp_path / "home")}
        errors = tmp_path / "errors.txt"
        async with over_http(named, errors=errors) as server:
            file = tmp_path / "home" / "mcp-token"
            token = file.read_text().strip()
            assert file.stat().st_mode & 0o077 == 0
            assert str(file) in errors.read_text()
            assert token not in errors.read_text()
            async with server.client(token) as client:
                assert (await client.list_tools()).tools
        async with over_http(named, errors=errors):
            assert file.read_text().strip() == token

    run(session())


def test_listening_beyond_loopback_needs_a_token(graphmem: Command) -> None:
    refusal = graphmem("mcp", "--http", "--host", "0.0.0.0")  # noqa: S104 - it is refused
    assert (refusal.code, refusal.out) == (2, "")
    assert "no token" in refusal.err


def test_loopback_addresses() -> None:
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"))
    others = ("0.0.0.0", "::", "10.0.0.1", "192.0.2.1", "memory.example")  # noqa: S104
    assert not any(is_loopback(host) for host in others)


def test_a_port_in_use_is_reported(graphmem: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refusal = graphmem("mcp", "--http", "--port", port)
    assert (refusal.code, "configuration" in refusal.err, port in refusal.err) == (2, True, True)


def of(file: Path, **more: Any) -> http_server.TokenTable:
    return http_server.configured_tokens(
        Settings.load({}, mcp_tokens=file, **more), read_only=False
    )


def test_tokens_have_the_callers_of_their_file(tmp_path: Path) -> None:
    entries = [
        {"token": ALICE, "tenant": "acme", "scope": "user:alice"},
        {"token": BOB, "tenant": "other", "read_only": True},
    ]
    found = of(written(tmp_path / "tokens.json", entries), mcp_token=READER, tenant="own")
    assert found.caller(ALICE.encode()) == Caller("acme", "user:alice")
    assert found.caller(BOB.encode()) == Caller("other", "global", read_only=True)
    assert found.caller(READER.encode()) == Caller("own", "global")
    assert found.caller(b"") is found.caller(ALICE.encode() + b"\xff") is None
    assert len(found) == 3
    assert not any(token in repr(vars(found)) for token in (ALICE, BOB, READER))


@pytest.mark.parametrize(
    "entries",
    [
        [{"token": "short", "tenant": "acme"}],
        [{"token": ALICE}],
        [{"token": ALICE, "tenant": ""}],
        [{"token": ALICE, "tenant": "acme", "scopes": ["all"]}],
        [{"token": ALICE, "tenant": "a"}, {"token": ALICE, "tenant": "b"}],
        {"token": ALICE, "tenant": "acme"},
        "text",
    ],
)
def test_an_invalid_token_file_is_refused(tmp_path: Path, entries: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        of(written(tmp_path / "tokens.json", entries))
    assert ALICE not in str(caught.value)
    assert "short" not in caught.value.message


def test_a_token_file_must_be_private_json(tmp_path: Path) -> None:
    file = written(tmp_path / "tokens.json", [{"token": ALICE, "tenant": "acme"}])
    assert len(of(file)) == 1
    if os.name == "posix":
        file.chmod(0o640)
        with pytest.raises(ConfigurationError, match="Others may read"):
            of(file)
        file.chmod(0o600)
    file.write_text("{")
    with pytest.raises(ConfigurationError, match="must be valid JSON"):
        of(file)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        of(tmp_path / "nothing.json")
    with pytest.raises(ConfigurationError, match="at least 16 characters"):
        http_server.configured_tokens(Settings.load({}, mcp_token="short"), read_only=False)


@pytest.mark.skipif(os.name != "posix", reason="owners and links are not available")
def test_a_token_file_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "tokens.json", [{"token": ALICE, "tenant": "acme"}])
    link = tmp_path / "link.json"
    link.symlink_to(file)  # as a container's secrets are
    assert len(of(link)) == 1
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(ConfigurationError, match="not a regular file"):
        of(pipe)
    if file.stat().st_uid:
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
    else:  # the tests run as root, whose files are allowed
        os.chown(file, 4242, 4242)
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        of(file)


@pytest.mark.skipif(os.name != "posix", reason="owners and links are not available")
def test_the_own_token_is_not_read_through_a_link_or_from_others(tmp_path: Path) -> None:
    known = Settings.load({}, home=tmp_path / "home")
    file = http_server.user_token(known, read_only=False)[1]
    text = file.read_text()
    assert http_server.user_token(known, read_only=False)[0].caller(text.strip().encode())
    file.chmod(0o640)
    with pytest.raises(ConfigurationError, match="others can open it"):
        http_server.user_token(known, read_only=False)
    file.rename(tmp_path / "victim")
    (tmp_path / "victim").chmod(0o600)
    file.symlink_to(tmp_path / "victim")
    with pytest.raises(ConfigurationError, match="it is a link"):
        http_server.user_token(known, read_only=False)


def test_a_signal_stops_the_server(environ: Environ, tmp_path: Path, tenant: str) -> None:
    async def session() -> None:
        async with served(environ, tmp_path, tenant) as server, server.client(ALICE) as client:
            await data(client, "remember", content=WORDS, session_id="s")
            server.process.terminate()
            assert await asyncio.wait_for(server.process.wait(), 300) in (0, -15, 143)

    run(session())
