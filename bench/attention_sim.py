"""Effect of ratings, simulated: agents with Zipf interests, drift, and adversaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench import attention_harm, attention_plots, attention_tables, belief_plots
from bench.attention_harm import HARMS, Story, target, told
from bench.attention_lives import ENDS, GROWN, SEEDS, SETTINGS, STABLE, Lived
from bench.attention_measures import AHEAD, MEDIAN_TOKENS, POINTER, SPREAD, SUMMARY
from bench.attention_pruning import EPISODE_KB, LOG_KB, SESSIONS_A_DAY, Kept, grown
from bench.attention_rivals import rivals
from bench.attention_world import Setting, within
from bench.figures import Report, Row, Table

if TYPE_CHECKING:
    from bench.progress import Steps

KEPT = {
    "as shipped": Kept(),
    "reopened ones are archived": Kept(reopened=False),
    "so are unrated ones": Kept(reopened=False, unrated=False),
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
        belief_plots.check()
    lives = {
        name: [Lived.of(setting, seed) for seed in steps.over(SEEDS, f"interests, {name}")]
        for name, setting in SETTINGS.items()
    }
    sizes = {
        name: list(grown(GROWN, SEEDS[0], KEPT[name]))
        for name in steps.over([*KEPT], "short-term memory")
    }
    harm, stories = _harmed(lives[STABLE], steps)
    steps.say("other numbers")
    tables = [
        Table("aims", attention_tables.aims(lives, sizes["as shipped"])),
        Table("tiers", attention_tables.tiers(lives)),
        Table("games", attention_tables.games(lives)),
        Table("changes", attention_tables.changes(lives)),
        Table(
            "worlds",
            [
                row
                for name in steps.over([*attention_tables.WORLDS], "worlds")
                for row in attention_tables.world(name)
            ],
        ),
        Table("simpler rules", rivals(lives)),
        Table("adversaries", harm),
        Table("one result opened", attention_harm.wide()),
        Table("short-term memory", attention_tables.memory(sizes)),
    ]
    if plots:
        attention_plots.draw(plots, lives, stories, sizes)
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
            "found": round(_found(lives[STABLE]), 3),
        },
    )


def _harmed(
    lives: Sequence[Lived], steps: Steps
) -> tuple[list[Row], Mapping[str, Sequence[Story]]]:
    """Return the effects of adversaries, and the ratings of their items."""
    end = ENDS[-1]
    items = [target(lived.world, lived.log) for lived in lives]
    logs = [within(lived.log, 0, end) for lived in lives]
    worlds = [lived.world for lived in lives]
    cases = [*zip(worlds, logs, items, strict=True)]
    rows: list[Row] = []
    stories: dict[str, Sequence[Story]] = {}
    honest: dict[object, list[Story]] = {}
    for name in steps.over([*HARMS], "adversaries"):
        harm, by = HARMS[name]
        if by not in honest:
            honest[by] = [told(*case, ENDS, by=by) for case in cases]
        stories[name] = [told(*case, ENDS, harm, by) for case in cases]
        rows.append(attention_harm.row(name, stories[name], honest[by], items))
    return rows, stories


def _found(lives: Sequence[Lived]) -> float:
    """Return the share of searches whose results contain the wanted item."""
    found = [asked.found for lived in lives for asked in lived.log]
    return sum(found) / len(found)
