"""Calls of the operations: the same results as from the client, and problems for bad input."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from graphmem import AsOf, Handle
from graphmem.rules.plain import plain
from graphmem.serve.keys import RIGHTS
from graphmem.serve.operations import OPERATIONS
from tests.plugins.clients import on_tenant
from tests.plugins.service import Api

ALL = " ".join(RIGHTS)


def test_the_daily_verbs(api: Api, client: Handle, tenant: str) -> None:
    call = api.of(api.key(tenant, "user:alice", rights=ALL))
    mem = on_tenant(client, tenant).scope("user:alice")

    stored = call("POST", "/memories", {"content": "Alice prefers tea.", "tags": ["drink"]})
    memory_id = stored["memory_id"]
    found = call("POST", "/recall", {"query": "Alice prefers tea.", "tags": ["drink"]})
    assert [bite["id"] for bite in found["bites"]] == [memory_id]
    assert "Alice prefers tea." in call("POST", "/context", {"about": "Alice prefers tea."})["text"]
    asked = [{"role": "user", "content": "Alice prefers tea."}]
    assert "tea" in call("POST", "/context", {"about": asked})["text"]
    many = {"memories": ["Bob rows.", {"content": "Bob sails.", "tags": ["sport"]}]}
    assert len(call("POST", "/memories/batch", many)) == 2
    assert call("GET", f"/items/{memory_id}/history") == plain(list(mem.history(memory_id)))
    newer = call("POST", f"/memories/{memory_id}/supersede", {"content": "Alice prefers coffee."})
    assert len(call("GET", f"/memories/{newer['newer_id']}/chain")["memories"]) == 2
    target = {"what": "memory", "item_id": newer["newer_id"]}
    assert call("POST", "/forget", target)["applied"] is False
    assert call("GET", f"/memories/{newer['newer_id']}")["id"] == newer["newer_id"]
    assert call("POST", "/forget", target | {"dry_run": False})["applied"] is True
    assert api.send(None, "GET", f"/v1/memories/{newer['newer_id']}").status_code == 401
    listed = api.send(api.key(tenant, "user:alice"), "GET", "/v1/memories")
    assert listed.headers["link-template"] == '"/item?id={id}"; rel="item"'


def test_sessions(api: Api, tenant: str) -> None:
    call = api.of(api.key(tenant, "user:alice"))
    messages = [{"role": "user", "content": "I moved to Lisbon.", "id": "1"}]
    turns = call("POST", "/sessions/s1/messages", {"messages": messages})
    again = call("POST", "/sessions/s1/messages", {"messages": messages})
    assert again["turn_ids"] == turns["turn_ids"]
    [episode] = call("GET", "/episodes", {"session_id": "s1"})["episodes"]
    assert (
        call("GET", f"/episodes/{episode['id']}/turns")["turns"][0]["text"] == "I moved to Lisbon."
    )


def test_beliefs(api: Api, client: Handle, tenant: str) -> None:
    call = api.of(api.key(tenant, "user:alice", rights=ALL))
    mem = on_tenant(client, tenant).scope("user:alice")
    fact = {
        "subject": "alice",
        "predicate": "works_on",
        "object": "Atlas",
        "at": "2025-05-01T00:00:00Z",
    }
    seen = call("POST", "/beliefs/observe", fact)
    slot = {"subject": "alice", "predicate": "works_on"}
    then = {"as_of": "2026-01-01T00:00:00Z", "known": datetime.now(UTC).isoformat()}
    moment = {"valid": then["as_of"], "known": then["known"]}
    own = mem.current("alice", "works_on", as_of=AsOf.model_validate(moment))
    assert call("GET", "/beliefs/current", slot | then) == plain(own)
    assert call("GET", "/beliefs/current", slot)["leader"]["object"] == "Atlas"
    early = call("GET", "/beliefs/current", slot | {"as_of": "2025-04"})
    assert early["candidates"] == []
    known = slot | {"as_of": "2026-01-01T00:00:00Z", "known": "2020-01-01T00:00:00Z"}
    assert call("GET", "/beliefs/current", known)["candidates"] == []
    assert len(call("POST", "/beliefs/observe/batch", {"observations": [fact]})) == 1
    belief_id = seen["belief_id"]
    reasons = mem.why(belief_id, as_of=AsOf.model_validate(moment))
    assert call("GET", f"/why/{belief_id}", then) == plain(reasons)
    assert call("GET", f"/items/{belief_id}")["item"]["id"] == belief_id

    thought = call("POST", "/beliefs", {"statement": "The pool is slow", "confidence": 0.6})
    path = f"/beliefs/{thought['belief_id']}"
    call("POST", f"{path}/evidence", {"kind": "refuting", "strength": 0.8})
    assert len(call("GET", f"{path}/evidence")["lines"]) == 1
    evidence = [{"kind": "refuting", "strength": 0.9}]
    assert len(call("POST", f"{path}/what-if", {"evidence": evidence})["lines"]) == 2
    call("POST", f"{path}/revise", {"statement": "The pool is fast"})
    call("POST", "/reject", {"target": belief_id, "reason": "wrong"})
    call("POST", "/unreject", {"target": belief_id, "reason": "right"})


def test_lists_have_cursors(api: Api, tenant: str) -> None:
    call = api.of(api.key(tenant))
    call("POST", "/memories/batch", {"memories": [f"Bob owns boat number {n}." for n in range(5)]})
    found, cursor = list[str](), None
    while True:
        page = call("GET", "/memories", {"limit": 2} | ({"cursor": cursor} if cursor else {}))
        found += [one["id"] for one in page["memories"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found)) == 5


def test_a_repeated_request_is_stored_once(api: Api, tenant: str) -> None:
    key = api.key(tenant)
    call = api.of(key)
    named = {"headers": {"Idempotency-Key": "é1".encode()}}
    body = {"subject": "alice", "predicate": "status", "object": "busy"}
    first = call("POST", "/beliefs/observe", body, **named)
    assert first["event_id"] == "é1"
    again = call("POST", "/beliefs/observe", body | {"event_id": "é1"}, **named)
    assert again["event_id"] == first["event_id"]
    assert len(call("GET", f"/beliefs/{first['belief_id']}/history")) == 1
    alias = call(
        "POST", "/aliases", {"name": "Ali", "other": "alice"}, headers={"Idempotency-Key": "a1"}
    )
    assert alias["event_id"] == "a1"
    for path, given, headers, status in (
        ("/memories/m_1a2b/restore", {}, {"Idempotency-Key": "x" * 300}, 422),
        ("/beliefs/observe", body | {"object": "idle"}, named["headers"], 409),
        ("/beliefs/observe", body | {"event_id": "x"}, named["headers"], 422),
        ("/recall", {"query": "x"}, named["headers"], 200),
        ("/memories/batch", {"memories": ["Bob rows."]}, named["headers"], 422),
    ):
        found = api.send(key, "POST", f"/v1{path}", given, headers=headers)
        assert found.status_code == status, found.text


BAD: tuple[tuple[str, str, Any, int, str], ...] = (
    ("POST", "/recall", {}, 422, "query"),
    ("POST", "/recall", {"query": 5}, 422, "query"),
    ("POST", "/recall", {"query": "x", "limit": "5"}, 422, "limit"),
    ("POST", "/recall", {"query": "x", "limit": True}, 422, "limit"),
    ("POST", "/recall", {"query": "x", "limit": 0}, 422, "limit"),
    ("POST", "/recall", {"query": "x", "min_score": 2}, 422, "min_score"),
    ("POST", "/recall", {"query": "x", "tenant": "other"}, 422, "tenant: no such parameter"),
    ("POST", "/recall", {"query": "x", "since": 5}, 422, "since"),
    ("POST", "/recall", {"query": "x", "since": "2025-01-01T00:00:00"}, 422, "since"),
    ("POST", "/recall", {"query": "x", "as_of": "someday"}, 422, "as_of"),
    ("POST", "/recall", {"query": "x", "scopes": ["user:bob"]}, 422, "read scope"),
    ("POST", "/recall", {"query": "\ud800"}, 422, ""),
    ("POST", "/recall", [], 422, "body"),
    ("POST", "/context", {"about": "x", "count_tokens": "len"}, 422, "no such parameter"),
    ("POST", "/memories", {"content": "Alice rows.", "episode_id": "nothing"}, 404, "episode"),
    ("POST", "/sessions/s/extract", {"dry_run": True}, 409, "not set up"),
    ("POST", "/memories", {"content": "<b>x", "claims": [["a", "b"]]}, 422, "claims.0"),
    ("POST", "/sessions/s/messages", {"messages": [{"role": "user"}]}, 422, "Message 0"),
    ("POST", "/beliefs", {"statement": "x y", "confidence": 1e999}, 422, "confidence"),
    ("GET", "/memories", {"limit": "many"}, 422, "limit"),
    ("GET", "/memories", {"cursor": "x"}, 422, "cursor"),
    ("GET", "/memories", {"limit": 10_000}, 422, "limit"),
    ("GET", "/operations", {"limit": 10_000}, 422, "limit"),
    ("POST", "/recall", {"query": "x", "limit": 10_000}, 422, "limit"),
    ("POST", "/sessions/a%2Fb/messages", {"messages": []}, 404, ""),
    ("GET", "/memories", {"colour": "red"}, 422, "colour: no such parameter"),
    ("GET", "/memories", {"since": "5"}, 422, "since"),
    ("GET", "/memories/nothing", None, 404, "nothing"),
    ("GET", "/memories/a%2Fb", None, 404, ""),
    ("GET", f"/memories/{'x' * 500}", None, 422, "memory_id"),
    ("GET", "/beliefs/current", {"subject": "alice"}, 422, "predicate"),
    ("GET", "/why/nothing", {"as_of": "2025-05", "known": "2025-05-01T00:00:00Z"}, 422, "as_of"),
    ("POST", "/forget", {"what": "scope", "item_id": "user:bob"}, 403, "scope"),
    ("GET", "/admin/stats", None, 403, "all scopes"),
)


@pytest.mark.parametrize(("verb", "path", "given", "status", "named"), BAD)
def test_bad_input_gets_a_problem(
    api: Api, tenant: str, verb: str, path: str, given: Any, status: int, named: str
) -> None:
    found = api.send(api.key(tenant, "user:alice", rights=ALL), verb, f"/v1{path}", given)
    assert found.status_code == status, found.text
    assert found.headers["content-type"] == "application/problem+json"
    assert named in found.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"messages": [' + b'{"a": ' * 50_000,
        b'{"query": NaN}',
        b'{"query": "x"} x',
        b"9" * 5_000,
    ],
)
def test_a_body_that_is_not_json_is_refused(api: Api, tenant: str, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {api.key(tenant)}", "Content-Type": "application/json"}
    found = api.http.post("/v1/recall", content=body, headers=headers)
    assert found.status_code in (400, 422), found.text
    assert found.headers["content-type"] == "application/problem+json"
    found = api.http.post("/v1/ingest", content=body, headers=headers)
    assert found.status_code in (400, 403, 422), found.text
    form = {"Authorization": headers["Authorization"], "Content-Type": "text/plain"}
    found = api.http.post("/v1/recall", content=b'{"query": "x"}', headers=form)
    assert found.status_code == 422


ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1e308,
        10**30,
        0.5,
        "",
        " ",
        "x",
        "\x00",
        "\ud800",
        "é" * 300,
        "x" * 5_000,
    ),
    *([], ["x"], [None], [["x"]], {}, {"a": 1}, "=1+1", "<script>", "memory", "m_1a2b", "2025-05"),
    *("2025-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00"),
    [{"role": "user", "content": "x y z"}],
    [{"subject": "a", "predicate": "b", "object": "c"}],
    [{"kind": "supporting", "strength": 0.7}],
)
IDS = ("x", "m_1a2b", "%00", "%ED%A0%80", "%2e%2e", "é")


def test_odd_values_are_no_fault_of_the_server(api: Api, tenant: str) -> None:
    key, by = api.key(tenant, "user:alice", "*", rights=ALL), Random(43)
    for one in [by.choice(OPERATIONS) for _ in range(600)]:
        path = re.sub(r"{\w+}", lambda _: by.choice(IDS), one.path)
        drawn = {p.name: by.choice(ODD) for p in one.parameters if p.required or by.random() < 0.2}
        if one.verb == "GET":
            drawn = {name: ascii(value).replace("\\", "") for name, value in drawn.items()}
        found = api.send(key, one.verb, f"/v1{path}", drawn)
        assert found.status_code < 500, (one.method, path, drawn)


def test_a_defect_is_answered_and_its_content_not_logged(
    api: Api, tenant: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("opensesame")

    monkeypatch.setattr("graphmem.serve.app.handle_of", fail)
    found = api.send(api.key(tenant), "POST", "/v1/recall", {"query": "x"})
    assert (found.status_code, found.json()["code"]) == (500, "internal")
    assert "opensesame" not in found.text + caplog.text
    assert "RuntimeError on /recall at" in caplog.text
