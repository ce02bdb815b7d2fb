"""Every public operation is reported once, without its content."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from graphmem.client import instrumentation
from graphmem.client.handle import AsyncHandle
from graphmem.errors import InvalidInputError
from graphmem.ports import Answer, Role, run_now
from graphmem.settings import Settings
from tests.plugins.twins import NAMESPACES, TWINS, methods

ROOT = Path(__file__).parents[2]
NO_COROUTINES = {"tenant", "scope", "session"}
PREFIX = {awaited: f"{name}." for name, (awaited, _) in NAMESPACES.items()}
PUBLIC = [
    (awaited, blocking, name)
    for awaited, blocking in TWINS
    for name in methods(awaited)
    if name not in NO_COROUTINES | {"open"}
]


class Heard:
    """Telemetry that records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        with self._ended("operation", name, tenant):
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        with self._ended("embedding", model, role, texts):
            yield

    @contextmanager
    def answering(self, model: str) -> Iterator[Callable[[Answer[Any]], None]]:
        with self._ended("answering", model):
            yield lambda answer: self.calls.append(("answer", answer.tokens_in, answer.tokens_out))

    @contextmanager
    def reranking(self, model: str, texts: int) -> Iterator[None]:
        with self._ended("reranking", model, texts):
            yield

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        self.calls.append(("logged", waiting, written, lost))

    @contextmanager
    def _ended(self, *what: Any) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.calls.append((*what, type(error).__name__))
            raise
        self.calls.append(what)


def telling(telemetry: Any) -> Any:
    """Return a state with only its telemetry and tenant."""
    services = SimpleNamespace(telemetry=telemetry)
    return SimpleNamespace(context=SimpleNamespace(services=services, tenant="acme"))


def test_there_is_something_to_look_at() -> None:
    named = {name for _, _, name in PUBLIC}
    assert {"recall", "remember", "expand", "rate", "close", "add_messages", "flush"} <= named
    assert all(inspect.iscoroutinefunction(getattr(awaited, name)) for awaited, _, name in PUBLIC)


REFUSALS = (TypeError, AttributeError, InvalidInputError)
"""Errors of an operation without arguments and state."""


def _called(handle: Any, name: str) -> None:
    """Call an operation, which cannot get far: arguments and state are missing."""
    done = getattr(handle, name)()
    if inspect.iscoroutine(done):
        run_now(done)


@pytest.mark.parametrize(
    ("awaited", "blocking", "name"), PUBLIC, ids=lambda one: getattr(one, "__name__", one)
)
def test_no_public_operation_is_forgotten(awaited: type, blocking: type, name: str) -> None:
    for owner in (awaited, blocking):
        recorder = Heard()
        handle: Any = object.__new__(owner)
        handle._state = telling(recorder)
        with pytest.raises(REFUSALS) as failed:
            _called(handle, name)
        operation = PREFIX.get(awaited, "") + name
        assert recorder.calls == [("operation", operation, "acme", failed.type.__name__)]


def test_what_a_user_adds_is_not_counted_twice() -> None:
    class Own(AsyncHandle):
        async def flush(self) -> int:
            await self.usage.flush()
            return 0

        async def other(self) -> int:
            return 1

    recorder = Heard()
    own = object.__new__(Own)
    own._state = telling(recorder)
    with pytest.raises(AttributeError):
        run_now(own.flush())
    assert run_now(own.other()) == 1
    assert [call[:2] for call in recorder.calls] == [("operation", "usage.flush")]


def test_nobody_is_told_unless_it_is_asked_for() -> None:
    settings = Settings()
    assert (settings.metrics, settings.traces, settings.telemetry_tenants) == (False,) * 3
    assert instrumentation.chosen_telemetry(settings, None) is None
    own = Heard()
    assert instrumentation.chosen_telemetry(settings, own) is own
    assert instrumentation.chosen_telemetry(Settings(metrics=True, traces=True), own) is own
    services: Any = object()
    assert instrumentation.instrumented(services, None) is services
    with instrumentation.reported_opening(None):
        pass


def test_nothing_of_it_is_imported_unless_it_is_asked_for() -> None:
    code = """
import sys
import graphmem
from graphmem.client import instrumentation
from graphmem.settings import Settings
graphmem.GraphMem
instrumentation.chosen_telemetry(Settings(), None)
print([name for name in ("prometheus_client", "opentelemetry") if name in sys.modules])
instrumentation.chosen_telemetry(Settings(metrics=True, traces=True), None)
print([name for name in ("prometheus_client", "opentelemetry") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines() == ["[]", "['prometheus_client', 'opentelemetry']"]
