"""Which instants a timeline is read at, from the fragment alone."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.graph import catalog
from graphmem.graph.catalog import LANGUAGE
from tests.plugins.examples import few
from tests.plugins.graph import Look

# Whole numbers stand for instants: the fragment only compares and picks.
QUERY = (
    "UNWIND [0] AS row WITH range(1, $n) AS times\n"
    "// include: fragments/sample_instants.cypher\n"
    "RETURN instants"
)
READS = 100_000


def thinned(look: Look, n: int, points: int, given: list[int] | None = None) -> list[int]:
    text = LANGUAGE + catalog.expand(QUERY)
    [row] = look.rows(text, n=n, points=points, instants=given, valid=n + 1)
    found: list[int] = row["instants"]
    return found


@few
@given(n=st.integers(0, 300), points=st.integers(3, 100))
@example(n=59, points=60)
@example(n=60, points=60)
@example(n=1, points=3)
@example(n=50_000, points=60)
@example(n=600_000, points=60)
def test_they_are_no_more_than_wanted_and_hold_the_ends(look: Look, n: int, points: int) -> None:
    found = thinned(look, n, points)
    assert found == sorted(set(found))
    assert found[-1] == n + 1
    if n:
        assert (found[0], found[-2]) == (1, n)
    most = max(3, min(points, READS // (n + 1)))
    assert len(found) == min(n + 1, most)
    steps = [b - a for a, b in pairwise(found[:-1])]
    assert max(steps, default=0) - min(steps, default=0) <= 1


def test_those_that_are_given_are_taken(look: Look) -> None:
    assert thinned(look, 10, 3, [2, 4, 6, 8]) == [2, 4, 6, 8]
