"""Retractions: the newest known event of a tree holds, and cancels at odd depth."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.retraction import Retract, retracted
from tests.rules.strategies_histories import BASE

hours = st.integers(0, 4).map(lambda hour: BASE + timedelta(hours=hour))


@st.composite
def trees(draw: st.DrawFn) -> list[Retract]:
    """Draw retractions of the events x and y and of one another, never in a ring."""
    names = draw(st.permutations([f"r{n}" for n in range(draw(st.integers(0, 7)))]))
    return [
        Retract(name, draw(st.sampled_from(["x", "y", *names[:place]])), draw(hours), draw(hours))
        for place, name in enumerate(names)
    ]


def words_on(target: str, known: list[Retract], depth: int = 1) -> list[tuple[datetime, str, int]]:
    """Return who speaks of `target`, directly or by way of others, and at what depth."""
    return [
        word
        for r in known
        if r.target == target
        for word in [(r.at, r.id, depth), *words_on(r.id, known, depth + 1)]
    ]


@given(trees(), st.none() | hours)
def test_the_newest_known_word_of_the_tree_decides(
    retractions: list[Retract], known: datetime | None
) -> None:
    seen = [r for r in retractions if known is None or r.recorded_at <= known]
    found = retracted(retractions, known)
    for name in ("x", "y", *(r.id for r in retractions)):
        words = words_on(name, seen)
        assert (name in found) == (bool(words) and max(words)[2] % 2 == 1)


def on(hour: int, name: str, target: str, *, recorded: int | None = None) -> Retract:
    at = BASE + timedelta(hours=hour)
    return Retract(name, target, at, at if recorded is None else BASE + timedelta(hours=recorded))


def test_what_was_not_known_then_does_not_count() -> None:
    tree = [on(1, "r1", "x", recorded=4), on(2, "r2", "r1", recorded=2)]
    assert retracted(tree, BASE + timedelta(hours=1)) == frozenset()
    # It names what has not arrived.
    assert retracted(tree, BASE + timedelta(hours=3)) == {"r1"}
    assert retracted(tree, BASE + timedelta(hours=4)) == {"r1"}


def test_retractions_of_one_another_come_to_an_end() -> None:
    ring = [on(1, "r1", "r2"), on(2, "r2", "r1")]
    assert retracted(ring) == {"r1"}
    assert retracted([on(1, "r1", "r1")]) == {"r1"}
