"""Belief over time as a drawing: in the terminal by plotext, to a file by matplotlib."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import click

from graphmem.errors import ConfigurationError, InvalidInputError
from graphmem.model import Timeline
from graphmem.rules import display

HEIGHT = 22
"""Rows in a terminal."""
INCHES = (9.0, 4.5)
DOTS_PER_INCH = 150
COLUMNS = 3
"""Of the legend."""
FORMATS = (".png", ".svg")
COLOURS = {
    "bright_blue": 12,
    "bright_green": 10,
    "bright_red": 9,
    "bright_cyan": 14,
    "bright_magenta": 13,
}
"""Names as click has them, numbers as plotext has them; further curves begin again."""
LONGEST_LABEL = 40
SHORT = timedelta(days=3)
"""A stretch up to this is told by the hour."""


@dataclass(frozen=True, slots=True)
class PlotLine:
    """One line of a drawing; a value holds until the next one was read."""

    label: str
    at: list[datetime]
    values: list[float]


def curves(found: Timeline) -> Iterator[PlotLine]:
    """Yield what to draw: of a slot its values, else a belief and its test's confidence."""
    for series in found.series:
        at = [point.at for point in series.points]
        is_slot = all(point.confidence is None for point in series.points)
        label = str(series.object) if is_slot else "belief"
        yield PlotLine(shown(label), at, [point.belief for point in series.points])
        if not is_slot:
            confidences = [point.confidence or 0.0 for point in series.points]
            yield PlotLine("confidence of the test", at, confidences)


def title(found: Timeline) -> str:
    """Return what a drawing is about."""
    if len(found.series) == 1 and found.series[0].points[0].confidence is not None:
        return shown(found.series[0].statement)
    return shown(f"{found.subject} {found.predicate}")


def shown(text: str) -> str:
    """Return a text on one short line."""
    line = display.line(" ".join(text.split()))
    return line if len(line) <= LONGEST_LABEL else line[: LONGEST_LABEL - 1] + "…"


def in_terminal(width: int) -> Callable[[Timeline], str]:
    """Return what draws a timeline with characters.

    Args:
        width: columns of the terminal.

    Raises:
        ConfigurationError: plotext is not installed.
    """
    plotext = _library("plotext")

    def draw(found: Timeline) -> str:
        if not found.series:
            return _nothing(found)
        form = "%m-%d %H:%M" if found.instants[-1] - found.instants[0] < SHORT else "%Y-%m-%d"
        figure = plotext.figure
        figure.clear()
        figure.plot_size(width, HEIGHT)
        figure.date("x").activate(form=form)
        figure.ruler("y").lim(0, 1)
        figure.title(title(found))
        legend = []
        for curve, (name, code) in zip(curves(found), cycle(COLOURS.items()), strict=False):
            at, values = _stepped(curve)
            # Without their zone, which is UTC, instants are not shown in the machine's own.
            plain = [instant.replace(tzinfo=None) for instant in at]
            signal = figure.signal(plain, values, marker=plotext.marker("braille", code))
            figure.draw(signal.lines())
            legend.append(click.style(f"● {curve.label}", fg=name))
        # Below the drawing: a legend inside would hide what is early and high.
        return f"{figure.build().string()}\n{'   '.join(legend)}"

    return draw


def to_file(path: Path) -> Callable[[Timeline], str]:
    """Return what draws a timeline to a file and says so.

    Args:
        path: of the file, ending in .png or .svg.

    Raises:
        InvalidInputError: it ends otherwise, or its folder is not there.
        ConfigurationError: matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise InvalidInputError(f"{path.name}: a drawing ends in {' or '.join(FORMATS)}.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"{path.parent}: there is no such folder.")
    figures = _library("matplotlib.figure")

    def draw(found: Timeline) -> str:
        if not found.series:
            return _nothing(found)
        figure = figures.Figure(figsize=INCHES, dpi=DOTS_PER_INCH, layout="constrained")
        axes = figure.add_subplot(title=_literal(title(found)), ylabel="belief", ylim=(-0.02, 1.02))
        drawn = [
            axes.plot(curve.at, curve.values, drawstyle="steps-post", marker=".")[0]
            for curve in curves(found)
        ]
        axes.grid(alpha=0.3)
        figure.autofmt_xdate()
        labels = [_literal(curve.label) for curve in curves(found)]
        figure.legend(drawn, labels, loc="outside lower center", ncols=COLUMNS)
        figure.savefig(path)
        return f"Drawn to {display.line(str(path))}."

    return draw


def _stepped(curve: PlotLine) -> tuple[list[datetime], list[float]]:
    """Return the corners of a curve whose values hold until the next one."""
    at, values = curve.at[:1], curve.values[:1]
    for instant, value in zip(curve.at[1:], curve.values[1:], strict=True):
        at += [instant, instant]
        values += [values[-1], value]
    return at, values


def _literal(text: str) -> str:
    """Return a text as matplotlib shows it, which takes what stands between dollars for maths."""
    return text.replace("$", r"\$")


def _nothing(found: Timeline) -> str:
    return f"Nothing is known of {shown(f'{found.subject} {found.predicate}')}."


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ConfigurationError(
            f"To draw this, {package} is needed, and it is not installed.",
            hint="pip install 'graphmem[plot]'",
        ) from None
