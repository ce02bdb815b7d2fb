"""The spans in which two lists of words differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

Span: TypeAlias = tuple[int, int, int, int]
"""Start and end in the first list, and in the second."""

MAX_ALIGNED = 64
"""Maximum number of words, from the first to the last that differs, of two lists."""


def changed_spans(a: list[str], b: list[str]) -> list[Span]:
    """Return the spans of `a` and of `b` that differ; one span if they are too long to align."""
    shorter, start, end = min(len(a), len(b)), 0, 0
    while start < shorter and a[start] == b[start]:
        start += 1
    while end < shorter - start and a[-1 - end] == b[-1 - end]:
        end += 1
    left, right = a[start : len(a) - end], b[start : len(b) - end]
    if max(len(left), len(right)) > MAX_ALIGNED:
        return [(start, len(a) - end, start, len(b) - end)]
    if len(left) == len(right):
        # Rule 2 has 5 items, rule 3 has 2 items: word by word, unless fewer are equal that way.
        differs = [one != other for one, other in zip(left, right, strict=True)]
        if 2 * differs.count(False) >= len(left) - 1:
            return [(start + i, start + j, start + i, start + j) for i, j in _runs(differs)]
    # The alignment depends on the order of its arguments, the result must not.
    flipped = right < left
    pair = (right, left) if flipped else (left, right)
    codes = SequenceMatcher(None, *pair, autojunk=False).get_opcodes()
    spans = [(i, j, k, n) for code, i, j, k, n in codes if code != "equal"]
    if flipped:
        spans = [(k, n, i, j) for i, j, k, n in spans]
    return [(start + i, start + j, start + k, start + n) for i, j, k, n in spans]


def _runs(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each run of true flags."""
    start: int | None = None
    for n, flag in enumerate(flags):
        if flag and start is None:
            start = n
        elif not flag and start is not None:
            yield start, n
            start = None
    if start is not None:
        yield start, len(flags)
