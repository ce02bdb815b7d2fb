"""Long calls as operations: their states, their ends, and the keys that show them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import neo4j
import pytest

from graphmem import Handle
from graphmem.errors import GraphUnavailableError, LeaseLostError, ModelUnavailableError
from graphmem.jobs import operations
from graphmem.jobs.operations import Asked, Granted
from graphmem.ports import run_now
from graphmem.serve import long_calls
from graphmem.serve.keys import RIGHTS
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look
from tests.plugins.service import Api

ALL = " ".join(RIGHTS)
ALICE = {"headers": {"Graphmem-Scope": "user:alice"}}


def ended(api: Api, key: str, started: Any, seconds: float = 60) -> dict[str, Any]:
    """Return the state of an operation after its end."""
    for _ in range(int(seconds * 10)):
        found = api.send(key, "GET", f"/v1/operations/{started['id']}").json()
        if found["state"] not in ("waiting", "running", "cancelling"):
            return dict(found)
        time.sleep(0.1)
    raise AssertionError(found)


def test_a_long_call_is_an_operation(api: Api, client: Handle, tenant: str, look: Look) -> None:
    key = api.key(tenant, "user:alice", rights=ALL)
    messages = [
        {"role": "user", "content": "I moved to Lisbon.", "session": name} for name in "abc"
    ]
    answer = api.send(key, "POST", "/v1/ingest", {"messages": messages})
    assert answer.status_code == 202, answer.text
    started = answer.json()
    assert answer.headers["location"] == f"/v1/operations/{started['id']}"
    assert (started["method"], started["scope"]) == ("ingest", "user:alice")
    found = ended(api, key, started)
    assert found["state"] == "succeeded"
    assert found["progress"] == {"message": 3}
    assert found["result"] == {"messages": 3, "turns_added": 3, "skipped": 0, "notes": 0}
    assert found["asked_at"] <= found["started_at"] <= found["finished_at"]
    episodes = api.of(key)("GET", "/episodes")["episodes"]
    assert len(episodes) == 3
    # No text is kept.
    [row] = look.rows(
        "MATCH (n:JobUnit {tenant: $tenant, id: $id}) RETURN properties(n) AS has",
        tenant=tenant,
        id=started["id"],
    )
    assert "Lisbon" not in str(row)
    with api.http.stream(
        "GET",
        f"/v1/operations/{started['id']}/events",
        headers={"Authorization": f"Bearer {key}"},
    ) as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in events.iter_lines() if line]
    assert json.loads(lines[-1].removeprefix("data: "))["state"] == "succeeded"


def test_a_plan_is_answered_at_once(api: Api, tenant: str) -> None:
    key = api.key(tenant, "user:alice", rights=ALL)
    call = api.of(key)
    assert call("POST", "/consolidate", {"dry_run": True})["changes"] == []
    # A call that plans by default does so here too.
    assert call("POST", "/usage/prune", {})["items"] == []
    assert call("POST", "/usage/prune")["items"] == []
    started = api.send(key, "POST", "/v1/usage/prune", {"dry_run": False})
    assert started.status_code == 202
    assert ended(api, key, started.json())["state"] == "succeeded"


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/sessions/s1/extract", {"extractor": "rules"}),
        ("/consolidate", {"extractive": True}),
        ("/episodes/compress", {}),
        ("/episodes/summarise", {"by_rules": True}),
        ("/usage/rate", {}),
        ("/usage/roll-up", {"dry_run": False}),
        ("/admin/jobs", {"jobs": ["rate", "seal"]}),
        ("/admin/backfill", {}),
        ("/admin/import", {"data": {"results": [{"id": "1", "memory": "Alice rows."}]}}),
        ("/admin/rebuild", {}),
        ("/admin/seal", {}),
        ("/admin/verify", {}),
    ],
)
def test_each_long_call_ends(api: Api, tenant: str, path: str, given: Any) -> None:
    key = api.key(tenant, "user:alice", "*", rights=ALL)
    messages = [{"role": "user", "content": "I moved to Lisbon.", "id": "1"}]
    api.of(key)("POST", "/sessions/s1/messages", {"messages": messages}, **ALICE)
    answer = api.send(key, "POST", f"/v1{path}", given, **ALICE)
    assert answer.status_code == 202, answer.text
    found = ended(api, key, answer.json())
    assert found["state"] == "succeeded", found
    assert found["result"], found


def test_an_operation_that_fails_names_the_code(api: Api, tenant: str) -> None:
    key = api.key(tenant, "user:alice", rights=ALL)
    for path, given, code in (
        ("/sessions/nowhere/extract", {"extractor": "rules"}, "not_found"),
        ("/sessions/nowhere/extract", None, "configuration"),
        ("/usage/prune/nothing/restore", {}, "not_found"),
    ):
        found = ended(api, key, api.send(key, "POST", f"/v1{path}", given).json())
        assert (found["state"], found["error"]) == ("failed", code), found
        assert "result" not in found or found["result"] is None
    # The parameters are checked at once.
    assert api.send(key, "POST", "/v1/consolidate", {"colour": "red"}).status_code == 422


def test_a_repeated_request_is_one_operation(api: Api, tenant: str) -> None:
    key = api.key(tenant, "user:alice", rights=ALL)
    named = {"headers": {"Idempotency-Key": "1"}}
    sent = [api.send(key, "POST", "/v1/consolidate", {}, **named).json()["id"] for _ in range(2)]
    assert sent[0] == sent[1]
    other = api.send(key, "POST", "/v1/consolidate", {"extractive": True}, **named)
    assert (other.status_code, other.json()["code"]) == (409, "event_conflict")


def test_a_foreign_operation_is_unknown(api: Api, client: Handle, tenant: str) -> None:
    key = api.key(tenant, "user:alice", "user:x*", rights=ALL)
    whole = api.key(tenant, "*", rights=ALL)
    own = api.send(key, "POST", "/v1/consolidate", {}).json()["id"]
    prefixed = {"headers": {"Graphmem-Scope": "user:xavier"}}
    prefix = api.send(key, "POST", "/v1/consolidate", {}, **prefixed).json()["id"]
    tenants = api.send(whole, "POST", "/v1/admin/seal", {}, **ALICE).json()["id"]
    others = (
        api.key(f"{tenant}x", "user:alice", "*", rights=ALL),
        api.key(tenant, "user:bob", rights=ALL),
        api.key(tenant, "user:alice", "user:x*", rights="read"),
    )
    for other in others:
        for one in (own, prefix, tenants):
            for verb, path in (("GET", ""), ("DELETE", ""), ("GET", "/events")):
                found = api.send(other, verb, f"/v1/operations/{one}{path}")
                assert (found.status_code, found.json()["code"]) == (404, "not_found")
        assert api.send(other, "GET", "/v1/operations").json()["operations"] == []
    assert api.send(key, "GET", f"/v1/operations/{tenants}").status_code == 404
    assert api.send(key, "GET", "/v1/operations/m_1a2b").status_code == 404

    def listed(one: str) -> set[str]:
        found, cursor = set[str](), None
        while True:
            given = {"limit": 1} | ({} if cursor is None else {"cursor": cursor})
            page = api.send(one, "GET", "/v1/operations", given).json()
            found |= {operation["id"] for operation in page["operations"]}
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    assert listed(key) == {own, prefix}
    assert listed(whole) == {own, prefix, tenants}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException | None], None]:
    """Let the next long call wait for its end, or raise an error once."""

    def arrange(error: BaseException | None) -> None:
        real = long_calls.performed

        async def performed(memory: Any, handle: Any, lease: Any, progress: Any) -> Any:
            monkeypatch.setattr(long_calls, "performed", real)
            progress["passage"] += 7
            if error is not None:
                raise error
            await asyncio.sleep(60)

        monkeypatch.setattr(long_calls, "performed", performed)

    monkeypatch.setattr(long_calls, "BEAT_S", 0.1)
    return arrange


def test_an_operation_is_cancelled(
    api: Api, tenant: str, slow: Callable[[BaseException | None], None]
) -> None:
    key = api.key(tenant, "user:alice", rights=ALL)
    slow(None)
    started = api.send(key, "POST", "/v1/consolidate", {}).json()
    for _ in range(100):
        found = api.send(key, "GET", f"/v1/operations/{started['id']}").json()
        if found["progress"]:
            break
        time.sleep(0.1)
    assert (found["state"], found["progress"]) == ("running", {"passage": 7})
    assert api.send(key, "DELETE", f"/v1/operations/{started['id']}").json()["state"] in (
        "cancelling",
        "cancelled",
    )
    assert ended(api, key, started)["state"] == "cancelled"
    # Its end is final, and one that has ended is not cancelled.
    assert api.send(key, "DELETE", f"/v1/operations/{started['id']}").json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("error", "state", "code"),
    [
        (GraphUnavailableError("down"), "succeeded", None),
        (ModelUnavailableError("down"), "succeeded", None),
        (RuntimeError("I moved to Lisbon."), "failed", "internal"),
    ],
)
def test_an_outage_is_waited_for(
    api: Api,
    tenant: str,
    slow: Callable[[BaseException | None], None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    state: str,
    code: str | None,
) -> None:
    monkeypatch.setattr("graphmem.jobs.schedule.retry_after", lambda _: 1.0)
    key = api.key(tenant, "user:alice", rights=ALL)
    slow(error)
    found = ended(api, key, api.send(key, "POST", "/v1/consolidate", {}).json())
    assert (found["state"], found["error"]) == (state, code)
    assert "Lisbon" not in caplog.text


def test_a_lease_belongs_to_one_process(client: Handle, tenant: str, driver: neo4j.Driver) -> None:
    context = on_tenant(client, tenant).scope("user:alice")._state.context
    asked = Asked(id="op_1", method="consolidate", arguments='{"given": {}, "path": {}}')
    run_now(operations.ask(context, asked))
    assert run_now(operations.due(context.services, [tenant, "other"])) == [tenant]
    lease = run_now(operations.claim(context, "one"))
    assert lease is not None
    assert run_now(operations.claim(context, "two")) is None
    assert run_now(operations.due(context.services, [tenant])) == []
    other = None
    for n, time_away in enumerate(("-PT1M", "P9D"), 1):  # it ran out; the clock was set back
        driver.execute_query(
            "MATCH (n:JobUnit {tenant: $tenant, id: 'op_1'}) "
            "SET n.due_at = n.due_at + duration($away)",
            tenant=tenant,
            away=time_away,
        )
        assert run_now(operations.due(context.services, [tenant])) == [tenant]
        other = run_now(operations.claim(context, "two"))
        assert other is not None
        assert (other.id, other.resumed) == ("op_1", n)
    assert other is not None
    with pytest.raises(LeaseLostError):
        run_now(operations.keep(context, lease, {}))
    run_now(operations.finish(context, lease, {}, operations.OK, {}))
    granted = Granted(["user:alice"], [])
    assert run_now(operations.page(context, granted)).operations[0].state == "running"
    run_now(operations.cancel(context, "op_1"))
    assert run_now(operations.keep(context, other, {}))
    run_now(operations.finish(context, other, {}, operations.CANCELLED, None))
    assert run_now(operations.page(context, granted)).operations[0].state == "cancelled"
    # One that no process runs ends at once.
    run_now(operations.ask(context, asked.model_copy(update={"id": "op_2"})))
    run_now(operations.cancel(context, "op_2"))
    assert run_now(operations.claim(context, "one")) is None
    driver.execute_query(
        "MATCH (n:JobUnit {tenant: $tenant}) SET n.finished_at = n.finished_at - "
        "duration({days: 8})",
        tenant=tenant,
    )
    run_now(operations.ask(context, asked.model_copy(update={"id": "op_3"})))
    assert [one.id for one in run_now(operations.page(context, granted)).operations] == ["op_3"]


def test_calls_that_end_their_process_are_given_up(
    api: Api, client: Handle, tenant: str, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_calls, "MAX_ATTEMPTS", 0)
    key = api.key(tenant, "user:alice", rights=ALL)
    found = ended(api, key, api.send(key, "POST", "/v1/consolidate", {}).json())
    assert (found["state"], found["error"]) == ("failed", "gave_up")
