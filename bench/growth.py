"""Growth of the cost of calls with the size of what they touch.

Each curve changes one number: events of a memory, values of a slot, and so on. The cost of a call
is its number of database hits, which does not depend on the load of the machine; its time is a
second column. Searches in vector and full-text indexes have no hits, so read both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.figures import Cell, Report, Row, Table
from bench.growth_curves import CURVES, Curve, Place
from bench.hits import profiler
from bench.server import connected, fresh_server
from graphmem.testing import HashEmbedder
from research.plotting import COLOURS, STYLE, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bench.bare import Bare
    from bench.hits import Profiler
    from bench.progress import Steps
    from graphmem import GraphMem

WARM_UP, RUNS, PROFILES = 1, 5, 2
MAX_EXPONENT = 0.2
"""Maximum growth over the last step of a curve. A logarithm grows by 0.13 from the third to the
fourth decade, and by 0.30 from the first to the second."""
MARKERS = "osD^vx"
NOISE = 50.0
"""Hits below which a call is not judged."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one call at one size."""

    curve: str
    size: int
    call: str
    hits: float
    ms: float
    largest: str
    """Query with most of the hits."""


def measure(
    names: Sequence[str], sizes: Sequence[int], steps: Steps, *, figures: Path | None = None
) -> Report:
    """Return the growth of these curves.

    Args:
        names: names of curves; empty for all.
        sizes: sizes of each curve; empty for its own.
        steps: Receives the progress.
        figures: folder for a figure of each curve; None draws none.
    """
    chosen = {name: one for name, one in CURVES.items() if not names or name in names}
    costs, version = list[Cost](), ""
    shared = {name: curve for name, curve in chosen.items() if not curve.alone}
    if shared:
        with _server(steps) as (client, bare):
            version, counter = bare.server_version(), profiler(client)
            for name, curve in shared.items():
                for size in sizes or curve.sizes:
                    place = Place(client, bare, f"{name} {size}", size)
                    costs += _costs(name, curve, place, counter, steps)
    for name in chosen.keys() - shared.keys():
        for size in sizes or chosen[name].sizes:
            with _server(steps) as (client, bare):
                version = bare.server_version()
                place = Place(client, bare, "asked", size)
                costs += _costs(name, chosen[name], place, profiler(client), steps)
    rows = list(_grown(costs))
    if figures is not None:
        draw(figures, costs)
    return Report(
        name="growth",
        tables=[
            Table("growth of calls", rows),
            Table("each size", [_row(one) for one in costs]),
        ],
        notes=[
            "exponent: slope of log(hits) over log(size), all sizes. at the end: the same, last "
            f"two sizes; at most {MAX_EXPONENT} unless a limit is documented. ms: median of {RUNS} "
            f"calls, hits: mean of {PROFILES}.",
        ],
        setting={"neo4j": version, "embedder": "hash"},
    )


@contextmanager
def _server(steps: Steps) -> Iterator[tuple[GraphMem, Bare]]:
    with fresh_server(steps.say) as settings:
        # The log is written by every hundredth search.
        silent = settings.model_copy(update={"access_log": False})
        with connected(silent, HashEmbedder(), steps.say) as opened:
            yield opened


def _costs(
    name: str, curve: Curve, place: Place, counter: Profiler, steps: Steps
) -> Iterator[Cost]:
    steps.say(f"{name}: {place.size:,}")
    calls = curve.build(place)
    place.bare.await_indexes()
    for call, work in calls.items():
        with counter.counting() as hits:
            for _ in range(PROFILES):
                work()
        took = [_ms(work) for _ in range(WARM_UP + RUNS)][WARM_UP:]
        [(largest, _)] = hits.most_common(1)
        mean, ms = hits.total() / PROFILES, statistics.median(took)
        steps.say(f"  {call}: {mean:,.0f} hits, {ms:.3g} ms")
        yield Cost(name, place.size, call, mean, ms, largest)


def _ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1_000 * (time.perf_counter() - started)


def _grown(costs: Sequence[Cost]) -> Iterator[Row]:
    """Yield the growth of each call on each curve."""
    for curve, call in dict.fromkeys((one.curve, one.call) for one in costs):
        yield grown(curve, call, [one for one in costs if (one.curve, one.call) == (curve, call)])


def grown(curve: str, call: str, costs: Sequence[Cost]) -> dict[str, Cell]:
    """Return the growth of one call over sizes in ascending order."""
    hits, times = [one.hits for one in costs], [one.ms for one in costs]
    sizes = [one.size for one in costs]
    limit, end = CURVES[curve].limits.get(call), exponent(sizes[-2:], hits[-2:])
    judged = limit is None and len(costs) > 1 and hits[-1] > NOISE
    return {
        "curve": curve,
        "call": call,
        "hits": " ".join(f"{one:,.0f}" for one in hits),
        "exponent": exponent(sizes, hits),
        "at the end": end,
        "ms": " ".join(f"{one:.3g}" for one in times),
        "exponent of ms": exponent(sizes, times),
        "most hits": costs[-1].largest,
        "limit": limit,
        "met": end <= MAX_EXPONENT if judged else None,
    }


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """Return the slope of a line through the logarithms of sizes and costs."""
    if len(sizes) < 2:
        return 0.0
    slope, _ = np.polyfit(np.log(sizes), np.log(np.maximum(costs, 1e-3)), 1)
    return float(slope)


def _row(cost: Cost) -> dict[str, Cell]:
    return {
        "curve": cost.curve,
        "size": cost.size,
        "call": cost.call,
        "hits": round(cost.hits),
        "ms": cost.ms,
        "most hits": cost.largest,
    }


def draw(folder: Path, costs: Sequence[Cost]) -> list[Path]:
    """Write a figure of each curve as SVG and return their paths."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figures = dict[str, Figure]()
    with mpl.rc_context(STYLE):
        for name in dict.fromkeys(one.curve for one in costs):
            figure = Figure(figsize=(7.5, 3.4), layout="constrained")
            _plot(figure, name, [one for one in costs if one.curve == name])
            figures[f"growth-{name.replace(',', '').replace(' ', '-')}"] = figure
        return save(folder, figures)


def _plot(figure: Figure, name: str, costs: Sequence[Cost]) -> None:
    hits, times = figure.subplots(1, 2)
    for number, call in enumerate(dict.fromkeys(one.call for one in costs)):
        own = [one for one in costs if one.call == call]
        style = {
            "color": COLOURS[number % len(COLOURS)],
            "marker": MARKERS[number % len(MARKERS)],
            "markersize": 4,
            "label": call,
        }
        sizes = [one.size for one in own]
        hits.plot(sizes, [max(one.hits, 1) for one in own], **style)
        times.plot(sizes, [one.ms for one in own], **style)
    for axes, title in ((hits, "database hits"), (times, "ms")):
        axes.set(xscale="log", yscale="log", xlabel=name, title=title)
    times.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
