"""The three calls that people read first pass through few functions and files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import graphmem
from graphmem import Handle
from graphmem.erasure import guard

ROOT = Path(graphmem.__file__).parent
WALKS: dict[str, tuple[Callable[[Handle], object], int, int]] = {
    "recall": (lambda memory: memory.recall("Where does Ana live?"), 144, 34),
    "observe": (lambda memory: memory.observe("Ana", "lives_in", "Porto"), 113, 23),
    "current": (lambda memory: memory.current("Bob", "lives_in"), 52, 16),
}
"""Calls, with the most functions and files of graphmem that each passes through: a recall and a
slot that find nothing, and an observation. A new wrapper takes the place of another one; four
functions are spare, for what happens once in a while, as when a connection is renewed."""


@pytest.mark.parametrize("name", WALKS)
def test_a_call_passes_through_few_functions(
    plain: Handle, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, functions, files = WALKS[name]
    # On a busy machine more than a second passes between the two calls.
    monkeypatch.setattr(guard, "TRUST_S", 3_600.0)
    call(plain.scope("user:first"))  # It computes all that is computed once.
    walked: set[tuple[str, str]] = set()

    def walk(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Comprehensions are functions in some versions of Python only.
        if event == "call" and code.co_name[0] != "<" and code.co_filename.startswith(str(ROOT)):
            walked.add((code.co_filename, code.co_qualname))

    memory = plain.scope("user:second")
    sys.setprofile(walk)
    try:
        call(memory)
    finally:
        sys.setprofile(None)
    assert len(walked) <= functions, walked
    assert len({file for file, _ in walked}) <= files, walked
