"""Simpler predictors of later openings, compared with ratings on the same log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from bench.figures import Cell, Row
from research.attention.measures import AHEAD, auc, openings
from research.attention.ratings import DEFAULT, Ratings
from research.attention.scenarios import ENDS, SimulatedRun
from research.attention.world import Floats, Log, sessions_in

Predictor: TypeAlias = Callable[[Log, Ratings], Floats]
"""Returns a score for each memory, from a log and the ratings at its end."""
FEW = 10.0
"""Weight, in results, of the mean share in the smoothed share of each memory."""
TOP = 0.2


def opened(log: Log, now: Ratings) -> Floats:
    """Return the number of times that each memory was opened."""
    return np.bincount(openings(log), minlength=len(now.elo)).astype(np.float64)


def opened_of_late(log: Log, now: Ratings) -> Floats:
    """Return the number of openings, each decayed with the time constant of ratings."""
    sessions = DEFAULT.by.fading_days * DEFAULT.sessions_a_day
    ages = np.array([log[-1].session - asked.session for asked in log])
    weights = np.repeat(np.exp(-ages / sessions), [asked.opened.sum() for asked in log])
    return np.asarray(np.bincount(openings(log), weights, len(now.elo)), np.float64)


def opened_of_found(log: Log, now: Ratings) -> Floats:
    """Return the share of its results in which each memory was opened, smoothed to the mean."""
    was = openings(log)
    found = np.concatenate([asked.items for asked in log])
    mean = len(was) / len(found)
    times = np.bincount(was, minlength=len(now.elo)) + FEW * mean
    return np.asarray(times / (np.bincount(found, minlength=len(now.elo)) + FEW), np.float64)


RIVALS: Mapping[str, Predictor] = {
    "rating, faded": lambda log, now: now.read(log[-1].session + 1, DEFAULT),
    "rating": lambda _, now: now.read(0, replace(DEFAULT, fades=False)),
    "how often it was opened": opened,
    "the same, fading in 30 days": opened_of_late,
    "opened, of the times it was found": opened_of_found,
    "when it was opened last": lambda _, now: now.opened.astype(np.float64),
}


def compare_predictors(runs: Mapping[str, Sequence[SimulatedRun]]) -> list[Row]:
    """Return the AUC of each predictor, and its share of later openings in percent."""
    rows: list[Row] = []
    for name, predict in RIVALS.items():
        cells: dict[str, Cell] = {"by": name}
        for interests, many in runs.items():
            first, last = (
                np.mean([_worth(run, predict, end) for run in many], axis=0)
                for end in (ENDS[0], ENDS[-1])
            )
            cells[f"AUC, {interests}, {ENDS[0]}"] = round(float(first[0]), 3)
            cells[f"AUC, {interests}, {ENDS[-1]:,}"] = round(float(last[0]), 3)
            cells[f"top {TOP:.0%}, {interests}, {ENDS[-1]:,}"] = round(100 * float(last[1]), 1)
        rows.append(cells)
    return rows


def _worth(run: SimulatedRun, predict: Predictor, end: int) -> tuple[float, float]:
    """Return the AUC of a score, and the share of later openings in its top items."""
    now, ahead = run.rated(DEFAULT)[end], sessions_in(run.log, end, end + AHEAD)
    scores = predict(sessions_in(run.log, 0, end), now)
    rated = ~np.isnan(now.elo)
    results = np.concatenate([asked.items for asked in ahead])
    chosen = np.concatenate([asked.opened for asked in ahead])
    seen = rated[results]
    ordered = np.argsort(-np.where(rated, scores, -np.inf), kind="stable")
    top = np.zeros(len(scores), dtype=bool)
    top[ordered[: int(TOP * rated.sum())]] = True
    return auc(scores[results[seen]], chosen[seen]), float(top[openings(ahead)].mean())
