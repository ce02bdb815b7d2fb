"""No log, error, result, metric or span contains a password or a model key."""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import neo4j.exceptions
import pytest
from pydantic import SecretStr

from graphmem import GraphMem
from graphmem.errors import GraphmemError
from graphmem.operations.memories import GET
from graphmem.ports import ServerAddress, run_now
from graphmem.settings import Settings
from graphmem.telemetry import OtelTelemetry, PrometheusTelemetry
from graphmem.testing import HashEmbedder
from tests.fuzz.wild import everything_of
from tests.plugins.graph import driver_of, fresh_tenant
from tests.plugins.texts import unlike

PLANTED = "correct-horse-battery-staple"
KEYS = ("embedder_key", "model_key")


@pytest.fixture
def planted(migrated: Settings) -> Iterator[Settings]:
    """Settings of the real server, with a planted key in every other place for one."""
    yield migrated.model_copy(update=dict.fromkeys(KEYS, SecretStr(PLANTED)))
    _let_in(migrated)


def _let_in(settings: Settings) -> None:
    """Wait until the server accepts logins again after failed attempts."""
    deadline = time.monotonic() + 300
    while True:
        try:
            with driver_of(settings) as driver:
                driver.verify_connectivity()
        except neo4j.exceptions.ClientError:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        else:
            return


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Callable[[], str]:
    """All log records at every level, with their arguments."""
    caplog.set_level(logging.NOTSET)
    caplog.set_level(logging.DEBUG, "neo4j")

    def text() -> str:
        return caplog.text + "".join(f"{one.args!r} {one.__dict__!r}" for one in caplog.records)

    return text


def secrets_of(settings: Settings) -> set[str]:
    """Return what must be found nowhere."""
    assert settings.password is not None
    return {PLANTED, settings.password.get_secret_value()}


def told_of(error: BaseException) -> str:
    """Return an error with its whole traceback, all that goes along with it and all it holds."""
    return "".join(traceback.format_exception(error)) + everything_of(error)


def assert_nowhere(settings: Settings, *texts: str) -> None:
    for secret in secrets_of(settings):
        assert all(secret not in text for text in texts)


def test_a_whole_use_logs_and_shows_none(planted: Settings, logged: Callable[[], str]) -> None:
    with GraphMem.open(settings=planted, embedder=HashEmbedder()) as client:
        memory = client.tenant(fresh_tenant())
        made = memory.remember(unlike(1))
        results = [made, memory.recall(unlike(1)), memory.observe("alice", "is", "here")]
        with pytest.raises(GraphmemError) as caught:
            memory.memories.get("m_none")
        context = memory._state.context
        shown = [repr(one) for one in (memory, memory._state, context, context.services, planted)]
        shown.append(repr(context.services.graph) + repr(vars(context.services.graph)))
    assert "neo4j" in logged()
    reprs = [repr(results), planted.model_dump_json(), str(planted), repr(planted.model_dump())]
    assert_nowhere(planted, logged(), told_of(caught.value), *shown, *reprs)


@pytest.mark.parametrize(
    "changed",
    [
        {"password": SecretStr(PLANTED)},
        {"uri": f"bolt://neo4j:{PLANTED}@127.0.0.1:7687"},
        {"uri": f"bolt://127.0.0.1:7687?password={PLANTED}"},
        {"uri": f"http://{PLANTED}"},
        {"uri": "bolt://127.0.0.1:1", "connect_timeout_s": 1.0, "max_retry_time_s": 0.0},
        {"user": "nobody"},
        {"password": None},
    ],
    ids=["wrong password", "in the URI", "in its query", "for a host", "no server", "user", "none"],
)
def test_an_attempt_that_fails_tells_none(
    planted: Settings, logged: Callable[[], str], changed: dict[str, Any]
) -> None:
    tried = planted.model_copy(update=changed)
    with pytest.raises(GraphmemError) as caught:
        GraphMem.open(settings=tried, embedder=HashEmbedder())
    assert_nowhere(planted, logged(), told_of(caught.value))


def test_a_query_that_the_server_refuses_tells_none(
    planted: Settings, logged: Callable[[], str]
) -> None:
    with GraphMem.open(settings=planted, embedder=HashEmbedder()) as client:
        memory = client.tenant(fresh_tenant())
        graph = memory._state.context.services.graph
        asked: dict[str, Any] = {"tenant": "t", "scopes": ["global"], "ids": [unlike(1)]}

        async def wrong(tx: Any) -> Any:
            return await tx.fetch(replace(GET, text="MATCH (n) RETRUN n"), **asked)

        with pytest.raises(GraphmemError) as caught:
            run_now(graph.read(wrong))
    assert_nowhere(planted, logged(), told_of(caught.value))


def test_metrics_and_spans_hold_none(planted: Settings) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from prometheus_client import CollectorRegistry, generate_latest

    kept, registry, provider = InMemorySpanExporter(), CollectorRegistry(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    for telemetry in (PrometheusTelemetry(registry), OtelTelemetry(provider)):
        with GraphMem.open(
            settings=planted, embedder=HashEmbedder(), telemetry=telemetry
        ) as client:
            client.tenant(fresh_tenant()).remember(unlike(1))
        with pytest.raises(GraphmemError):
            GraphMem.open(
                settings=planted.model_copy(update={"password": SecretStr(PLANTED)}),
                embedder=HashEmbedder(),
                telemetry=telemetry,
            )
    spans = "".join(span.to_json() for span in kept.get_finished_spans())
    assert spans
    assert_nowhere(planted, spans, generate_latest(registry).decode())


def test_an_address_shows_no_password() -> None:
    made = ServerAddress("bolt://127.0.0.1:7687", "neo4j", PLANTED)
    assert PLANTED not in f"{made!r} {made}"


COMMANDS = [
    ("admin", "settings", "--json"),
    ("admin", "settings"),
    ("server", "status", "--json"),
    ("server", "status"),
    ("server", "doctor", "--json"),
    ("server", "doctor"),
    ("server", "browse", "memories", "--print"),
    ("admin", "metrics", "show"),
    ("recall", "tea", "--json"),
    ("memory", "get", "m_none", "--json"),
    ("admin", "migrate", "--check", "--json"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("right", [True, False])
def test_a_command_prints_none(
    planted: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: tuple[str, ...],
    right: bool,  # noqa: FBT001
) -> None:
    from graphmem.cli import main

    assert planted.uri is not None
    assert planted.password is not None
    password = planted.password.get_secret_value() if right else PLANTED
    monkeypatch.setenv("GRAPHMEM_URI", planted.uri)
    monkeypatch.setenv("GRAPHMEM_PASSWORD", password)
    monkeypatch.setenv("GRAPHMEM_EMBEDDER", "hash")
    for name in KEYS:
        monkeypatch.setenv(f"GRAPHMEM_{name.upper()}", PLANTED)
    with pytest.raises(SystemExit):
        main(list(command))
    seen = capfd.readouterr()
    assert seen.out or seen.err
    assert_nowhere(planted, seen.out, seen.err, json.dumps([seen.out, seen.err]))
