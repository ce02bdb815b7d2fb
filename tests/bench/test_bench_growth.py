"""The benchmark of growth: exponents, what is judged, figures, and every curve at small sizes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from rich.console import Console

from bench import growth, growth_curves
from bench.growth import Cost
from bench.progress import Steps

SIZES = (10, 100, 1_000, 10_000)


def costs(call: str, *hits: float) -> list[Cost]:
    return [
        Cost("aliases", size, call, one, 1.0, "alias/list")
        for size, one in zip(SIZES, hits, strict=True)
    ]


def test_the_exponent_is_the_slope_of_logarithms() -> None:
    for power in (0.0, 0.5, 1.0, 2.0):
        assert growth.exponent(SIZES, [3 * n**power for n in SIZES]) == pytest.approx(power)
    assert growth.exponent([10], [5]) == 0.0


@pytest.mark.parametrize(
    ("hits", "met"),
    [
        ([100.0] * 4, True),
        ([100 * math.log(n) for n in SIZES], True),
        ([1_000.0, 1_010, 1_100, 2_000], False),
        # So few hits may be those of one property.
        ([1.0, 2, 4, 8], None),
    ],
    ids=["constant", "logarithm", "linear at the end", "few"],
)
def test_growth_is_judged_at_the_end(hits: list[float], met: bool | None) -> None:  # noqa: FBT001
    assert growth.grown("aliases", "observe", costs("observe", *hits))["met"] is met


def test_a_documented_limit_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    known = growth_curves.Curve(growth_curves._aliases, limits={"list": "reads all"})
    monkeypatch.setattr(growth, "CURVES", {"aliases": known})
    row = growth.grown("aliases", "list", costs("list", 100, 1_000, 10_000, 100_000))
    assert (row["limit"], row["met"]) == ("reads all", None)
    assert row["exponent"] == pytest.approx(1.0)


def test_each_curve_gets_a_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    [path] = growth.draw(tmp_path, costs("observe", 1, 2, 3, 4) + costs("current", 0, 0, 0, 0))
    assert path.name == "growth-aliases.svg"
    assert "observe" in path.read_text("utf-8")


@pytest.mark.system
@pytest.mark.server
def test_every_curve_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"WARM_UP": 0, "RUNS": 1, "PROFILES": 1}.items():
        monkeypatch.setattr(growth, name, value)
    monkeypatch.setattr(growth_curves, "TOTAL", 20)
    monkeypatch.setattr(growth_curves, "BESIDE", 20)
    grown, every = growth.measure([], [4, 8], Steps(Console(quiet=True))).tables
    assert {row["curve"] for row in grown.rows} == {*growth_curves.CURVES}
    assert len(every.rows) == 2 * len(grown.rows)
    assert all(row["ms"] and row["most hits"] for row in every.rows)
    for name, curve in growth_curves.CURVES.items():
        assert curve.limits.keys() <= {row["call"] for row in grown.rows if row["curve"] == name}
