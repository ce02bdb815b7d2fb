"""A command opens one connection, checks the server once, and sends few queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import neo4j
import pytest

from graphmem import local_server
from graphmem.graph import driver as driver_module
from graphmem.settings import Settings
from tests.cli.conftest import Run

DRIVER, CHECK, STATE = "driver", "check", "schema/state"
OPENING = [DRIVER, CHECK, STATE]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The drivers, checks and queries of this process, in order."""
    found: list[str] = []
    driver, check = neo4j.GraphDatabase.driver, neo4j.Driver.verify_connectivity
    checked = driver_module.checked

    def counted_driver(*args: Any, **config: Any) -> neo4j.Driver:
        found.append(DRIVER)
        return driver(*args, **config)

    def counted_check(self: neo4j.Driver, **config: Any) -> None:
        found.append(CHECK)
        check(self, **config)

    def counted_query(query: Any, params: Any, generation: int) -> str:
        found.append(query.name)
        return checked(query, params, generation)

    monkeypatch.setattr(neo4j.GraphDatabase, "driver", counted_driver)
    monkeypatch.setattr(neo4j.Driver, "verify_connectivity", counted_check)
    monkeypatch.setattr(driver_module, "checked", counted_query)
    return found


def queries(sent: list[str]) -> list[str]:
    """Return the queries of a command after its opening, without those that write the log."""
    assert sent[: len(OPENING)] == OPENING
    own = sent[len(OPENING) :]
    log = own.index("usage/start_sessions") if "usage/start_sessions" in own else len(own)
    assert not {DRIVER, CHECK, STATE} & {*own}
    return own[:log]


def test_a_command_sends_few_queries(run: Run, sent: list[str]) -> None:
    written = run("memory", "remember", "The night train goes to Porto.", "--json")
    assert queries(sent) == [
        "commit/find_known",
        "commit/lock",
        "commit/find_existing",
        "commit/write",
        "erase/find_tombstones",
    ]
    memory_id = written.data["memory_id"]
    belief_id = run("belief", "observe", "alice", "likes", "tea", "--json").data["belief_id"]
    why = "memory/get+lineage/chain+lineage/history+recall/trace"
    dashboard = "usage/ratings+usage/rating_histogram+usage/recent_log+usage/rating_updates"
    stats = "metrics/sizes+metrics/ratings+metrics/work+metrics/jobs+metrics/failing_units"
    goals = "usage/faded+usage/short_term_size+usage/pack_candidates"
    evidence = ["belief/find_existing", "belief/append", "erase/find_tombstones", "belief/test"]
    short = "ids/neighbours"
    for command, expected in {
        ("recall", "train"): ["recall/current", "recall/hits", short],
        ("why", belief_id): ["belief/explain", short],
        ("why", memory_id): [why, short],
        ("expand", memory_id): ["usage/expand", short],
        ("belief", "current", "alice", "likes"): ["belief/current", "belief/states", short],
        ("belief", "current", "alice", "likes", "--json"): ["belief/current"],
        ("belief", "get", belief_id): ["belief/states", short],
        ("belief", "evidence-for", belief_id): ["belief/test", short],
        ("belief", "add-evidence", belief_id, "supporting", "0.8"): [*evidence, short],
        ("memory", "list"): ["memory/list", short],
        ("memory", "get", memory_id): ["memory/get", short],
        ("memory", "get", memory_id, "--json"): ["memory/get"],
        ("memory", "get", memory_id[:8]): ["ids/resolve", "memory/get", short],
        ("usage", "dashboard"): [dashboard, short],
        ("usage", "goals"): ["usage/rated_sessions", goals, "ids/neighbours"],
        ("admin", "stats"): [stats, "metrics/known"],
        ("tenant", "list"): ["schema/tenants"],
        ("scope", "list"): ["metrics/scopes"],
    }.items():
        sent.clear()
        assert run(*command).code == 0
        assert queries(sent) == expected, command
    sent.clear()
    run("usage", "audit")
    assert queries(sent) == ["usage/sessions", "usage/sessionless"]


def test_the_tenant_is_looked_up_only_if_nothing_is_found(run: Run, sent: list[str]) -> None:
    for command in (
        ("memory", "list"),
        ("memory", "get", "m_nope"),
        ("alias", "list"),
        ("context", "train"),
        ("belief", "current", "alice", "likes"),
    ):
        sent.clear()
        assert "has no data" in run(*command).err
        assert queries(sent)[-1] == "metrics/known", command


def test_the_managed_server_is_ensured_once(
    run: Run,
    sent: list[str],
    migrated: Settings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    assert migrated.uri is not None
    assert migrated.password is not None
    endpoint = local_server.Endpoint(
        uri=migrated.uri, user=migrated.user, password=migrated.password, version="2026.08.1"
    )

    def ensured(*_: object, **__: object) -> local_server.Endpoint:
        sent.append("ensured")
        return endpoint

    monkeypatch.setattr(local_server, "ensure", ensured)
    monkeypatch.setattr(local_server, "running_uri", lambda _: endpoint.uri)
    monkeypatch.setenv("GRAPHMEM_HOME", str(tmp_path))
    for name in ("URI", "USER", "PASSWORD"):
        monkeypatch.delenv(f"GRAPHMEM_{name}", raising=False)
    assert run("belief", "current", "alice", "likes", "--json").code == 0
    assert sent.pop(0) == "ensured"
    assert queries(sent)[:1] == ["belief/current"]
