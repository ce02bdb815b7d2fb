"""What a process does, as OpenTelemetry spans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphmem.adapters.telemetry import OK, library, outcome_of

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

    from graphmem.ports import Answer, Role


class OtelTelemetry:
    """Makes a span of every operation, and one inside it of each use of a model.

    Attributes are names, codes and counts: no text, no id, no message of an error.
    """

    def __init__(
        self, tracer_provider: TracerProvider | None = None, *, by_tenant: bool = False
    ) -> None:
        """Take a tracer.

        Args:
            tracer_provider: where spans go; the process's own by default.
            by_tenant: name the tenant in the spans of operations.

        Raises:
            ConfigurationError: opentelemetry-api is not installed.
        """
        self._trace = library("opentelemetry.trace", "otel")
        self._tracer = self._trace.get_tracer("graphmem", tracer_provider=tracer_provider)
        self._by_tenant = by_tenant

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        """Return the block of one public operation."""
        known = {"graphmem.tenant": tenant} if self._by_tenant and tenant else {}
        with self._span(name, known):
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        """Return the block in which texts become vectors."""
        known = {"graphmem.model": model, "graphmem.role": str(role), "graphmem.texts": texts}
        with self._span("embedding", known):
            yield

    @contextmanager
    def answering(self, model: str) -> Iterator[Callable[[Answer[Any]], None]]:
        """Return the block in which a language model answers."""
        with self._span("llm", {"graphmem.model": model}) as span:

            def tell(answer: Answer[Any]) -> None:
                counts = {
                    "graphmem.requests": answer.requests,
                    "graphmem.tokens_in": answer.tokens_in,
                    "graphmem.tokens_out": answer.tokens_out,
                }
                span.set_attributes(counts)
                if answer.cost_usd is not None:
                    span.set_attribute("graphmem.cost_usd", answer.cost_usd)

            yield tell

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Do nothing: that entries wait has no duration."""

    @contextmanager
    def _span(self, name: str, known: dict[str, Any]) -> Iterator[Span]:
        # The tracer itself would keep an error's message and its traceback.
        with self._tracer.start_as_current_span(
            f"graphmem.{name}",
            attributes=known,
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
