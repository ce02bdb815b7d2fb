"""OpenTelemetry spans of the operations of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphmem.adapters.telemetry import OK, library, outcome_of

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

    from graphmem.ports import Answer, Role


class OtelTelemetry:
    """Spans of operations, with an inner span for each request to a model.

    Span attributes are names, codes and counts; never texts, ids or error messages.
    """

    def __init__(
        self, tracer_provider: TracerProvider | None = None, *, by_tenant: bool = False
    ) -> None:
        """Create a tracer.

        Args:
            tracer_provider: provider of the tracer; the process's global one if None.
            by_tenant: add the tenant to the spans of operations.

        Raises:
            ConfigurationError: opentelemetry-api is not installed.
        """
        self._trace = library("opentelemetry.trace", "otel")
        self._tracer = self._trace.get_tracer("graphmem", tracer_provider=tracer_provider)
        self._by_tenant = by_tenant

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        """Trace the block of one public operation."""
        attributes = {"graphmem.tenant": tenant} if self._by_tenant and tenant else {}
        with self._span(name, attributes):
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        """Trace the block of one embedding request."""
        attributes = {"graphmem.model": model, "graphmem.role": str(role), "graphmem.texts": texts}
        with self._span("embedding", attributes):
            yield

    @contextmanager
    def answering(self, model: str) -> Iterator[Callable[[Answer[Any]], None]]:
        """Trace the block of one language model request; yield a callback for its answer."""
        with self._span("llm", {"graphmem.model": model}) as span:

            def record(answer: Answer[Any]) -> None:
                counts = {
                    "graphmem.requests": answer.requests,
                    "graphmem.tokens_in": answer.tokens_in,
                    "graphmem.tokens_out": answer.tokens_out,
                }
                span.set_attributes(counts)
                if answer.cost_usd is not None:
                    span.set_attribute("graphmem.cost_usd", answer.cost_usd)

            yield record

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Do nothing, because log entries have no duration."""

    @contextmanager
    def _span(self, name: str, attributes: dict[str, Any]) -> Iterator[Span]:
        # By default the tracer would record an exception's message and traceback.
        with self._tracer.start_as_current_span(
            f"graphmem.{name}",
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            outcome = OK
            try:
                yield span
            except BaseException as error:
                outcome = outcome_of(error)
                span.set_status(self._trace.StatusCode.ERROR, outcome)
                raise
            finally:
                span.set_attribute("graphmem.outcome", outcome)
