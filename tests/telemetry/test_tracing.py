"""OpenTelemetry spans of a process."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from graphmem.errors import NotFoundError
from graphmem.ports import Answer, Role
from graphmem.telemetry import OtelTelemetry, receivers
from tests.plugins.clients import Door
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike


class Spans:
    """A tracer provider that keeps what was traced."""

    def __init__(self) -> None:
        self._kept = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._kept))

    def ended(self) -> list[ReadableSpan]:
        return list(self._kept.get_finished_spans())


@pytest.fixture
def spans() -> Spans:
    return Spans()


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_use_of_a_model_lies_inside_its_operation(spans: Spans) -> None:
    tracing = OtelTelemetry(spans.provider)
    with tracing.operation("consolidate", "acme"):
        with tracing.embedding("e", Role.DOCUMENT, 3):
            pass
        with tracing.answering("m") as record:
            record(Answer("words", "raw words", "m", 2, 70, 7, 0.5))
        with tracing.answering("free") as record:
            record(Answer("words", "raw words", "free", 1, 5, 1, None))
        with tracing.reranking("r", 4):
            pass
    tracing.logged(waiting=1, written=0, lost=0)
    embedding, answer, free, reranking, whole = spans.ended()
    assert [one.name for one in (embedding, answer, free, reranking, whole)] == [
        "graphmem.embedding",
        "graphmem.llm",
        "graphmem.llm",
        "graphmem.reranking",
        "graphmem.consolidate",
    ]
    assert attributes(reranking) == {
        "graphmem.model": "r",
        "graphmem.texts": 4,
        "graphmem.outcome": "ok",
    }
    for inner in (embedding, answer, free, reranking):
        assert inner.parent is not None
        assert whole.context is not None
        assert inner.parent.span_id == whole.context.span_id
    assert attributes(whole) == {"graphmem.outcome": "ok"}
    assert attributes(embedding) == {
        "graphmem.model": "e",
        "graphmem.role": "document",
        "graphmem.texts": 3,
        "graphmem.outcome": "ok",
    }
    assert attributes(answer) == {
        "graphmem.model": "m",
        "graphmem.requests": 2,
        "graphmem.tokens_in": 70,
        "graphmem.tokens_out": 7,
        "graphmem.cost_usd": 0.5,
        "graphmem.outcome": "ok",
    }
    assert "graphmem.cost_usd" not in attributes(free)
    assert whole.status.status_code is StatusCode.UNSET


@pytest.mark.parametrize(
    ("error", "outcome"), [(NotFoundError("secret"), "not_found"), (ValueError("secret"), "error")]
)
def test_an_error_leaves_its_code_and_none_of_its_words(
    spans: Spans, error: Exception, outcome: str
) -> None:
    with pytest.raises(type(error)), OtelTelemetry(spans.provider).operation("get", "acme"):
        raise error
    [span] = spans.ended()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, outcome)
    assert attributes(span) == {"graphmem.outcome": outcome}
    assert span.events == ()
    assert "secret" not in span.to_json()
    assert "acme" not in span.to_json()


def test_a_tenant_is_named_only_when_that_is_asked_for(spans: Spans) -> None:
    tracing = OtelTelemetry(spans.provider, by_tenant=True)
    for name, tenant in (("get", "acme"), ("open", "")):
        with tracing.operation(name, tenant):
            pass
    got, opened = spans.ended()
    assert attributes(got)["graphmem.tenant"] == "acme"
    assert "graphmem.tenant" not in attributes(opened)


@pytest.mark.usefixtures("both_clients")
def test_spans_of_a_client_hold_nothing_that_was_said(door: Door, spans: Spans) -> None:
    with door.open(telemetry=OtelTelemetry(spans.provider)) as client:
        memory = client.tenant(fresh_tenant())
        memory_id = str(memory.remember(unlike(1), tags=["private"]).memory_id)
        memory.recall(unlike(2))
        with pytest.raises(NotFoundError):
            memory.memories.get("m_nope")
    ended = spans.ended()
    names = [span.name for span in ended]
    assert names == [
        "graphmem.open",
        "graphmem.embedding",
        "graphmem.remember",
        "graphmem.embedding",
        "graphmem.recall",
        "graphmem.memories.get",
    ]
    exported = "".join(span.to_json() for span in ended)
    for content in (unlike(1), unlike(2), memory_id, "private", "m_nope"):
        assert content not in exported


def test_spans_continue_the_trace_of_a_request(spans: Spans) -> None:
    tracing = OtelTelemetry(spans.provider)
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    for headers in ({"traceparent": f"00-{trace}-{parent}-01"}, {"traceparent": "x"}, {}):
        with receivers.continued(headers), tracing.operation("recall", "acme"):
            pass
    first, *others = spans.ended()
    assert first.parent is not None
    assert (f"{first.parent.trace_id:032x}", f"{first.parent.span_id:016x}") == (trace, parent)
    assert [one.parent for one in others] == [None, None]
