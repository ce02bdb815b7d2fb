"""Data and calls of other programs: reports of users of other memories, as tests of graphmem."""

from __future__ import annotations

import asyncio
import json
import pwd
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from graphmem import GraphMem, Handle
from graphmem.cli.conversation_files import read_conversations
from graphmem.errors import ConfigurationError
from graphmem.mcp.frames import refusal
from graphmem.mcp.http_server import TokenMiddleware, configured_tokens, with_cors
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.acceptance.surfaces import OverMcp
from tests.plugins.children import environ_of

MARCH = datetime(2026, 3, 2, 9, tzinfo=UTC)
GLOBAL = "global"
TOKEN = "a-token-with-enough-characters"


@pytest.fixture
def mcp(plain: Handle, migrated: Settings, tenant: str) -> OverMcp:
    """The MCP server of the tenant."""
    known = Settings.load(environ_of(migrated, tenant) | {"GRAPHMEM_EMBEDDER": "hash"})
    return OverMcp(known, tenant, plain)


@pytest.mark.parametrize("key", ["timestamp", "createdAt", "date", "ts", "create_time", "sent_at"])
def test_a_message_is_dated_by_the_key_of_its_program(tmp_path: Path, key: str) -> None:
    """agentscope-ai/ReMe#310: times under another key were dropped, and all became today's."""
    file = tmp_path / "talk.jsonl"
    line = {"role": "user", "content": "I moved.", key: MARCH.isoformat(), "mood": "glad"}
    file.write_text(json.dumps(line) + "\n")
    found = read_conversations(file)
    assert [one.at for one in found.conversations[0].messages] == [MARCH]
    assert found.unread == {"mood": 1}


def dump(*edges: tuple[str, str, str | None]) -> dict[str, Any]:
    """Return a dump of two people named Alex: (person, company, end) of each job."""
    people = [{"uuid": one, "name": "Alex", "created_at": MARCH.isoformat()} for one in "ab"]
    companies = [{"uuid": name, "name": name} for _, name, _ in edges]
    jobs = [
        {
            "uuid": f"e{n}",
            "name": "WORKS_AT",
            "fact": f"Alex works at {name}.",
            "source_node_uuid": person,
            "target_node_uuid": name,
            "valid_at": MARCH.isoformat(),
            "invalid_at": end,
        }
        for n, (person, name, end) in enumerate(edges)
    ]
    return {"nodes": [*people, *companies], "edges": jobs}


def test_two_people_of_one_name_stay_two(plain: Handle) -> None:
    """neo4j-labs/llm-graph-builder#1133: two people of one name were merged without a word."""
    done = plain.admin.import_foreign(dump(("a", "Acme", None), ("b", "Globex", None)))
    [other] = done.renamed.values()
    for name, company in (("Alex", "Acme"), (other, "Globex")):
        leader = plain.current(name, "works_at").leader
        assert leader is not None
        assert leader.object == company


def test_what_an_import_states_to_hold_is_held(plain: Handle) -> None:
    """getzep/graphiti#191: a second job of the source ended the first one here."""
    ended = (MARCH + timedelta(days=9)).isoformat()
    plain.admin.import_foreign(dump(("a", "Acme", None), ("a", "Globex", None), ("a", "Ex", ended)))
    slot = plain.current("Alex", "works_at")
    held = {one.object for one in slot.candidates if one.belief > 0.1}
    assert held == {"Acme", "Globex"}


@pytest.mark.parametrize("hours", [-8, 9])
def test_yesterday_is_the_day_before_the_senders(plain: Handle, hours: int) -> None:
    """mem0ai/mem0#4963, mem0ai/mem0#5949: relative dates were those of the server's calendar."""
    zone = timezone(timedelta(hours=hours))
    at = datetime(2026, 5, 5, 0 if hours > 0 else 23, 30, tzinfo=zone)
    with plain.session("s") as session:
        message = {"role": "user", "name": "Ann", "content": "I moved to Porto yesterday."}
        session.add_messages([message | {"at": at}])
        session.extract(extractor="rules")
    start = datetime(2026, 5, 4, tzinfo=zone)
    early = plain.current("Ann", "lives_in", as_of=start - timedelta(minutes=1))
    assert early.leader is None
    assert plain.current("Ann", "lives_in", as_of=start).leader is not None


@pytest.mark.parametrize("nothing", [None, "", "null"])
def test_an_empty_argument_is_left_out(mcp: OverMcp, nothing: str | None) -> None:
    """ZenRows/zenrows-mcp#23: clients that send each argument had every call refused."""
    empty: dict[str, Any] = dict.fromkeys(("tags", "as_of", "limit", "since"), nothing)
    mcp.call(GLOBAL, "remember", content="Ann keeps bees.", tags=nothing)
    _, found = mcp.call(GLOBAL, "recall", query="bees", **empty)
    assert len(found["bites"]) == 1


def test_a_list_as_text_is_a_list(mcp: OverMcp, plain: Handle) -> None:
    """github/copilot-cli#4301: a list that a client sent as JSON text became one tag."""
    mcp.call(GLOBAL, "remember", content="Ann keeps bees.", tags='["home", "bees"]')
    assert plain.memories.list().memories[0].tags == ("bees", "home")


def test_an_argument_that_a_client_adds_is_ignored_and_named(mcp: OverMcp) -> None:
    """n8n-io/n8n#21716: an id that the client adds to each call had all of them refused."""
    _, found = mcp.call(GLOBAL, "remember", content="Ann keeps bees.", toolCallId="call_1")
    assert found["ignored_arguments"] == ["toolCallId"]
    assert found["memory_id"]


def test_half_a_character_in_a_call_is_answered() -> None:
    """anthropics/claude-code#69440: half an emoji in a call had no answer, ever."""
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\ud83d"}}
    found = refusal(json.dumps(call).encode())
    assert found is not None
    assert (found.id, "surrogate" in found.error.message) == (7, True)


@pytest.mark.parametrize("allowed", [("https://app.example",), ()])
def test_a_page_of_an_allowed_origin_may_call(allowed: tuple[str, ...]) -> None:
    """netdata/netdata#22258: a browser's question before a call was refused, so no page could call.

    It carries no token, and without the headers of an answer a page may not read it.
    """

    async def server(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    known = Settings.load({}, mcp_token=TOKEN)
    table = configured_tokens(known, read_only=False)
    app = with_cors(TokenMiddleware(server, table), allowed)

    async def statuses() -> list[tuple[int, str | None]]:
        asked = {"Access-Control-Request-Method": "POST"}
        token = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url="http://localhost"
        ) as http:
            found = [
                await http.request(method, "/mcp", headers=headers | {"Origin": origin})
                for origin in ("https://app.example", "https://evil.example")
                for method, headers in (("OPTIONS", asked), ("POST", token))
            ]
        name = "access-control-allow-origin"
        return [(one.status_code, one.headers.get(name)) for one in found]

    page = "https://app.example"
    expected = [(200, page), (200, page), (400, None), (200, None)]
    refused: list[tuple[int, str | None]] = [(401, None), (200, None)] * 2
    assert asyncio.run(statuses()) == (expected if allowed else refused)


def test_an_unknown_user_without_a_home_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch, migrated: Settings
) -> None:
    """Vexa-ai/vexa#1102: containers run as a user whom the system does not know."""

    def unknown(*_: object) -> None:
        raise KeyError("uid not found")

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(ConfigurationError, match="HOME is not set"):
        GraphMem.open(settings=Settings.load({}))
    nowhere = migrated.model_copy(update={"home": None, "cache": None})
    with GraphMem.open(settings=nowhere, embedder=HashEmbedder()) as own:
        assert own.health().dimension > 0
