"""Quality of the belief formulas on public data, compared with simple rules of the same run."""

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
    """Return the evaluation of ONE, MANY and the sequential test; reproducible to the last digit.

    Args:
        steps: Receives the progress.
        data: Folder with the data sets; None uses GRAPHMEM_DATA.
        json_file: File for a copy of the report; None writes none.
        plots: Folder for the figures; None draws none.

    Raises:
        ConfigurationError: A data set is missing, or `plots` is given without matplotlib.
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
            "last by arrival uses the latest arrival among the events up to the date asked for.",
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
