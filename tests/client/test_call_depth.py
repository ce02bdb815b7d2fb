"""Number of graphmem's frames between a public call and the driver."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neo4j
import pytest

import graphmem
from graphmem import Handle
from tests.plugins.texts import unlike

PACKAGE = str(Path(graphmem.__file__).parent)


@contextmanager
def deepest(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """Yield the stacks of graphmem's functions at each call of the driver."""
    stacks: list[list[str]] = []
    run = neo4j.ManagedTransaction.run

    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        frame, names = sys._getframe(1), []
        while frame is not None:
            if frame.f_code.co_filename.startswith(PACKAGE):
                names.append(frame.f_code.co_name)
            frame = frame.f_back  # type: ignore[assignment]
        stacks.append(names[::-1])
        return run(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(neo4j.ManagedTransaction, "run", traced)
        yield stacks


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (lambda m: m.observe("alice", "likes", "tea"), 12),
        (lambda m: m.recall(unlike(1)), 9),
        (lambda m: m.current("alice", "likes"), 8),
    ],
    ids=["observe", "recall", "current"],
)
def test_few_frames_lead_to_the_driver(
    plain: Handle, monkeypatch: pytest.MonkeyPatch, call: Callable[[Handle], Any], most: int
) -> None:
    with deepest(monkeypatch) as stacks:
        call(plain)
    assert stacks
    assert [stack for stack in stacks if len(stack) > most] == []
