"""Requests that reach no route, and a server without a database."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import neo4j
import pytest

from graphmem.errors import ConfigurationError, GraphQueryError
from graphmem.serve import guard
from graphmem.serve.admission import Places, busy
from graphmem.serve.app import READY_AGAIN_S, Service
from graphmem.serve.guard import RateLimit
from graphmem.serve.keys import RIGHTS
from graphmem.serve.listening import ListenAddress
from graphmem.serve.problems import Problem
from graphmem.serve.server import JsonLines, Options, checked
from graphmem.settings import Settings
from tests.plugins.cluster import cluster_of
from tests.plugins.cutting import wire_to
from tests.plugins.service import PORT, Api, served, settings_of

RECALL = {"query": "Atlas"}


def code_of(api: Api, key: str | None, verb: str = "POST", path: str = "/v1/recall", **more):  # type: ignore[no-untyped-def]
    """Return status and code of a request that is refused."""
    given = more.pop("given", RECALL if verb == "POST" else None)
    found = api.send(key, verb, path, given, **more)
    assert found.headers["content-type"] == "application/problem+json", found.text
    body = found.json()
    assert body["status"] == found.status_code
    assert body["type"] == f"urn:graphmem:error:{body['code']}"
    assert body["title"]
    assert body["detail"]
    return found.status_code, body["code"]


def test_health_needs_no_database(alone: Settings) -> None:
    with served(alone) as api:
        started = time.monotonic()
        assert api.send(None, "GET", "/health/live", headers={"Host": "10.0.0.7"}).json() == {
            "status": "live"
        }
        assert api.send(None, "GET", "/version").json().keys() == {"version"}
        assert api.send(None, "GET", "/openapi.json").json()["openapi"].startswith("3.1")
        assert time.monotonic() - started < 60
        found = api.send(None, "GET", "/health/ready")
        assert found.status_code == 503
        assert found.headers["retry-after"].isdigit()
        key = api.key("acme")
        found = api.send(key, "POST", "/v1/recall", RECALL)
        assert found.status_code == 503
        assert found.headers["retry-after"].isdigit()
        assert found.json()["code"] in {"graph_unavailable", "still_starting"}


def test_the_database_dies_and_returns(migrated: Settings, tenant: str, tmp_path: Path) -> None:
    server = urlsplit(str(migrated.uri))
    place = str(server.hostname), server.port or 7687
    with ExitStack() as line:
        wire = line.enter_context(wire_to(*place))
        own = migrated.model_copy(update={"uri": f"bolt://127.0.0.1:{wire.port}"})
        given = {"GRAPHMEM_MAX_RETRY_TIME_S": "0", "GRAPHMEM_CONNECT_TIMEOUT_S": "2"}
        with served(settings_of(own, tmp_path / "keys.json", **given)) as api:
            key = api.key(tenant)
            assert api.send(key, "POST", "/v1/recall", RECALL).status_code == 200
            line.close()
            for path in ("/v1/recall", "/v1/consolidate"):
                given_body = RECALL if path == "/v1/recall" else {}
                found = api.send(key, "POST", path, given_body)
                assert (found.status_code, found.json()["code"]) == (503, "graph_unavailable")
                assert found.headers["retry-after"].isdigit()
            assert api.send(None, "GET", "/health/live").status_code == 200
            time.sleep(READY_AGAIN_S)  # the answer to the first recall
            assert api.send(None, "GET", "/health/ready").status_code == 503
            line.enter_context(wire_to(*place, at=wire.port))
            for _ in range(100):
                if api.send(None, "GET", "/health/ready").status_code == 200:
                    break
                time.sleep(0.1)
            assert api.send(key, "POST", "/v1/recall", RECALL).status_code == 200


def test_a_server_that_answers_is_ready(
    api: Api, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(_: Service) -> Problem:
        return busy()

    monkeypatch.setattr(Service, "_checked", late)
    time.sleep(READY_AGAIN_S)
    assert api.send(None, "GET", "/health/ready").status_code == 503
    assert api.send(api.key(tenant), "POST", "/v1/recall", RECALL).status_code == 200
    assert api.send(None, "GET", "/health/ready").status_code == 200
    time.sleep(READY_AGAIN_S)
    assert api.send(None, "GET", "/health/ready").status_code == 503


def test_nothing_is_open_without_a_valid_key(
    api: Api, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RateLimit, "take", lambda *_: None)
    right = api.key(tenant)
    start, key_id, secret = right.split("_", 2)
    other_id = api.key(tenant).split("_", 2)[1]
    wrong = (
        None,
        "",
        "x",
        secret,
        f"{start}_{key_id}",
        f"{start}_{key_id}_",
        f"{start}_{other_id}_{secret}",
        f"{start}_{'0' * 12}_{secret}",
        right[:-1],
        right.upper(),
        f"{right}x",
        right.removeprefix("gm_"),
    )
    for one in wrong:
        found = api.send(one, "POST", "/v1/recall", RECALL)
        assert found.status_code == 401, one
        assert found.headers["www-authenticate"] == "Bearer"
        assert tenant not in found.text
    basic = {"Authorization": f"Basic {right}"}
    assert code_of(api, None, headers=basic) == (401, "unauthorized")
    assert code_of(api, None, "GET", "/v1/nowhere") == (401, "unauthorized")
    assert code_of(api, right, "GET", "/v1/nowhere") == (404, "no_route")
    assert code_of(api, right, "GET", "/v1/recall") == (405, "method_not_allowed")
    assert api.send(right, "POST", "/v1/recall", RECALL).status_code == 200


def test_pages_of_other_sites_have_no_access(api: Api, tenant: str) -> None:
    key = api.key(tenant)
    for host in ("evil.example", f"evil.example:{PORT}", "127.0.0.1", "localhost:1"):
        assert code_of(api, key, headers={"Host": host}) == (403, "host_refused"), host
    for origin in ("null", "http://evil.example", f"https://localhost:{PORT}"):
        assert code_of(api, key, headers={"Origin": origin}) == (403, "origin_refused"), origin
        found = api.send(key, "POST", "/v1/recall", RECALL, headers={"Origin": origin})
        assert "access-control-allow-origin" not in found.headers
    for own in ("localhost", "127.0.0.1"):
        named = {"Host": f"{own}:{PORT}", "Origin": f"http://{own}:{PORT}"}
        assert api.send(key, "POST", "/v1/recall", RECALL, headers=named).status_code == 200


def test_a_page_of_an_allowed_origin_may_ask_first(alone: Settings) -> None:
    page = "https://app.example"
    with served(alone, origins=(page,), hosts=("api.example",)) as api:
        asks = {
            "Origin": page,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
        }
        found = api.send(None, "OPTIONS", "/v1/recall", headers=asks)
        assert found.headers["access-control-allow-origin"] == page
        asks["Origin"] = "https://evil.example"
        found = api.send(None, "OPTIONS", "/v1/recall", headers=asks)
        assert "access-control-allow-origin" not in found.headers
        named = {"Host": "api.example"}
        assert api.send(None, "GET", "/version", headers=named).status_code == 200


def test_without_keys_only_loopback_is_served(api: Api, migrated: Settings, tenant: str) -> None:
    for host in ("0.0.0.0", "10.0.0.7", "graph.example"):  # noqa: S104 - refused
        with pytest.raises(ConfigurationError, match="reachable by others"):
            checked(Options(migrated, ListenAddress(host), no_auth=True))
    settings = migrated.model_copy(update={"tenant": tenant, "embedder": "hash"})
    with served(settings, no_auth=True) as own:
        stored = own.send(None, "POST", "/v1/memories", {"content": "Alice deploys Atlas."})
        assert stored.status_code == 200, stored.text
        assert own.send(None, "GET", "/v1/admin/stats").status_code == 200
        evil = {"Origin": "http://evil.example"}
        assert own.send(None, "GET", "/v1/admin/stats", headers=evil).status_code == 403
    call = api.of(api.key(tenant, rights=" ".join(RIGHTS)))
    assert call("GET", "/memories")["memories"][0]["content"] == "Alice deploys Atlas."


def test_large_bodies_are_refused(api: Api, tenant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key = api.key(tenant)
    monkeypatch.setattr(guard, "MAX_BODY", 1_000)
    assert code_of(api, key, given={"query": "x" * 1_000}) == (413, "body_too_large")
    parts = (b'{"query": "', *[b"x" * 100] * 20, b'"}')
    found = api.http.post(
        "/v1/recall", content=iter(parts), headers={"Authorization": f"Bearer {key}"}
    )
    assert found.status_code == 413


def test_a_key_may_not_send_too_many_requests(alone: Settings) -> None:
    with served(alone.model_copy(update={"serve_requests_per_s": 2.0})) as api:
        key, other = api.key("acme"), api.key("acme")
        sent = [api.send(key, "GET", "/v1/nowhere") for _ in range(5)]
        refused = [found for found in sent if found.status_code == 429]
        assert 1 <= len(refused) <= 3
        assert all(found.headers["retry-after"] == "1" for found in refused)
        assert api.send(other, "GET", "/v1/nowhere").status_code == 404


def test_guessed_keys_are_limited(alone: Settings) -> None:
    with served(alone) as api:
        key = api.key("acme")
        guessed = [api.send(f"{key}{n}", "GET", "/v1/nowhere").status_code for n in range(12)]
        assert guessed[:5] == [401] * 5
        assert 429 in guessed[5:]
        assert api.send(key, "GET", "/v1/nowhere").status_code == 404


def test_a_header_that_decides_is_given_once(api: Api, tenant: str) -> None:
    key, other = api.key(tenant, "user:alice"), api.key(tenant, "user:bob")
    for name, values in (
        ("Authorization", (f"Bearer {key}", f"Bearer {other}")),
        ("Graphmem-Scope", ("user:alice", "user:bob")),
        ("Idempotency-Key", ("1", "2")),
        ("Host", (f"localhost:{PORT}", "evil.example")),
    ):
        headers = [("Authorization", f"Bearer {key}"), *((name, value) for value in values)]
        found = api.http.post("/v1/recall", json=RECALL, headers=headers)
        assert (found.status_code, found.json()["code"]) == (400, "repeated_header"), name
    # Names with underscores, which some proxies confuse, are other headers.
    headers = [("Authorization", f"Bearer {key}"), ("Graphmem_Scope", "user:bob")]
    assert api.http.post("/v1/recall", json=RECALL, headers=headers).status_code == 200


def test_each_answer_has_the_id_of_its_request(
    api: Api, tenant: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[object]()
    measured = neo4j.unit_of_work

    def noted(**given: object) -> object:
        seen.append(given["metadata"])
        return measured(**given)  # type: ignore[arg-type]

    monkeypatch.setattr("neo4j.unit_of_work", noted)
    caplog.set_level(logging.INFO, "graphmem.serve.requests")
    key = api.key(tenant)
    given = {"X-Request-Id": "order-1"}
    found = api.send(key, "POST", "/v1/memories", {"content": "Alice rows."}, headers=given)
    assert found.headers["x-request-id"] == "order-1"
    assert {"request_id": "order-1"} in seen
    line = json.loads(JsonLines().format(caplog.records[-1]))
    own = {"request_id": "order-1", "route": "/v1/memories", "status": 200, "tenant": tenant}
    assert line.items() >= own.items()
    assert line["key"] == key.split("_")[1]
    assert "Alice" not in str(line)
    for bad in ("x" * 65, "a b", "", "é".encode()):
        headers = {"X-Request-Id": bad}
        found = api.send(None, "GET", "/v1/memories/secret?q=secret", headers=headers)
        assert re.fullmatch("[0-9a-f]{32}", found.headers["x-request-id"])
    assert "secret" not in JsonLines().format(caplog.records[-1])


def test_a_client_reads_its_own_writes_on_any_instance(
    api: Api, migrated: Settings, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = api.send(api.key(tenant), "POST", "/v1/memories", {"content": "Alice rows."})
    bookmark = stored.headers["graphmem-bookmark"]
    settings = settings_of(migrated, tmp_path / "keys.json")
    given = list[frozenset[str]]()
    opened = neo4j.AsyncDriver.session

    def noted(self: neo4j.AsyncDriver, **config: Any) -> neo4j.AsyncSession:
        given.append(config["bookmarks"].raw_values)
        return opened(self, **config)

    monkeypatch.setattr("neo4j.AsyncDriver.session", noted)
    with served(settings) as other:
        key, named = other.key(tenant), {"Graphmem-Bookmark": bookmark}
        path = f"/v1/memories/{stored.json()['memory_id']}"
        assert other.send(key, "GET", path, headers=named).status_code == 200
        assert frozenset(bookmark.split(",")) in given
        for bad in ("x", "FB:AAAA", "FB:!", "a b", "é".encode(), ",".join(["FB:AA"] * 21)):
            headers = {"Graphmem-Bookmark": bad}
            found = other.send(key, "GET", path, headers=headers)
            assert (found.status_code, found.json()["code"]) == (422, "invalid_input"), bad
            found = other.send(key, "POST", "/v1/consolidate", {}, headers=headers)
            assert (found.status_code, found.json()["code"]) == (422, "invalid_input"), bad
        # Another fault is not one of the bookmark.
        monkeypatch.setattr("graphmem.graph.driver.checked", lambda *_: "RETURN 1 / 0 AS none")
        found = other.send(key, "GET", path, headers=named)
        assert (found.status_code, found.json()["code"]) == (500, GraphQueryError.code)


def test_a_follower_waits_for_the_write_of_another_instance(
    migrated: Settings, tenant: str, tmp_path: Path
) -> None:
    at = urlsplit(str(migrated.uri))
    with cluster_of(str(at.hostname), int(at.port or 0)) as cluster:
        settings = settings_of(
            migrated.model_copy(update={"uri": cluster.uri}), tmp_path / "keys.json"
        )
        with served(settings) as one, served(settings) as other:
            key = one.key(tenant)
            known = one.of(key)("POST", "/memories", {"content": "Alice rows."})["memory_id"]
            path = f"/v1/memories/{known}"
            assert other.send(key, "GET", path).status_code == 200
            for member in (1, 2):
                cluster.lag(member)
            stored = one.send(key, "POST", "/v1/memories", {"content": "Alice sings."})
            assert other.send(key, "GET", path).status_code == 200
            assert not cluster.waited
            for member in (1, 2):
                threading.Timer(0.3, cluster.catch_up, [member]).start()
            named = {"Graphmem-Bookmark": stored.headers["graphmem-bookmark"]}
            path = f"/v1/memories/{stored.json()['memory_id']}"
            assert other.send(key, "GET", path, headers=named).status_code == 200
            assert cluster.waited


def test_metrics_are_for_the_operator(migrated: Settings, tmp_path: Path) -> None:
    settings = settings_of(migrated, tmp_path / "keys.json", "operator")
    with served(settings) as api:
        assert api.send(None, "GET", "/metrics").status_code == 401
        for key in (api.key("acme", "*", rights="admin"), api.key("operator", rights="admin read")):
            assert api.send(key, "GET", "/metrics").status_code == 403
        key = api.key("operator", "*", rights="admin read")
        headers = {"Graphmem-Scope": "global"}
        assert api.send(key, "POST", "/v1/recall", RECALL, headers=headers).status_code == 200
        text = api.send(key, "GET", "/metrics").text
        assert 'graphmem_operation_duration_seconds_count{operation="recall",outcome="ok"}' in text


def test_the_limit_refills() -> None:
    now = [0.0]
    limit = RateLimit(2.0, clock=lambda: now[0], max_keys=2)
    limit.take("a")
    limit.take("a")
    with pytest.raises(Problem, match="2 requests per second"):
        limit.take("a")
    now[0] = 0.5
    limit.take("a")
    for other in ("b", "c"):
        limit.take(other)
    assert "a" not in limit._left


async def refuse(*_: object) -> None:
    raise busy()


def test_a_full_server_refuses(api: Api, tenant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key = api.key(tenant)
    monkeypatch.setattr(Places, "enter", refuse)
    found = api.send(key, "POST", "/v1/recall", RECALL)
    assert (found.status_code, found.json()["code"]) == (503, "busy")
    assert found.headers["retry-after"] == "1"
    assert api.send(None, "GET", "/health/live").status_code == 200


def test_a_call_has_a_deadline(api: Api, migrated: Settings, tmp_path: Path) -> None:
    slow = migrated.model_copy(
        update={"embedder": "hash", "serve_deadline_s": 1e-9, "serve_keys": tmp_path / "k.json"}
    )
    with served(slow) as own:
        assert code_of(own, own.key("acme")) == (504, "deadline_exceeded")


def test_secrets_are_never_logged(
    api: Api, tenant: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    key = api.key(tenant)
    for one in (key, f"{key}x"):
        api.send(one, "POST", "/v1/recall", RECALL)
        api.send(one, "POST", "/v1/memories", {"contents": one})
    secret = key.split("_", 2)[2]
    shown = caplog.text + "".join(capfd.readouterr()) + api.file.path.read_text()
    assert secret not in shown
    assert re.search(r'"digest": "[0-9a-f]{64}"', shown)
