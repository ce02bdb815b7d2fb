"""Effect of ratings, simulated: agents with Zipf interests, drift, and adversaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bench.figures import Report, Row, Table
from graphmem.rules.rating import BY_SEARCH, STANDARD
from research.attention import adversaries, figures
from research.attention.adversaries import BY_SEARCHES, HARMS, ItemTrace, target, trace_item
from research.attention.measures import AHEAD, MEDIAN_TOKENS, POINTER, SPREAD, SUMMARY
from research.attention.predictors import compare_predictors
from research.attention.pruning import (
    EPISODE_KB,
    LOG_KB,
    SESSIONS_A_DAY,
    RetentionRule,
    simulate_growth,
    simulate_year,
)
from research.attention.scenarios import ENDS, GROWN, SEEDS, SETTINGS, STABLE, SimulatedRun
from research.attention.tables import WORLDS, aims, changes, games, memory, tiers, world, year
from research.attention.world import Setting, sessions_in
from research.plotting import require_matplotlib

if TYPE_CHECKING:
    from bench.progress import Steps

T = TypeVar("T")

KEPT = {
    "as shipped": RetentionRule(),
    "reopened ones are kept": RetentionRule(reopened=True),
    "unrated ones are archived too": RetentionRule(unrated=False),
    BY_SEARCHES: RetentionRule(),
}


def measure(steps: Steps, *, plots: Path | None) -> Report:
    """Return how far the aims of Vector ELO are met, and the alternatives; reproducible.

    Args:
        steps: Receives the progress.
        plots: Folder for the figures; None draws none.

    Raises:
        ConfigurationError: `plots` is given but matplotlib is not installed.
    """
    if plots:
        require_matplotlib()
    runs = {
        name: [SimulatedRun.of(setting, seed) for seed in steps.over(SEEDS, f"interests, {name}")]
        for name, setting in SETTINGS.items()
    }
    sizes = {
        name: list(
            simulate_growth(
                GROWN, SEEDS[0], KEPT[name], by=BY_SEARCH if name == BY_SEARCHES else STANDARD
            )
        )
        for name in steps.over([*KEPT], "short-term memory")
    }
    harm, traces = _adversary_rows(runs[STABLE], steps)
    steps.say("other numbers")
    tables = [
        Table("aims", aims(runs, sizes["as shipped"])),
        Table("tiers", tiers(runs)),
        Table("games", games(runs)),
        Table("changes", changes(runs)),
        Table(
            "worlds",
            [row for name in steps.over([*WORLDS], "worlds") for row in world(name)],
        ),
        Table("simpler rules", compare_predictors(runs)),
        Table("adversaries", harm),
        Table("both rules", adversaries.aims(runs[STABLE], _targets(runs[STABLE]))),
        Table("one result opened", adversaries.wide()),
        Table("short-term memory", memory(sizes)),
        Table("a year of 100 agents", year(simulate_year(SEEDS[0], RetentionRule()))),
    ]
    if plots:
        figures.draw(plots, runs, _by_default(traces), _by_default(sizes))
    setting = Setting()
    return Report(
        name="attention",
        tables=tables,
        notes=[
            f"Shares in percent, means over {len(SEEDS)} worlds. Moved: variance of the change in "
            "the last tenth of the sessions, over the variance of the ratings. To come: the next "
            f"{AHEAD} sessions, not rated. No rating does better: those on items opened before.",
            "AUC: how often, of two rated results to come, the opened one is rated higher.",
            f"Texts: log-normal, median {MEDIAN_TOKENS:.0f} tokens, sigma {SPREAD:g}; a summary is "
            f"{SUMMARY:.0%}, a pointer {POINTER:.0f} tokens; unrated items are summarised.",
            "Adversaries: one session after each honest one; the gains and losses of other items "
            "are relative to the same sessions without adversaries.",
            f"Short-term memory: an episode of {EPISODE_KB:.0f} kB and {LOG_KB:.0f} kB of log a "
            f"session, {SESSIONS_A_DAY} sessions a day.",
        ],
        setting={
            "memories": setting.memories,
            "agents": setting.agents,
            "zipf": setting.zipf,
            "searches a session": setting.searches,
            "results": setting.results,
            "sessions a day": SESSIONS_A_DAY,
            "found": round(_found(runs[STABLE]), 3),
        },
    )


def _adversary_rows(
    runs: Sequence[SimulatedRun], steps: Steps
) -> tuple[list[Row], Mapping[str, Sequence[ItemTrace]]]:
    """Return the effects of adversaries, and the ratings of their items."""
    end = ENDS[-1]
    items = _targets(runs)
    logs = [sessions_in(run.log, 0, end) for run in runs]
    worlds = [run.world for run in runs]
    cases = [*zip(worlds, logs, items, strict=True)]
    rows: list[Row] = []
    traces: dict[str, Sequence[ItemTrace]] = {}
    honest: dict[object, list[ItemTrace]] = {}
    for name in steps.over([*HARMS], "adversaries"):
        harm, by = HARMS[name]
        if by not in honest:
            honest[by] = [trace_item(*case, ENDS, by=by) for case in cases]
        traces[name] = [trace_item(*case, ENDS, harm, by) for case in cases]
        rows.append(adversaries.row(name, traces[name], honest[by], items, by))
    return rows, traces


def _by_default(many: Mapping[str, T]) -> dict[str, T]:
    """Return what was rated by the default rule."""
    return {name: one for name, one in many.items() if not name.endswith(BY_SEARCHES)}


def _targets(runs: Sequence[SimulatedRun]) -> list[int]:
    return [target(run.world, run.log) for run in runs]


def _found(runs: Sequence[SimulatedRun]) -> float:
    """Return the share of searches whose results contain the wanted item."""
    found = [asked.found for run in runs for asked in run.log]
    return sum(found) / len(found)
