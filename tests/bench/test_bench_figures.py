"""Reports of benchmarks: percentiles, cells, missed targets."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.figures import Cell, Report, Row, Table, percentile, shown, spread


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.floats(0, 1, exclude_min=True),
)
def test_at_least_the_share_lies_at_or_below_a_percentile(
    values: list[float], share: float
) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(v <= found for v in values) >= share * len(values)
    assert sum(v < found for v in values) < share * len(values)


def test_a_spread_names_its_columns() -> None:
    assert spread("ms", [3.0, 1.0, 2.0]) == {"ms": 2.0, "ms min": 1.0, "ms max": 3.0}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"),
        (True, "yes"),
        (12_345, "12,345"),
        (1234.5, "1,234"),
        (0.98765, "0.988"),
        ("x", "x"),
    ],
)
def test_cells_are_short(cell: Cell, text: str) -> None:
    assert shown(cell) == text


def test_only_a_missed_target_is_missed() -> None:
    fine: Row = {"what": "a", "met": True}
    unjudged: Row = {"what": "b", "met": None}
    missed: Row = {"what": "c", "met": False}
    assert not Report("x", [Table("t", [fine, unjudged])]).missed
    assert Report("x", [Table("t", [fine]), Table("u", [unjudged, missed])]).missed


def test_the_json_carries_every_row_and_the_machine() -> None:
    report = Report("x", [Table("t", [{"a": 1}])], notes=["n"], setting={"neo4j": "1"})
    kept = json.loads(report.as_json())
    assert kept["tables"] == {"t": [{"a": 1}]}
    assert kept["machine"]["processors"] >= 1
    assert (kept["notes"], kept["setting"]) == (["n"], {"neo4j": "1"})
