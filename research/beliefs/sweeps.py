"""Effect of kappa, tau and the margin on ONE."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bench.figures import Cell, Table
from research.beliefs import leaders, one_formula
from research.beliefs.leaders import BY_TIME, Answer
from research.beliefs.metrics import percent
from research.beliefs.one_formula import Question
from tests.oracles.projection import one_closed

if TYPE_CHECKING:
    from bench.progress import Steps

KAPPAS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
TAUS_DAYS = (3.0, 30.0, 365.0, 3650.0, math.inf)
MARGINS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
FLAGGED_KAPPAS = (2.0, 3.0)
SWEPT = (
    one_formula.ONCE,
    one_formula.CLEAN,
    one_formula.FALSE_ONCE,
    one_formula.FALSE_OFTEN,
    one_formula.FALSE_FAINT,
    one_formula.WEAK_TRUE,
    one_formula.WEAK_FALSE,
)
FLAGGED = (one_formula.ONCE, one_formula.FALSE_OFTEN, one_formula.FALSE_FAINT)


def measure(now: Mapping[str, Sequence[Question]], steps: Steps) -> list[Table]:
    """Return the sweeps over the questions for the current value, by scenario."""
    return [
        Table(
            "ONE, sweep of kappa",
            [
                _shares(
                    now,
                    {"kappa": k, "overtakes 0.9": round(overtaking(0.9, k), 2)},
                    partial(leaders.one_leader, kappa=k),
                )
                for k in steps.over(KAPPAS, "kappa")
            ]
            + [_shares(now, {"kappa": BY_TIME, "overtakes 0.9": 0.0}, leaders.last_by_time)],
        ),
        Table(
            "ONE, sweep of tau",
            [
                _shares(
                    now,
                    {"tau days": "infinite" if tau == math.inf else tau},
                    partial(leaders.one_leader, tau_days=tau),
                )
                for tau in steps.over(TAUS_DAYS, "tau")
            ]
            + [_shares(now, {"tau days": BY_TIME}, leaders.last_by_time)],
        ),
        Table(
            "ONE, sweep of the margin",
            [row for name in FLAGGED for row in _flags(name, now[name])],
        ),
    ]


def overtaking(incumbent: float, kappa: float) -> float:
    """Return the smallest score of one piece of evidence that overtakes an incumbent's score.

    It solves s = incumbent * exp(-kappa * s) by bisection.
    """
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        if middle < incumbent * math.exp(-kappa * middle):
            low = middle
        else:
            high = middle
    return high


def _shares(
    now: Mapping[str, Sequence[Question]], named: Mapping[str, Cell], answer: Answer
) -> dict[str, Cell]:
    return {
        **named,
        **{name: round(100 * one_formula.share(now[name], answer), 1) for name in SWEPT},
    }


def _flags(name: str, asked: Sequence[Question]) -> list[dict[str, Cell]]:
    """Return the shares of flagged leaders, right and wrong, per kappa and margin."""
    return [row for kappa in FLAGGED_KAPPAS for row in _margins(name, asked, kappa)]


def _margins(name: str, asked: Sequence[Question], kappa: float) -> list[dict[str, Cell]]:
    gaps: list[tuple[float, bool]] = []
    for a in asked:
        best = one_closed(a.seen, a.valid, kappa=kappa)
        scores = [c.score for c in best if c.last_id]
        gap = scores[0] - scores[1] if len(scores) > 1 else math.inf
        gaps.append((gap, leaders.leader(best) != a.truth))
    rows: list[dict[str, Cell]] = []
    for margin in MARGINS:
        flagged = [wrong for gap, wrong in gaps if gap < margin]
        wrong = sum(w for _, w in gaps)
        rows.append(
            {
                "scenario": name,
                "kappa": kappa,
                "margin": margin,
                "flagged": percent(len(flagged), len(gaps)),
                "wrong": percent(wrong, len(gaps)),
                "flagged of the wrong": percent(sum(flagged), wrong),
                "flagged of the right": percent(len(flagged) - sum(flagged), len(gaps) - wrong),
                "wrong of the flagged": percent(sum(flagged), len(flagged)),
            }
        )
    return rows
