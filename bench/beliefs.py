"""How good the belief formulas are on public data, beside simple rules of the same run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench import (
    belief_cases,
    belief_data,
    belief_errors,
    belief_many,
    belief_one,
    belief_plots,
    belief_sweeps,
)
from bench.figures import Report

if TYPE_CHECKING:
    from bench.progress import Steps


def measure(
    steps: Steps, *, data: Path | None, json_file: Path | None, plots: Path | None
) -> Report:
    """Return the evaluation of ONE, MANY and the sequential test; repeatable to the last digit.

    Args:
        steps: says how far it is.
        data: folder with the data sets; None: GRAPHMEM_DATA.
        json_file: to write the report to as well.
        plots: folder to write figures to.

    Raises:
        ConfigurationError: the data is not there, or figures are wanted without matplotlib.
    """
    folder = belief_data.data_folder(data)
    if plots:
        belief_plots.check()
    slots = belief_data.slots(folder)
    tables, now = belief_one.measure(slots, steps)
    tables += belief_sweeps.measure(now, steps)
    healthver, climate, vitaminc = belief_data.claims(folder)
    many, curves = belief_many.measure(healthver, climate, vitaminc, steps)
    tables += [*many, belief_errors.measure(steps)]
    report = Report(
        name="beliefs",
        tables=tables,
        notes=[
            "Shares in percent. 95 %: bootstrap over whole slots or claims; of simulated rates, "
            "normal. Every rule answers the same questions from the same evidence.",
            "last by arrival sees what arrived last among what had happened by the date asked for.",
        ],
        setting={
            "kappa": 2.0,
            "tau days": "infinite",
            "late": belief_one.LATE,
            "false": belief_one.FALSE,
            "confidence of a label": belief_cases.CONFIDENCE,
            "trials": belief_errors.TRIALS,
        },
    )
    if json_file:
        json_file.write_text(report.as_json() + "\n", encoding="utf-8")
    if plots:
        belief_plots.draw(plots, {t.title: t.rows for t in tables}, curves)
    return report
