"""Figures of the attention benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphmem.rules.rating import STANDARD
from research.attention.measures import moved, window
from research.attention.ratings import DEFAULT
from research.attention.scenarios import ENDS, STABLE, SimulatedRun
from research.plotting import COLOURS, STYLE, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from research.attention.adversaries import ItemTrace
    from research.attention.pruning import Size

WINDOWS = range(50, ENDS[-1] + 1, 50)
"""Numbers of sessions for which the rating changes are drawn."""
BOUNDARIES = (STANDARD.low, STANDARD.medium, STANDARD.high)


def draw(
    folder: Path,
    runs: Mapping[str, Sequence[SimulatedRun]],
    traces: Mapping[str, Sequence[ItemTrace]],
    sizes: Mapping[str, Sequence[Size]],
) -> list[Path]:
    """Write the figures as SVG and return their paths.

    Args:
        folder: Output folder, created if missing.
        runs: Worlds, by the name of their interests.
        traces: Ratings of the adversaries' items, by adversary.
        sizes: Sizes of short-term memory, by pruning rule.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        ratings = Figure(figsize=(9.5, 3.4), layout="constrained")
        spread, settling = ratings.subplots(1, 2)
        _spread(spread, runs[STABLE][0])
        _settling(settling, runs)
        harm = Figure(figsize=(9.5, 3.8), layout="constrained")
        items, memory = harm.subplots(1, 2)
        _items(items, traces)
        _memory(memory, sizes)
        return save(folder, {"attention-ratings": ratings, "attention-harm": harm})


def _spread(axes: Axes, run: SimulatedRun) -> None:
    """Draw the distribution of ratings."""
    bins = np.arange(800.0, 2_025.0, 25.0)
    for end, colour in zip(ENDS, COLOURS, strict=False):
        elo = run.rated(DEFAULT)[end].elo
        counts, _ = np.histogram(elo[~np.isnan(elo)], bins)
        axes.stairs(counts, bins, color=colour, label=f"{end:,} sessions")
    for boundary in BOUNDARIES:
        axes.axvline(boundary, color="black", linewidth=1, linestyle="--")
    axes.set_yscale("log")
    axes.set_xlabel("rating, not faded; dashed: tiers")
    axes.set_ylabel("memories")
    axes.legend(frameon=False)


def _settling(axes: Axes, runs: Mapping[str, Sequence[SimulatedRun]]) -> None:
    """Draw the rating changes in the last tenth of the sessions."""
    for (name, many), colour in zip(runs.items(), COLOURS, strict=False):
        shares = np.mean([_moved(run) for run in many], axis=0)
        axes.plot([*WINDOWS], 100 * shares, color=colour, label=f"{name} interests")
    axes.axhline(10, color="black", linewidth=1, linestyle="--")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("sessions; dashed: the aim")
    axes.set_ylabel("moved in the last tenth (%)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)


def _moved(run: SimulatedRun) -> list[float]:
    rated = run.fold(WINDOWS)
    return [moved(rated[window(end)], rated[end]) for end in WINDOWS]


def _items(axes: Axes, traces: Mapping[str, Sequence[ItemTrace]]) -> None:
    """Draw the ratings of the adversaries' items."""
    for (name, many), colour in zip(traces.items(), COLOURS, strict=False):
        elos = np.mean([trace.elos for trace in many], axis=0)
        axes.plot(np.arange(1, len(elos) + 1), elos, color=colour, label=name)
    for boundary in BOUNDARIES:
        axes.axhline(boundary, color="black", linewidth=1, linestyle="--")
    axes.set_xlabel("sessions; dashed: tiers")
    axes.set_ylabel("rating of the adversary's item")
    axes.figure.legend(loc="outside upper center", ncols=2, frameon=False)


def _memory(axes: Axes, sizes: Mapping[str, Sequence[Size]]) -> None:
    """Draw the growth of short-term memory."""
    drawn = {name: [size.megabytes for size in many] for name, many in sizes.items()}
    [same, *_] = sizes.values()
    drawn["without pruning"] = [size.unpruned_megabytes for size in same]
    for (name, megabytes), colour in zip(drawn.items(), COLOURS, strict=False):
        axes.plot([size.sessions for size in same], megabytes, "o-", color=colour, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("sessions")
    axes.set_ylabel("short-term memory (MB)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
