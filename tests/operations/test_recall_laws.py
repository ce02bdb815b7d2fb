"""recall at a pair of times answers as it answered then."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings

from graphmem import AsOf, Handle, MemoryBite
from tests.operations.test_as_of_laws import EXAMPLES, MAY, TEXTS, Step, Written, histories
from tests.plugins.graph import Look
from tests.plugins.histories import clocked

# By meaning alone: how rare a word is, is told of all memories there are, not of those of the time.
POLICY = "trace"
Answers = tuple[list[Any], list[float | None]]
SEEN = ((3, False), (30, True))
"""As seen from then, when the last of it happens, and on the next day, with what is held back."""


def answers(handle: Handle, known: datetime | None = None) -> Answers:
    """Return what is answered now, or was as far as `known`, and its numbers."""
    facts: list[Any] = []
    numbers: list[float | None] = []
    for hour, hidden in SEEN:
        at = MAY + timedelta(hours=hour)
        as_of = AsOf(valid=at, known=known) if known else None
        asked = clocked(handle, at)
        for bite in asked.recall(TEXTS[0], policy=POLICY, include_hidden=hidden, as_of=as_of).bites:  # type: ignore[arg-type]
            assert isinstance(bite, MemoryBite)
            facts.append((bite.memory, bite.vector_rank, bite.reasons))
            numbers += (bite.score, bite.trace, bite.similarity)
    return facts, numbers


def agree(now: Answers, then: Answers) -> None:
    assert now[0] == then[0]
    assert now[1] == pytest.approx(then[1], abs=1e-9)


@settings(max_examples=EXAMPLES // 3)
@given(history=histories)
def test_recall_of_what_was_known_is_what_was_recalled_then(
    plain: Handle, look: Look, history: list[Step]
) -> None:
    written = Written(plain, look)
    then: list[dict[str, Answers]] = []
    for n, step in enumerate(history):
        written.write(n, step)
        if len(written.known) > len(then):
            then.append({scope: answers(handle) for scope, handle in written.handles.items()})
    for known, was in zip(written.known, then, strict=True):
        for scope, handle in written.handles.items():
            agree(answers(handle, known), was[scope])
