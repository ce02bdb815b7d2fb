"""An empty recall says what exists, in counts of the scopes that its reader may read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Recollection
from graphmem.rules import absence

KINDS = ("memory", "belief", "turn", "episode")
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(KINDS),
            "status": st.sampled_from(["current", "archived"]),
            "searched": st.booleans(),
            "later": st.booleans(),
            "items": st.integers(1, 1_000),
        }
    ),
    unique_by=lambda row: (row["kind"], row["status"], row["searched"], row["later"]),
)


def reason(rows: list[Any], found: Recollection | None = None, **search: Any) -> str:
    asked = {
        "kinds": ("memory", "belief"),
        "filters": (),
        "scopes": ("ann", "global"),
        "statuses": ("current",),
        **search,
    }
    return absence.reason(rows, absence.Search(**asked), found or Recollection(bites=()))


def row(kind: str, items: int, **other: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "status": "current",
        "searched": True,
        "later": False,
        "items": items,
        **other,
    }


@pytest.mark.parametrize(
    ("rows", "search", "expected"),
    [
        ([], {}, "nothing is stored in scope 'ann' or 'global'"),
        ([], {"scopes": tuple("abcde")}, "nothing is stored in scope 'a' or 'b' or 'c' or 2 more"),
        ([row("memory", 3)], {}, "nothing visible to this handle matches"),
        ([row("turn", 2), row("episode", 1)], {}, "not searched: 2 turns, 1 episode"),
        ([row("memory", 2, searched=False)], {}, "in other read scopes: 2 memories"),
        ([row("memory", 1, later=True)], {}, "later than as_of: 1 memory"),
        (
            [row("memory", 1_000), row("belief", 1)],
            {"filters": ("tags", "since")},
            "excluded by tags, since: at least 1,000 memories, 1 belief",
        ),
        ([row("belief", 4, status="archived")], {}, "4 hidden: archived"),
    ],
)
def test_a_reason_names_what_exists(rows: list[Any], search: dict[str, Any], expected: str) -> None:
    assert reason(rows, **search) == expected


def test_what_is_not_similar_is_neither_hidden_nor_excluded() -> None:
    found = Recollection(bites=(), best_similarity=0.1, min_score=0.3)
    said = reason([row("memory", 3), row("turn", 2)], found, filters=("tags",))
    assert said == (
        "nothing is similar enough to the question (0.10, below 0.30; a min_score of -1 shows "
        "the nearest); not searched: 2 turns"
    )


@given(rows=ROWS, kinds=st.sets(st.sampled_from(KINDS)), filters=st.sets(st.just("tags")))
def test_nothing_is_said_to_be_stored_only_if_that_is_so(
    rows: list[Any], kinds: set[str], filters: set[str]
) -> None:
    said = reason(rows, kinds=kinds, filters=sorted(filters))
    here = [one for one in rows if one["searched"]]
    assert said.startswith("nothing is stored") == (not rows)
    elsewhere = sum(one["items"] for one in rows if not one["searched"])
    counted = re.search(r"in other read scopes: (.*?)(?:;|$)", said)
    assert bool(counted) == bool(elsewhere)
    for one in here:
        if one["kind"] not in kinds:
            assert "not searched" in said
