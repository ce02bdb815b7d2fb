"""Prometheus metrics of a process."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import prometheus_client
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from graphmem.client.instrumentation import InstrumentedEmbedder, InstrumentedLlm
from graphmem.client.log_queue import FULL_LOG, MAX_LOG, AccessLog
from graphmem.errors import (
    ConfigurationError,
    GraphUnavailableError,
    ModelReplyError,
    NotFoundError,
)
from graphmem.ports import Answer, Role, run_now
from graphmem.settings import Settings
from graphmem.telemetry import PrometheusTelemetry, receivers
from graphmem.telemetry.receivers import CompositeTelemetry, outcome_of
from graphmem.testing import FrozenClock, HashEmbedder, ScriptedLlm
from graphmem.usage.access_log import AccessEntry
from tests.plugins.clients import Door, on_tenant
from tests.plugins.examples import examples
from tests.plugins.faults import Through
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike
from tests.telemetry.test_observing import Heard

OPERATIONS = "graphmem_operation_duration_seconds_count"


def samples(registry: CollectorRegistry) -> dict[tuple[str, ...], float]:
    """Return the samples of a scrape by name and sorted labels, without times."""
    text = generate_latest(registry).decode()
    return {
        (one.name, *sorted(f"{key}={value}" for key, value in one.labels.items())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
        if not one.name.endswith(("_bucket", "_sum", "_created"))
    }


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_an_operation_is_counted_by_how_it_ended(registry: CollectorRegistry) -> None:
    counting = PrometheusTelemetry(registry)
    endings: list[BaseException | None] = [
        None,
        None,
        NotFoundError("m_1 is secret"),
        ValueError("secret"),
        asyncio.CancelledError(),
    ]
    for error in endings:
        try:
            with counting.operation("recall", "acme"):
                if error is not None:
                    raise error
        except type(error or Exception()) as raised:
            assert raised is error  # noqa: PT017 - tests that the exception propagates unchanged
    found = samples(registry)
    assert {key: value for key, value in found.items() if key[0] == OPERATIONS} == {
        (OPERATIONS, "operation=recall", "outcome=ok"): 2,
        (OPERATIONS, "operation=recall", "outcome=not_found"): 1,
        (OPERATIONS, "operation=recall", "outcome=error"): 1,
        (OPERATIONS, "operation=recall", "outcome=interrupted"): 1,
    }
    text = generate_latest(registry).decode()
    assert "secret" not in text
    assert "acme" not in text


def test_how_something_ended() -> None:
    assert outcome_of(None) == "ok"
    assert outcome_of(GraphUnavailableError()) == "graph_unavailable"
    assert outcome_of(KeyError("x")) == "error"
    assert outcome_of(KeyboardInterrupt()) == "interrupted"


def test_tenants_are_named_only_when_that_is_asked_for(registry: CollectorRegistry) -> None:
    counting = PrometheusTelemetry(registry, by_tenant=True)
    for tenant in ("acme", 'a"\n\\b', "漢字", 'x",outcome="ok"} 1\n# HELP y', "\r\x85\u2028"):
        with counting.operation("get", tenant):
            pass
        assert samples(registry)[OPERATIONS, "operation=get", "outcome=ok", f"tenant={tenant}"] == 1


@settings(max_examples=examples(4, 20, 200))
@given(st.lists(st.text(max_size=300), max_size=50))
def test_strangers_add_a_limited_number_of_series(names: list[str]) -> None:
    registry = CollectorRegistry()
    counting = PrometheusTelemetry(registry, by_tenant=True)
    names = [*names, *(f"t{n}" for n in range(2 * receivers.MAX_VALUES))]
    for name in names:
        with counting.operation("get", name), counting.answering(name) as record:
            record(Answer(None, "", name, 1, 0, 0, None))
        with counting.embedding(name, Role.QUERY, 1), counting.reranking(name, 1):
            pass
    for family in registry.collect():
        for label in ("tenant", "model"):
            counted = [
                (one.labels[label], one.value)
                for one in family.samples
                if label in one.labels and one.name.endswith(("_count", "_total"))
            ]
            if counted:
                shown = {value for value, _ in counted}
                assert len(shown) <= receivers.MAX_VALUES + 1
                assert max(map(len, shown)) <= receivers.MAX_VALUE_CHARS
                assert receivers.OTHER in shown
    served = registry.get_sample_value(
        OPERATIONS, {"operation": "get", "outcome": "ok", "tenant": receivers.OTHER}
    )
    assert served is not None
    assert served >= receivers.MAX_VALUES


def test_time_is_measured_in_seconds(
    registry: CollectorRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter([100.0, 100.3])
    monkeypatch.setattr("graphmem.telemetry.receivers.time.perf_counter", ticks.__next__)
    with PrometheusTelemetry(registry).operation("recall", "t"):
        pass
    ended = {"operation": "recall", "outcome": "ok"}
    name = "graphmem_operation_duration_seconds"
    assert registry.get_sample_value(f"{name}_sum", ended) == pytest.approx(0.3)
    assert registry.get_sample_value(f"{name}_bucket", ended | {"le": "0.25"}) == 0
    assert registry.get_sample_value(f"{name}_bucket", ended | {"le": "0.5"}) == 1


def test_texts_and_answers_are_counted(registry: CollectorRegistry) -> None:
    counting = PrometheusTelemetry(registry)
    embedder = InstrumentedEmbedder(HashEmbedder(), counting)
    assert (embedder.name, run_now(embedder.dimension())) == (HashEmbedder().name, 256)
    run_now(embedder.embed(["one", "two"], Role.DOCUMENT))
    run_now(embedder.embed(["three"], Role.QUERY))
    with counting.answering("priced") as record:
        record(Answer("", "", "priced", 3, 70, 7, 0.25))
    with counting.answering("unpriced") as record:
        record(Answer("", "", "unpriced", 1, 5, 1, None))
    llm = InstrumentedLlm(ScriptedLlm(["no record"], name="silly"), counting)
    with pytest.raises(ModelReplyError):
        run_now(llm.answer(_prompt()))
    with counting.reranking("ranker", 3):
        pass
    name = f"model={embedder.name}"
    assert samples(registry) == {
        ("graphmem_embedding_duration_seconds_count", name, "outcome=ok"): 2,
        ("graphmem_embedding_texts_total", name, "role=document"): 2,
        ("graphmem_embedding_texts_total", name, "role=query"): 1,
        ("graphmem_llm_duration_seconds_count", "model=priced", "outcome=ok"): 1,
        ("graphmem_llm_duration_seconds_count", "model=unpriced", "outcome=ok"): 1,
        ("graphmem_llm_duration_seconds_count", "model=silly", "outcome=model_reply"): 1,
        ("graphmem_llm_requests_total", "model=priced"): 3,
        ("graphmem_llm_requests_total", "model=unpriced"): 1,
        ("graphmem_llm_tokens_total", "direction=in", "model=priced"): 70,
        ("graphmem_llm_tokens_total", "direction=out", "model=priced"): 7,
        ("graphmem_llm_tokens_total", "direction=in", "model=unpriced"): 5,
        ("graphmem_llm_tokens_total", "direction=out", "model=unpriced"): 1,
        ("graphmem_llm_cost_usd_total", "model=priced"): 0.25,
        ("graphmem_llm_unpriced_total", "model=unpriced"): 1,
        ("graphmem_reranker_duration_seconds_count", "model=ranker", "outcome=ok"): 1,
        ("graphmem_log_waiting_entries",): 0,
        ("graphmem_log_written_total",): 0,
        ("graphmem_log_lost_total",): 0,
    }


def _prompt() -> Any:
    from graphmem.consolidation.rules import SynthesisReply
    from graphmem.ports import Prompt

    return Prompt("test", "system", "user", SynthesisReply)


def entry(n: int) -> AccessEntry:
    return AccessEntry("t", f"e{n}", "global", "Memory", "m", FrozenClock().now(), None)


def test_the_log_tells_what_waits_is_written_and_is_lost(registry: CollectorRegistry) -> None:
    counting = PrometheusTelemetry(registry)
    first, second = AccessLog(counting), AccessLog(counting)

    def found() -> list[float]:
        names = ("waiting_entries", "written_total", "lost_total")
        return [samples(registry)[f"graphmem_log_{name}",] for name in names]

    for n in range(FULL_LOG):
        first.add(entry(n))
    second.add(entry(0))
    assert found() == [FULL_LOG + 1, 0, 0]
    first.written(first.waiting()[:30])
    first.written(first.waiting()[:0])
    assert found() == [FULL_LOG - 29, 30, 0]
    for n in range(1000, 1000 + MAX_LOG):
        first.add(entry(n))
    assert found() == [MAX_LOG + 1, 30, FULL_LOG - 30]
    second.give_up()
    second.give_up()
    assert found() == [MAX_LOG, 30, FULL_LOG - 29]
    assert (first.lost, second.lost, second.waiting()) == (FULL_LOG - 30, 1, [])


def test_all_clients_of_a_process_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receivers, "_metrics_by_tenant", {})
    monkeypatch.setattr(prometheus_client, "REGISTRY", CollectorRegistry())
    one = receivers.from_settings(Settings(metrics=True))
    assert receivers.from_settings(Settings(metrics=True)) is one
    assert isinstance(
        receivers.from_settings(Settings(metrics=True, traces=True)), CompositeTelemetry
    )
    with one.operation("get", "acme"):
        pass
    assert samples(prometheus_client.REGISTRY)[OPERATIONS, "operation=get", "outcome=ok"] == 1
    with pytest.raises(ConfigurationError, match="GRAPHMEM_TELEMETRY_TENANTS"):
        receivers.from_settings(Settings(metrics=True, telemetry_tenants=True))


def test_several_are_all_told() -> None:
    each = [Heard(), Heard()]
    both = CompositeTelemetry([*each])
    with both.operation("get", "t"), both.embedding("m", Role.QUERY, 2):
        pass
    with pytest.raises(KeyError):
        _answered_and_failed(both)
    with both.reranking("r", 5):
        pass
    both.logged(waiting=1, written=2, lost=3)
    assert each[0].calls == each[1].calls
    assert each[0].calls == [
        ("embedding", "m", Role.QUERY, 2),
        ("operation", "get", "t"),
        ("answer", 2, 3),
        ("answering", "m", "KeyError"),
        ("reranking", "r", 5),
        ("logged", 1, 2, 3),
    ]


def _answered_and_failed(telemetry: CompositeTelemetry) -> None:
    with telemetry.answering("m") as record:
        record(Answer("", "", "m", 1, 2, 3, None))
        raise KeyError


@pytest.mark.parametrize(
    ("setting", "module", "extra"),
    [("metrics", "prometheus_client", "metrics"), ("traces", "opentelemetry.trace", "otel")],
)
def test_what_is_not_installed_is_named(
    setting: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receivers, "_metrics_by_tenant", {})
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigurationError) as refused:
        receivers.from_settings(Settings.load({f"GRAPHMEM_{setting.upper()}": "true"}))
    assert refused.value.hint == f"Run: pip install 'graphmem[{extra}]'"
    assert module.partition(".")[0] in refused.value.message


@pytest.mark.usefixtures("both_clients")
def test_a_client_is_counted_by_each_way_in(door: Door, registry: CollectorRegistry) -> None:
    llm = ScriptedLlm([])
    with door.open(telemetry=PrometheusTelemetry(registry), llm=llm) as client:
        memory = client.tenant(fresh_tenant())
        memory_id = str(memory.remember(unlike(1)).memory_id)
        memory.recall(unlike(1))
        memory.expand(memory_id)
        with pytest.raises(NotFoundError):
            memory.expand("m_nope")
        during = samples(registry)
    after = samples(registry)
    counted = {key[1:]: value for key, value in during.items() if key[0] == OPERATIONS}
    assert counted == {
        ("operation=open", "outcome=ok"): 1,
        ("operation=remember", "outcome=ok"): 1,
        ("operation=recall", "outcome=ok"): 1,
        ("operation=expand", "outcome=ok"): 1,
        ("operation=expand", "outcome=not_found"): 1,
    }
    model = f"model={HashEmbedder().name}"
    assert during["graphmem_embedding_texts_total", model, "role=document"] == 1
    assert during["graphmem_embedding_texts_total", model, "role=query"] == 1
    assert during["graphmem_log_waiting_entries",] == 2
    assert after["graphmem_log_waiting_entries",] == 0
    assert after["graphmem_log_written_total",] == 2
    text = generate_latest(registry).decode()
    for content in (unlike(1), memory_id, "m_nope"):
        assert content not in text


class Refusing(Through):
    """A graph that takes no writes."""

    async def write(self, _work: Any) -> Any:
        raise GraphUnavailableError


@pytest.mark.usefixtures("both_clients")
def test_what_a_closing_client_could_not_write_is_lost(
    door: Door, registry: CollectorRegistry
) -> None:
    client = door.open(telemetry=PrometheusTelemetry(registry))
    memory = on_tenant(client, fresh_tenant())
    memory.recall(unlike(1))
    cut = door.on(client, graph=Refusing(client._state.context.services.graph))
    cut.close()
    found = samples(registry)
    assert found["graphmem_log_waiting_entries",] == 0
    assert found["graphmem_log_lost_total",] == 1
    assert found[OPERATIONS, "operation=close", "outcome=ok"] == 1
