"""Effect of an adversary on the ratings of its own item and of all others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bench.figures import Cell, Row
from graphmem.rules.rating import BY_SEARCH, STANDARD
from research.attention.measures import Found, measured, window
from research.attention.ratings import DEFAULT, Counted, Ratings, Variant, fold, play
from research.attention.scenarios import ENDS, SimulatedRun
from research.attention.world import ADVERSARY, Floats, Harm, Log, World, with_adversary
from tests.oracles import rating
from tests.oracles.rating import Result, Standing

UNGATED = replace(DEFAULT, by=replace(STANDARD, gate_factor=1.0))
AVERAGED = replace(DEFAULT, averaged=True).times(8)
"""With one of ten results opened, a search changes ratings about as much as by default."""
ASKS = "asks for its item and opens it"
STUFFED = "its item is found for anything, far"
BURIES = "asks for an item and opens all others"
SEARCH = Variant(by=BY_SEARCH, counted=Counted.SEARCHES, averaged=True)
RULES = {"source": DEFAULT, "search": SEARCH}
"""The rules of `rating_rule`."""
BEHAVIOURS = {
    ASKS: Harm(),
    f"{ASKS}, 50 results": Harm(limit=50),
    STUFFED: Harm(stuffed=True),
    BURIES: Harm(buries=True),
}
BY_SEARCHES = "rule search"
HARMS = {
    ASKS: (Harm(), DEFAULT),
    f"{ASKS}, 50 results": (Harm(limit=50), DEFAULT),
    f"{ASKS}, 50 results, a search is one game, K × 8": (Harm(limit=50), AVERAGED),
    STUFFED: (Harm(stuffed=True), DEFAULT),
    f"{STUFFED}, no gate": (Harm(stuffed=True), UNGATED),
    BURIES: (Harm(buries=True), DEFAULT),
    **{f"{name}, {BY_SEARCHES}": (harm, SEARCH) for name, harm in BEHAVIOURS.items()},
}
"""Adversaries by name: their behaviour, and the way to rate."""
WIDE = (10, 20, 51, 200)
NOTICED = 50.0
"""Rating change, in points, from which a change counts as noticeable."""


@dataclass(slots=True)
class ItemTrace:
    """Ratings of an item over a run, and of all memories at its checkpoints."""

    elos: list[float] = field(default_factory=list)
    """Rating of the item after each session."""
    reached: int | None = None
    """Number of the adversary's searches until the item was HIGH, or VERY_LOW if it is buried."""
    kept: dict[int, Floats] = field(default_factory=dict)
    """All ratings, by number of sessions; unrated memories have the initial rating."""


def target(world: World, log: Log) -> int:
    """Return a memory that no honest agent opens."""
    opened = np.zeros(world.setting.memories, dtype=bool)
    for asked in log:
        opened[asked.items[asked.opened]] = True
    return int(np.random.default_rng([world.seed, 3]).choice(np.flatnonzero(~opened)))


def trace_item(
    world: World,
    log: Log,
    item: int,
    ends: Collection[int],
    harm: Harm | None = None,
    by: Variant = DEFAULT,
) -> ItemTrace:
    """Return the ratings of an item over a run; without `harm`, those of the honest run.

    Args:
        world: The world that is searched.
        log: Log of the honest agents.
        item: The item to follow.
        ends: Numbers of sessions after which all ratings are kept.
        harm: Behaviour of the adversary; None for none.
        by: The way to rate.
    """
    now, trace, searches = Ratings.unrated(world.setting.memories), ItemTrace(), 0
    sessions = log[-1].session + 1
    whole = [*(with_adversary(world, log, harm, item) if harm else log)]
    for asked, following in zip(whole, [*whole[1:], None], strict=True):
        play(now, asked, by)
        searches += asked.agent == ADVERSARY
        if trace.reached is None and _reached(float(now.elo[item]), harm, by):
            trace.reached = searches
        if following is None or following.session > asked.session:
            everywhere = np.where(np.isnan(now.elo), by.by.initial, now.elo)
            trace.elos.append(float(everywhere[item]))
            if len(trace.elos) in {*ends, sessions}:
                trace.kept[len(trace.elos)] = everywhere
    return trace


def row(
    name: str,
    traces: Sequence[ItemTrace],
    honest: Sequence[ItemTrace],
    item: Sequence[int],
    by: Variant = DEFAULT,
) -> Row:
    """Return the effect of one adversary: means over worlds."""
    ends = sorted(traces[0].kept)
    reached = [trace.reached for trace in traces]
    cells: dict[str, Cell] = {"adversary": name}
    cells |= {f"its item at {n:,}": _mean(s.elos[n - 1] for s in traces) for n in ends}
    cells["its searches to HIGH or VERY_LOW"] = (
        None if None in reached else _mean(searches or 0 for searches in reached)
    )
    changed = [_changed(*pair, ends[-1], by) for pair in zip(traces, honest, item, strict=True)]
    cells["most that another lost"] = _mean(-float(change.min()) for change, _ in changed)
    cells[f"others lower by {NOTICED:.0f}"] = _mean(
        float((change <= -NOTICED).sum()) for change, _ in changed
    )
    cells["others made HIGH"] = _mean(float(raised) for _, raised in changed)
    return cells


def aims(
    runs: Sequence[SimulatedRun], items: Sequence[int], ends: tuple[int, int] = (ENDS[0], ENDS[-1])
) -> list[Row]:
    """Return the aims by both rules, without and with each adversary, in percent: means of worlds.

    The adversary's sessions change ratings; only the openings and results of the others are
    counted. `ends` are the numbers of sessions after which they are measured.
    """
    return [
        {"rule": rule, "adversary": name or "none", **_aims(runs, items, harm, by, ends)}
        for name, harm in {"": None, **BEHAVIOURS}.items()
        for rule, by in RULES.items()
    ]


def _aims(
    runs: Sequence[SimulatedRun],
    items: Sequence[int],
    harm: Harm | None,
    by: Variant,
    ends: tuple[int, int],
) -> Row:
    found: dict[int, list[Found]] = {end: [] for end in ends}
    for run, item in zip(runs, items, strict=True):
        log = run.log if harm is None else list(with_adversary(run.world, run.log, harm, item))
        ratings = fold(log, run.world.setting.memories, by, {*ends, *map(window, ends)})
        for end in ends:
            found[end].append(measured(run.log, ratings, end, by))
    last = found[ends[-1]]
    cells: Row = {f"moved at {end:,}": _mean(100 * one.moved for one in found[end]) for end in ends}
    return {
        **cells,
        "openings so far HIGH": _mean(100 * one.behind for one in last),
        "openings to come HIGH": _mean(100 * one.ahead for one in last),
        "top five HIGH": _mean(100 * one.top for one in last),
        "pack smaller": _mean(100 * one.saved for one in last),
        "HIGH": _mean(one.high for one in last),
    }


def wide() -> list[Row]:
    """Return the effect of searches on the only opened result, by the number of results."""
    rows: list[Row] = []
    for limit in WIDE:
        results = [Result(str(n), n == 0) for n in range(limit)]
        standings: dict[str, Standing] = {}
        cells: dict[str, Cell] = {"results": limit}
        for n in range(1, 11):
            standings |= rating.played(results, standings)
            if n in (1, 10):
                cells[f"opened, searches: {n}"] = round(standings["0"].elo)
                cells[f"left, searches: {n}"] = round(standings["1"].elo)
        rows.append(cells)
    return rows


def _reached(elo: float, harm: Harm | None, by: Variant) -> bool:
    return elo < by.by.low if harm and harm.buries else elo >= by.by.high


def _changed(
    trace: ItemTrace, honest: ItemTrace, item: int, end: int, by: Variant
) -> tuple[Floats, int]:
    """Return the changes of all other ratings, and the number of memories that it made HIGH."""
    expected, actual = honest.kept[end].copy(), trace.kept[end]
    expected[item] = actual[item]
    high = by.by.high
    return actual - expected, int(((actual >= high) & (expected < high)).sum())


def _mean(values: Iterable[float]) -> float:
    numbers = [*values]
    return round(sum(numbers) / len(numbers), 1)
