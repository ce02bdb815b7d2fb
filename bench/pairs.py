"""Near-duplicate detection on changed facts, repeats and paraphrases, with the offline embedder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from bench.figures import Cell, Report, Table
from bench.paraphrases import PARAPHRASES
from graphmem.adapters.models import open_embedder
from graphmem.ports import Role, run_now
from graphmem.rules.duplicates import NearMatch, find_duplicate
from graphmem.rules.identity import normalise
from graphmem.rules.scoring import calibrate, mean_cosine
from graphmem.settings import Settings
from tests.rules.strategies_pairs import Pair, changed_facts, lightly_reworded, repeats

if TYPE_CHECKING:
    from bench.progress import Steps

Matrix: TypeAlias = npt.NDArray[np.float32]
Scored: TypeAlias = list[tuple[Pair, float]]
CHANGED = "changed"
THRESHOLDS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9, 0.92, 0.95)


def measure(steps: Steps) -> Report:
    """Return the number of pairs of each kind that are treated as duplicates."""
    threshold = Settings().near_duplicate_threshold
    steps.say("embedding the pairs")
    mu = unrelated_mean()
    groups = scored(mu)
    classes: dict[str, Scored] = {}
    for name, rows in groups.items():
        classes.setdefault(name.split()[0], []).extend(rows)
    return Report(
        name="pairs",
        tables=[
            Table(
                f"taken for one text, at {threshold:g}",
                [_group(name, rows, threshold) for name, rows in (groups | classes).items()],
            ),
            Table(
                "taken for one text by the threshold alone, and with the rules",
                [_at(other, classes) for other in THRESHOLDS],
            ),
        ],
        notes=[
            "threshold: the similarity alone decides, the baseline. rules: the facts alone. both: "
            "graphmem. Similarity is the calibrated cosine.",
        ],
        setting={"threshold": threshold, "mu": round(mu, 4)},
    )


def pairs_by_group() -> dict[str, list[Pair]]:
    """Return all pairs by the group they are reported in; exact duplicates are left out."""
    groups: dict[str, list[Pair]] = {}
    for pair in (*changed_facts(), *lightly_reworded()):
        groups.setdefault(f"{CHANGED} {pair.kind}", []).append(pair)
    for pair in repeats():
        if normalise(pair.first) != normalise(pair.second):
            groups.setdefault(f"repeat {pair.kind}", []).append(pair)
    groups["paraphrase"] = [Pair("paraphrase", *pair) for pair in PARAPHRASES]
    return groups


def embedded(texts: Sequence[str]) -> dict[str, Matrix]:
    """Return float32[384] of length 1 for each text, embedded as a document."""
    once = list(dict.fromkeys(texts))
    embedder = open_embedder(Settings(embedder="local"), awaited=False)
    return dict(zip(once, run_now(embedder.embed(once, Role.DOCUMENT)), strict=True))


def unrelated_mean() -> float:
    """Return the mean cosine of the unrelated statements that the package contains."""
    sample = json.loads(files("graphmem").joinpath("data/calibration.json").read_text("utf-8"))
    return mean_cosine(np.stack(list(embedded(sample["statements"]).values())))


def scored(mu: float) -> dict[str, Scored]:
    """Return every group with the calibrated cosine of each pair."""
    groups = pairs_by_group()
    vectors = embedded([text for pairs in groups.values() for p in pairs for text in p[1:]])
    return {
        name: [(p, calibrate(float(vectors[p.first] @ vectors[p.second]), mu)) for p in pairs]
        for name, pairs in groups.items()
    }


def is_duplicate(pair: Pair, similarity: float, threshold: float) -> bool:
    """Return whether the second text would reinforce the first."""
    candidates = [NearMatch("m", "", pair.first, (), similarity)]
    found = find_duplicate(pair.second, candidates, threshold)
    return found is not None and not found.differences


def _group(name: str, rows: Scored, threshold: float) -> dict[str, Cell]:
    similarities = [similarity for _, similarity in rows]
    changed = name.startswith(CHANGED)
    both = sum(is_duplicate(p, s, threshold) for p, s in rows)
    return {
        "pairs of texts": name,
        "pairs": len(rows),
        "threshold": sum(s >= threshold for s in similarities),
        "rules": sum(is_duplicate(p, 1.0, threshold) for p, _ in rows),
        "both": both,
        "similarity min": min(similarities),
        "median": float(np.median(similarities)),
        "max": max(similarities),
        "wanted": "both = 0" if changed else None,
        "met": both == 0 if changed else None,
    }


def _at(threshold: float, classes: dict[str, Scored]) -> dict[str, Cell]:
    row: dict[str, Cell] = {"threshold": threshold}
    for name, rows in classes.items():
        both = sum(is_duplicate(p, s, threshold) for p, s in rows) / len(rows)
        row[name] = f"{sum(s >= threshold for _, s in rows) / len(rows):.0%} → {both:.0%}"
    return row
