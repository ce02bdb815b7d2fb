"""Pairs of sentences by kind: two things, one thing with a new value, one fact in other words.

The frames of each kind are split by a hash into a tuning half, against which the rules may be
written, and a kept half, whose errors are not read. A frame is in one half with all of its pairs.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from graphmem.english import changes, repeats
from graphmem.english.changes import Change
from graphmem.english.versions import Statement, outdated
from graphmem.rules import duplicates

Half = Literal["tuning", "kept"]
Relation = Literal["parallel", "changed", "restated"]
PARALLEL: Relation = "parallel"
CHANGED: Relation = "changed"
RESTATED: Relation = "restated"
RELATIONS: tuple[Relation, ...] = (PARALLEL, CHANGED, RESTATED)
HALVES: tuple[Half, ...] = ("tuning", "kept")
_SEPARATOR = " / "


class Case(NamedTuple):
    """Two sentences, the kind of their things, and the half of the corpus that has them."""

    relation: Relation
    half: Half
    kind: str
    first: str
    second: str


class Judged(NamedTuple):
    """The verdicts about the second sentence of a pair after the first."""

    merged: bool
    proposed: bool
    replaced: bool
    marked: bool
    joined: bool


@cache
def cases() -> tuple[Case, ...]:
    """Return every pair of the corpus."""
    corpus = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    found: list[Case] = []
    for kind, table in corpus["kinds"].items():
        things = [one.split(_SEPARATOR) for one in table["things"]]
        values = [one.split(_SEPARATOR) for one in table["values"]]
        for half, frame in _halved(table["frames"]):
            found += _framed(kind, half, frame, things, values)
    for relation, name in ((PARALLEL, "both"), (CHANGED, "changed"), (RESTATED, "restated")):
        for kind, pairs in corpus[name].items():
            for half, pair in _halved(pairs):
                first, second = pair.split(_SEPARATOR)
                found.append(Case(relation, half, kind, first, second))
    return tuple(found)


def _framed(
    kind: str,
    half: Half,
    frame: str,
    things: Sequence[Sequence[str]],
    values: Sequence[Sequence[str]],
) -> Iterator[Case]:
    """Yield the pairs of one frame."""
    stated, reworded = frame.split(_SEPARATOR)
    for n, ((thing, other), (old, new)) in enumerate(zip(things, values, strict=True)):
        first = _filled(stated, thing, old)
        # The other thing has the same value, or another one.
        yield Case(PARALLEL, half, kind, first, _filled(stated, other, new if n % 2 else old))
        yield Case(CHANGED, half, kind, first, _filled(stated, thing, new))
        yield Case(RESTATED, half, kind, first, _filled(reworded, thing, old))


def _filled(frame: str, thing: str, value: str) -> str:
    text = frame.format(thing=thing, value=value)
    return text[0].upper() + text[1:] if text[0].islower() and thing[0].islower() else text


def _halved(texts: Sequence[str]) -> Iterator[tuple[Half, str]]:
    """Yield each text with its half; both halves have as many, but for one."""
    order = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())
    for n, text in enumerate(order):
        yield HALVES[n % 2], text


def judged(case: Case) -> Judged:
    """Return what the words of a pair decide; similarities only narrow it."""
    change = changes.between(case.first, case.second)
    both = [Statement(str(n), text, _START + timedelta(days=n)) for n, text in enumerate(case[3:])]
    one, other = map(repeats.read, case[3:])
    return Judged(
        merged=not duplicates.difference(case.first, case.second),
        proposed=change > Change.NONE,
        replaced=change is Change.CERTAIN,
        marked=any(outdated(both, asked) for asked in (case.first, case.second, "anything")),
        joined=one.restates(other) or other.restates(one),
    )


_START = datetime(2026, 1, 1, tzinfo=UTC)
