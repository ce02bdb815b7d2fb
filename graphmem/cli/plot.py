"""Plots of belief over time: plotext for the terminal, matplotlib for files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path

import click

from graphmem.cli.console import shortened
from graphmem.errors import InvalidInputError
from graphmem.extras import library
from graphmem.model import Timeline
from graphmem.rules import display

HEIGHT = 22
"""Height of a plot in the terminal, in rows."""
INCHES = (9.0, 4.5)
DOTS_PER_INCH = 150
COLUMNS = 3
FORMATS = (".png", ".svg")
COLOURS = {
    "bright_blue": 12,
    "bright_green": 10,
    "bright_red": 9,
    "bright_cyan": 14,
    "bright_magenta": 13,
}
"""Colours by click name and plotext number; further curves reuse them in order."""
LONGEST_LABEL = 40
SHORT = timedelta(days=3)
"""Timelines below this length show hours on the time axis."""


@dataclass(frozen=True, slots=True)
class PlotLine:
    """One line of a plot; each value holds until the next point."""

    label: str
    at: list[datetime]
    values: list[float]


def curves(found: Timeline) -> Iterator[PlotLine]:
    """Yield a line per candidate of a slot, or the belief and the confidence of its test."""
    for series in found.series:
        at = [point.at for point in series.points]
        is_slot = all(point.confidence is None for point in series.points)
        label = str(series.object) if is_slot else "belief"
        yield PlotLine(shown(label), at, [point.belief for point in series.points])
        if not is_slot:
            confidences = [point.confidence or 0.0 for point in series.points]
            yield PlotLine("confidence of the test", at, confidences)


def title(found: Timeline) -> str:
    """Return the title of a plot."""
    if len(found.series) == 1 and found.series[0].points[0].confidence is not None:
        return shown(found.series[0].statement)
    return shown(f"{found.subject} {found.predicate}")


def shown(text: str) -> str:
    """Return a text on one short line."""
    return shortened(display.line(" ".join(text.split())), LONGEST_LABEL)


def in_terminal(width: int) -> Callable[[Timeline], str]:
    """Return a function that draws a timeline as text."""
    plotext = library("plotext", "plot", "A plot")

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
            # Naive UTC timestamps: plotext would convert aware ones to local time.
            naive = [time.replace(tzinfo=None) for time in at]
            signal = figure.signal(naive, values, marker=plotext.marker("braille", code))
            figure.draw(signal.lines())
            legend.append(click.style(f"● {curve.label}", fg=name))
        # The legend is below the plot; inside, it would hide early high values.
        return f"{figure.build().string()}\n{'   '.join(legend)}"

    return draw


def to_file(path: Path) -> Callable[[Timeline], str]:
    """Return a function that writes a timeline to a file and returns a message."""
    if path.suffix.lower() not in FORMATS:
        raise InvalidInputError(f"{path.name}: the file name must end in {' or '.join(FORMATS)}.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"{path.parent}: the folder does not exist.")
    figures = library("matplotlib.figure", "plot", "A plot")

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
        return f"Written to {display.line(str(path))}."

    return draw


def _stepped(curve: PlotLine) -> tuple[list[datetime], list[float]]:
    """Return the corners of a step curve."""
    at, values = curve.at[:1], curve.values[:1]
    for time, value in zip(curve.at[1:], curve.values[1:], strict=True):
        at += [time, time]
        values += [values[-1], value]
    return at, values


def _literal(text: str) -> str:
    """Escape a text for matplotlib, which parses text between dollar signs as maths."""
    return text.replace("$", r"\$")


def _nothing(found: Timeline) -> str:
    return f"No beliefs about {shown(f'{found.subject} {found.predicate}')}."
