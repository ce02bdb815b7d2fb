"""The figures of docs/evidence/belief-quality.md, drawn from the tables of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import Cell, Row
from research.beliefs.leaders import ONE, RULES
from research.beliefs.many_formula import Curves
from research.beliefs.sweeps import FLAGGED, SWEPT
from research.plotting import COLOURS, STYLE, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED_MARGINS = (0.05, 0.1, 0.2)
MARKERS = "osD^vx"


def draw(
    folder: Path, tables: Mapping[str, Sequence[Row]], curves: Mapping[str, Curves]
) -> list[Path]:
    """Write the figures as SVG and return their paths.

    Args:
        folder: Output folder, created if missing.
        tables: Rows by title, as in the report of a run.
        curves: Reliability curves by rule, by data set.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figures = {
            "one-noise": Figure(figsize=(7.5, 4.6), layout="constrained"),
            "one-sweeps": Figure(figsize=(9.5, 3.6), layout="constrained"),
            "many-calibration": Figure(figsize=(7.5, 3.6), layout="constrained"),
            "sprt-errors": Figure(figsize=(7.5, 3.4), layout="constrained"),
        }
        _noise(figures["one-noise"], tables["ONE, now"])
        _sweeps(figures["one-sweeps"], tables)
        _calibration(figures["many-calibration"], curves)
        _errors(figures["sprt-errors"], tables["SPRT, simulated evidence"])
        return save(folder, figures)


def _noise(figure: Figure, rows: Sequence[Row]) -> None:
    axes = figure.subplots()
    places = range(len(rows))
    for rule, colour, marker in zip(RULES, COLOURS, MARKERS, strict=False):
        shares = [_number(row[rule]) for row in rows]
        axes.plot(
            shares,
            places,
            marker,
            color=colour,
            label=rule,
            markersize=7 if rule == ONE else 5,
            zorder=3 if rule == ONE else 2,
        )
    axes.set_yticks(places, [str(row["scenario"]) for row in rows])
    axes.invert_yaxis()
    axes.grid(axis="both", alpha=0.3)
    axes.set_xlabel("leader is the value in force, now (%)")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)


def _sweeps(figure: Figure, tables: Mapping[str, Sequence[Row]]) -> None:
    by_kappa, by_tau, by_margin = figure.subplots(1, 3)
    kappas = tables["ONE, sweep of kappa"][:-1]
    taus = tables["ONE, sweep of tau"][:-1]
    for scenario, colour in zip(SWEPT, COLOURS, strict=True):
        by_kappa.plot(
            [_number(row["kappa"]) for row in kappas],
            [_number(row[scenario]) for row in kappas],
            "o-",
            markersize=3,
            color=colour,
            label=scenario,
        )
        by_tau.plot(
            range(len(taus)),
            [_number(row[scenario]) for row in taus],
            "o-",
            markersize=3,
            color=colour,
        )
    by_tau.set_xticks(range(len(taus)), [_day_count(row["tau days"]) for row in taus])
    by_kappa.set_ylabel("right now (%)")
    by_kappa.set_xlabel("κ")
    by_tau.set_xlabel("τ, days")
    colours = dict(zip(SWEPT, COLOURS, strict=True))
    for scenario in FLAGGED:
        rows = [
            row
            for row in tables["ONE, sweep of the margin"]
            if row["scenario"] == scenario and row["kappa"] == 2
        ]
        right = [_number(row["flagged of the right"]) for row in rows]
        wrong = [_number(row["flagged of the wrong"]) for row in rows]
        by_margin.plot(right, wrong, "o-", markersize=3, color=colours[scenario])
        for row, x, y in zip(rows, right, wrong, strict=True):
            if row["margin"] in NAMED_MARGINS:
                by_margin.annotate(f" {row['margin']}", (x, y), fontsize=7, va="top")
    by_margin.set_xlabel("right leaders flagged (%)")
    by_margin.set_ylabel("wrong leaders flagged (%)")
    for axes in (by_kappa, by_tau, by_margin):
        axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)


def _calibration(figure: Figure, curves: Mapping[str, Curves]) -> None:
    panels: Sequence[Axes] = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, (name, by_rule) in zip(panels, curves.items(), strict=True):
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1)
        for (rule, points), colour, marker in zip(by_rule.items(), COLOURS, MARKERS, strict=False):
            axes.plot(
                [p for p, _, _ in points],
                [true for _, true, _ in points],
                f"{marker}-",
                markersize=4,
                color=colour,
                label=rule if axes is panels[0] else None,
            )
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("stated probability")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("share true")
    figure.legend(loc="outside upper center", ncols=4, frameon=False)


def _errors(figure: Figure, rows: Sequence[Row]) -> None:
    panels: Sequence[Axes] = figure.subplots(1, 2, sharey=True)
    labels = [_setup(row) for row in rows]
    kinds = (("false promotions", "promotions ±", 5), ("false demotions", "demotions ±", 10))
    for axes, (kind, noise, tolerated), colour in zip(panels, kinds, COLOURS, strict=False):
        axes.barh(
            range(len(rows)),
            [_number(row[kind]) for row in rows],
            xerr=[_number(row[noise]) for row in rows],
            color=colour,
            alpha=0.8,
        )
        axes.axvline(tolerated, color="black", linewidth=1, linestyle="--")
        axes.set_xlabel(f"{kind} (%), tolerated {tolerated}")
        axes.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(rows)), labels)
    panels[0].invert_yaxis()


def _setup(row: Row) -> str:
    label = f"{row['reliability']}"
    if row["strength"] != row["reliability"]:
        label += f" claimed as {row['strength']}"
    if row["pieces an episode"] != 1:
        label += ", echoes" + (" pooled" if row["pooled"] else "")
    return label


def _number(cell: Cell) -> float:
    return float("nan") if cell is None else float(cell)


def _day_count(cell: Cell) -> str:
    return "∞" if isinstance(cell, str) else f"{_number(cell):.0f}"
