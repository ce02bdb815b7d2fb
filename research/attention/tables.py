"""The tables of the attention benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from bench.figures import Cell, Row
from research.attention.measures import Found
from research.attention.pruning import Size
from research.attention.ratings import DEFAULT, Counted, Shared, Variant
from research.attention.scenarios import DRIFTING, ENDS, SEEDS, STABLE, SimulatedRun, mean
from research.attention.world import Setting

FIRST, LAST = ENDS[0], ENDS[-1]
MOST_MB = 10_000.0
"""Maximum size of short-term memory in MB."""
SMALL = Setting(memories=1_000, topics=20)
WORLDS = {
    "10,000 memories, Zipf 1": Setting(),
    "10,000 memories, Zipf 1.5": Setting(zipf=1.5),
    "1,000 memories, Zipf 1": SMALL,
    "1,000 memories, Zipf 1.5": replace(SMALL, zipf=1.5),
    "1,000 memories, Zipf 2, one agent": replace(SMALL, zipf=2.0, agents=1),
    "1,000 memories, Zipf 1.5, twice as much opened": replace(SMALL, zipf=1.5, liked=1.0),
}


def high_from(boundary: float, by: Variant = DEFAULT) -> Variant:
    """Return the same variant with another boundary of HIGH."""
    return replace(by, by=replace(by.by, high=boundary))


STAYS = replace(DEFAULT, fades=False)
OPENED_ONCE = high_from(1_200.0, STAYS)
"""Makes nearly every item HIGH that was ever opened."""
TOP_FIFTH = replace(DEFAULT, top=0.2)
CHANGES = {
    "as shipped": DEFAULT,
    "without fading": STAYS,
    "K × 2": DEFAULT.times(2),
    "K × 4": DEFAULT.times(4),
    "K × 8": DEFAULT.times(8),
    "K × 8, without fading": STAYS.times(8),
    "a search is one game": replace(DEFAULT, averaged=True),
    "a search is one game, K × 8": replace(DEFAULT, averaged=True).times(8),
    "HIGH from 1400": high_from(1_400.0),
    "HIGH from 1300": high_from(1_300.0),
    "HIGH from 1250": high_from(1_250.0),
    "HIGH from 1250, without fading": high_from(1_250.0, STAYS),
    "HIGH from 1200, without fading": OPENED_ONCE,
    "HIGH is the top 5 %": replace(DEFAULT, top=0.05),
    "HIGH is the top 10 %": replace(DEFAULT, top=0.1),
    "HIGH is the top 20 %": TOP_FIFTH,
    "HIGH is the top 20 %, without fading": replace(STAYS, top=0.2),
    "HIGH is the top 50 %, without fading": replace(STAYS, top=0.5),
}


class Aim(NamedTuple):
    """An aim of Vector ELO."""

    name: str
    wanted: float
    """The target share."""
    part: str
    """Field of `Found` that is measured."""
    best: str | None = None
    """Field of `Found` that is the upper bound for any rating; None without one."""
    at_most: bool = False
    at: int = LAST
    """Number of sessions after which the aim is judged."""


AIMS = (
    Aim("how far ratings moved", 0.10, "moved", at_most=True, at=FIRST),
    Aim("how far their variance changed", 0.10, "widened", at_most=True, at=FIRST),
    Aim("openings so far that are HIGH", 0.90, "behind"),
    Aim("openings to come that are HIGH", 0.90, "ahead", best="known"),
    Aim("top five to come that are HIGH", 0.80, "top", best="top_known"),
    Aim("a pack of everything is smaller", 0.80, "saved"),
    Aim("a pack of the rated is smaller", 0.80, "saved_rated"),
)


def aims(runs: Mapping[str, Sequence[SimulatedRun]], sizes: Sequence[Size]) -> list[Row]:
    """Return the results for each aim, in percent, and short-term memory in megabytes."""
    rows: list[Row] = []
    for name, many in runs.items():
        found = {end: mean(many, sessions=end) for end in ENDS}
        rows += [_aim(name, aim, found) for aim in AIMS]
    cells: dict[str, Cell] = {"interests": "its own", "aim": "short-term memory, MB"}
    cells["wanted"] = f"< {MOST_MB:,.0f}"
    at = {size.sessions: size.megabytes for size in sizes}
    cells |= {f"{end:,}": round(at[end], 1) for end in ENDS}
    rows.append({**cells, "no rating does better": None, "met": at[LAST] < MOST_MB})
    return rows


def tiers(runs: Mapping[str, Sequence[SimulatedRun]]) -> list[Row]:
    """Return the number of items in each tier."""
    return [
        {
            "interests": name,
            "faded": by.fades,
            "sessions": end,
            "rated": round(found.rated),
            "HIGH": round(found.high, 1),
            "MEDIUM": round(found.medium),
            "LOW": round(found.low),
            "VERY_LOW": round(found.very_low, 1),
            "least": round(found.least),
            "most": round(found.most),
        }
        for name, many in runs.items()
        for by in (DEFAULT, STAYS)
        for end in ENDS
        for found in [mean(many, by, end)]
    ]


def games(runs: Mapping[str, Sequence[SimulatedRun]]) -> list[Row]:
    """Return the effects of the definition of a game and of a pair's K."""
    rows: list[Row] = []
    for counted in Counted:
        for shared in Shared:
            by = replace(DEFAULT, counted=counted, shared=shared)
            cells: dict[str, Cell] = {"game": counted.value, "K of a pair": shared.value}
            for name, many in runs.items():
                cells |= {f"moved, {name}, {end:,}": _moved(many, by, end) for end in ENDS}
                cells[f"AUC, {name}, {LAST:,}"] = round(mean(many, by).auc, 3)
            rows.append({**cells, "HIGH": round(mean(runs[STABLE], by).high, 1)})
    return rows


def changes(runs: Mapping[str, Sequence[SimulatedRun]]) -> list[Row]:
    """Return the results with other parameters, after the last session."""
    rows: list[Row] = []
    for name, by in CHANGES.items():
        stable, drifting = mean(runs[STABLE], by), mean(runs[DRIFTING], by)
        rows.append(
            {
                "change": name,
                f"moved, {FIRST}": _moved(runs[STABLE], by, FIRST),
                f"moved, {LAST:,}": _percent(stable.moved),
                **_reached(stable),
                "openings to come HIGH, drifting": _percent(drifting.ahead),
                "AUC": round(stable.auc, 3),
                "AUC, drifting": round(drifting.auc, 3),
            }
        )
    return rows


def world(name: str) -> list[Row]:
    """Return the results in another world, after the last session."""
    runs = [SimulatedRun.of(WORLDS[name], seed) for seed in SEEDS]
    read = {
        "as shipped": DEFAULT,
        "the top 20 %": TOP_FIFTH,
        "from 1200, without fading": OPENED_ONCE,
    }
    rows: list[Row] = []
    for how, by in read.items():
        found = mean(runs, by)
        best = {
            "opened before": _percent(found.known),
            "of the top five": _percent(found.top_known),
        }
        rows.append({"world": name, "HIGH is": how, **best, **_reached(found)})
    return rows


def memory(sizes: Mapping[str, Sequence[Size]]) -> list[Row]:
    """Return the growth of short-term memory, by pruning rule."""
    return [
        {
            "pruning": name,
            "sessions": size.sessions,
            "live": size.live,
            "unrated": size.unrated,
            "compressed": size.compressed,
            "reopened": size.reopened,
            "MB": round(size.megabytes, 1),
            "MB without pruning": round(size.unpruned_megabytes, 1),
        }
        for name, many in sizes.items()
        for size in many
    ]


def year(sizes: tuple[Size, Size]) -> list[Row]:
    """Return the sizes at the peak of a year and at its end, against the bound."""
    return [
        {
            "at": name,
            "sessions": size.sessions,
            "live": size.live,
            "MB": round(size.megabytes, 1),
            "MB without pruning": round(size.unpruned_megabytes, 1),
            "met": size.megabytes < MOST_MB,
        }
        for name, size in zip(("its peak", "the end"), sizes, strict=True)
    ]


def _aim(name: str, aim: Aim, found: Mapping[int, Found]) -> Row:
    share = getattr(found[aim.at], aim.part)
    best = aim.best and _percent(getattr(found[LAST], aim.best))
    sign = "<" if aim.at_most else "≥"
    cells: dict[str, Cell] = {"interests": name, "aim": aim.name}
    cells["wanted"] = f"{sign} {aim.wanted:.0%}"
    cells |= {f"{end:,}": _percent(getattr(part, aim.part)) for end, part in found.items()}
    met = share < aim.wanted if aim.at_most else share >= aim.wanted
    return {**cells, "no rating does better": best, "met": bool(met)}


def _reached(found: Found) -> dict[str, Cell]:
    return {
        "HIGH": round(found.high, 1),
        "VERY_LOW": round(found.very_low, 1),
        "openings to come HIGH": _percent(found.ahead),
        "top five HIGH": _percent(found.top),
        "pack smaller": _percent(found.saved),
    }


def _moved(many: Sequence[SimulatedRun], by: Variant, sessions: int) -> float:
    return _percent(mean(many, by, sessions).moved)


def _percent(share: float) -> float:
    return round(100 * share, 1)
