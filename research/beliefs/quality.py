"""Quality of the belief formulas on public data, compared with simple rules of the same run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import Report
from research.beliefs import (
    datasets,
    figures,
    labelled_cases,
    many_formula,
    one_formula,
    sprt_errors,
    sweeps,
)
from research.plotting import require_matplotlib

if TYPE_CHECKING:
    from bench.progress import Steps


def measure(steps: Steps, *, data: Path | None, plots: Path | None) -> Report:
    """Return the evaluation of ONE, MANY and the sequential test; reproducible to the last digit.

    Args:
        steps: Receives the progress.
        data: Folder with the data sets; None uses GRAPHMEM_DATA.
        plots: Folder for the figures; None draws none.

    Raises:
        ConfigurationError: A data set is missing, or `plots` is given without matplotlib.
    """
    folder = datasets.data_folder(data)
    if plots:
        require_matplotlib()
    slots = datasets.slots(folder)
    tables, now = one_formula.measure(slots, steps)
    tables += sweeps.measure(now, steps)
    healthver, climate, vitaminc = datasets.claims(folder)
    many, curves = many_formula.measure(healthver, climate, vitaminc, steps)
    tables += [*many, sprt_errors.measure(steps)]
    if plots:
        figures.draw(plots, {t.title: t.rows for t in tables}, curves)
    return Report(
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
            "late": one_formula.LATE,
            "false": one_formula.FALSE,
            "confidence of a label": labelled_cases.CONFIDENCE,
            "trials": sprt_errors.TRIALS,
        },
    )
