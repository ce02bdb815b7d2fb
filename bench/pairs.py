"""Near duplicates and updates among changed facts, repeats, paraphrases and unrelated texts."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from bench.figures import Cell, Report, Table
from bench.locomo import data_folder
from bench.paraphrases import PARAPHRASES
from bench.two_things import HALVES, RELATIONS, cases, judged
from graphmem.english.changes import Change, between
from graphmem.english.facts import fact_tokens
from graphmem.english.quantities import FactKind
from graphmem.errors import ConfigurationError
from graphmem.models import open_embedder
from graphmem.ports import Role, run_now
from graphmem.rules import duplicates
from graphmem.rules.duplicates import NearMatch, find_duplicate
from graphmem.rules.identity import normalise
from graphmem.rules.scoring import calibrate, mean_cosine
from graphmem.settings import Settings
from tests.english import held_out_pairs
from tests.english.strategies_pairs import Pair, changed_facts, lightly_reworded, repeats

if TYPE_CHECKING:
    from bench.progress import Steps

Matrix: TypeAlias = npt.NDArray[np.float32]
Scored: TypeAlias = list[tuple[Pair, float]]
CHANGED, REPEAT, PARAPHRASE, UNRELATED = "changed", "repeat", "paraphrase", "unrelated"
HELD_OUT = "held out: "
TRIVIAL = ("lower case", "upper case", "punctuation")
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.95)
MIN_FOUND, MAX_FALSE = 0.8, 0.05
"""Minimum share of repeats and of updates found, and maximum share of false updates."""


def measure(steps: Steps) -> Report:
    """Return the number of pairs of each kind that count as duplicates and as updates."""
    settings = Settings.load()
    near, update = settings.near_duplicate_threshold, settings.update_threshold
    steps.say("embedding the pairs")
    mu = unrelated_mean()
    groups = scored(mu)
    classes = by_class(groups)
    return Report(
        name="pairs",
        tables=[
            Table(
                f"one text from {near:g}, update from {update:g}",
                [_group(name, rows, near, update) for name, rows in (groups | classes).items()],
            ),
            Table("targets", _targets(groups, classes, near, update)),
            Table(
                "one text by the threshold alone, and with the rules",
                [_merged(other, classes) for other in THRESHOLDS],
            ),
            Table("update", [_updated(other, near, classes) for other in THRESHOLDS]),
            Table("two things, by the facts alone", _two_things()),
            *_claims(steps),
        ],
        notes=[
            "threshold: the similarity alone decides, the baseline. rules: the facts alone. both: "
            "graphmem. update: reported as possible_update_of. Similarity is the calibrated "
            "cosine.",
            "held out: pairs that the rules were not written against. unrelated: each statement "
            "with its most similar other one.",
            "two things: parallel pairs state one value, or two, of two things; changed pairs two "
            "values of one thing; restated pairs one fact in other words. merged: taken for one "
            "text. proposed: reported as possible_update_of. replaced: retired by "
            "on_update='supersede'. marked: outdated_by for any of three questions. joined: one "
            "result of a recall, if one speaker states both. The rules were written against the "
            "tuning half, and the errors of the kept half were not read.",
            "VitaminC: claims about one evidence, by the facts alone. Opposed: it supports one and "
            "refutes the other. Restated: it supports both, and their numbers and dates are equal.",
        ],
        setting={
            "embedder": settings.embedder,
            "near": near,
            "update": update,
            "mu": round(mu, 4),
        },
    )


def _two_things() -> list[dict[str, Cell]]:
    """Return the shares of the pairs of `two_things` by half and relation."""
    rows: list[dict[str, Cell]] = []
    for half, relation in itertools.product(HALVES, RELATIONS):
        found = [judged(case) for case in cases() if case[:2] == (relation, half)]
        shares = {
            name: f"{sum(getattr(one, name) for one in found) / len(found):.1%}"
            for name in found[0]._fields
        }
        rows.append({"half": half, "pairs of texts": relation, "pairs": len(found), **shares})
    return rows


def _claims(steps: Steps) -> Iterator[Table]:
    """Yield the share of VitaminC's pairs of claims that are merged, and reported as updates."""
    try:
        path = data_folder() / "vitaminc" / "real.jsonl"
    except ConfigurationError:
        return
    steps.say("comparing the claims of VitaminC")
    by_evidence: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        by_evidence[row["evidence"]][row["label"]].add(row["claim"])
    opposed, restated = set(), set()
    for claims in by_evidence.values():
        opposed |= set(itertools.product(claims["SUPPORTS"], claims["REFUTES"]))
        pairs = itertools.combinations(sorted(claims["SUPPORTS"]), 2)
        restated |= {pair for pair in pairs if _quantities(pair[0]) == _quantities(pair[1])}
    yield Table(
        "VitaminC",
        [
            {
                "claims": name,
                "pairs": len(pairs),
                "merged": sum(not duplicates.difference(*pair) for pair in pairs),
                "update": f"{sum(between(*p) > Change.NONE for p in pairs) / len(pairs):.1%}",
            }
            for name, pairs in (("opposed", opposed), ("restated", restated))
        ],
    )


def _quantities(text: str) -> list[str]:
    kinds = (FactKind.NUMBER, FactKind.DATE)
    return sorted(word.key for word in fact_tokens(text) if word.kind in kinds)


def pairs_by_group() -> dict[str, list[Pair]]:
    """Return all pairs by the group they are reported in; exact duplicates are left out."""
    groups: dict[str, list[Pair]] = {}
    for pair in (*changed_facts(), *lightly_reworded()):
        groups.setdefault(f"{CHANGED} {pair.kind}", []).append(pair)
    for pair in repeats():
        if normalise(pair.first) != normalise(pair.second):
            groups.setdefault(f"{REPEAT} {pair.kind}", []).append(pair)
    groups[PARAPHRASE] = [Pair(PARAPHRASE, *pair) for pair in PARAPHRASES]
    groups[f"{HELD_OUT}{CHANGED}"] = list(held_out_pairs.CHANGED)
    groups[f"{HELD_OUT}{REPEAT}"] = list(held_out_pairs.REPEATED)
    groups[f"{HELD_OUT}{PARAPHRASE}"] = list(held_out_pairs.REWORDED)
    groups[f"{HELD_OUT}{UNRELATED}"] = list(held_out_pairs.RELATED)
    groups[UNRELATED] = neighbours(statements())
    return groups


def by_class(groups: Mapping[str, Scored]) -> dict[str, Scored]:
    """Return the groups joined by the first word of their names."""
    classes: dict[str, Scored] = {}
    for name, rows in groups.items():
        if not name.startswith(HELD_OUT):
            classes.setdefault(name.split()[0], []).extend(rows)
    return classes | {name: groups[name] for name in groups if name.startswith(HELD_OUT)}


def statements() -> list[str]:
    """Return statements about different things."""
    first = {pair.kind: pair.first for pair in held_out_pairs.CHANGED}
    return list(dict.fromkeys((*unrelated(), *(text for text, _ in PARAPHRASES), *first.values())))


def unrelated() -> list[str]:
    """Return the unrelated statements that the package contains."""
    sample = json.loads(files("graphmem").joinpath("data/calibration.json").read_text("utf-8"))
    found: list[str] = sample["statements"]
    return found


def neighbours(texts: Sequence[str]) -> list[Pair]:
    """Return each text with the most similar other one."""
    vectors = np.stack(list(embedded(texts).values()))
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    return [
        Pair(UNRELATED, texts[int(nearest)], text)
        for text, nearest in zip(texts, cosines.argmax(axis=1), strict=True)
    ]


def embedded(texts: Sequence[str]) -> dict[str, Matrix]:
    """Return float32[384] of length 1 for each text, embedded as a document."""
    once = list(dict.fromkeys(texts))
    embedder = open_embedder(Settings.load(), awaited=False)
    return dict(zip(once, run_now(embedder.embed(once, Role.DOCUMENT)), strict=True))


def unrelated_mean() -> float:
    """Return the mean cosine of the unrelated statements."""
    return mean_cosine(np.stack(list(embedded(unrelated()).values())))


def scored(mu: float) -> dict[str, Scored]:
    """Return every group with the calibrated cosine of each pair."""
    groups = pairs_by_group()
    vectors = embedded([text for pairs in groups.values() for p in pairs for text in p[1:]])
    return {
        name: [(p, calibrate(float(vectors[p.first] @ vectors[p.second]), mu)) for p in pairs]
        for name, pairs in groups.items()
    }


def is_duplicate(pair: Pair, similarity: float, near: float) -> bool:
    """Return whether the second text would reinforce the first."""
    return _verdict(pair, similarity, near, 1.0) == REPEAT


def is_update(pair: Pair, similarity: float, near: float, update: float) -> bool:
    """Return whether the second text would be reported as a possible update of the first."""
    return _verdict(pair, similarity, near, update) == CHANGED


def _verdict(pair: Pair, similarity: float, near: float, update: float) -> str | None:
    candidates = [NearMatch("m", "", pair.first, (), similarity)]
    found = find_duplicate(pair.second, candidates, near, update)
    return None if found is None else CHANGED if found.differences else REPEAT


def _group(name: str, rows: Scored, near: float, update: float) -> dict[str, Cell]:
    similarities = [similarity for _, similarity in rows]
    return {
        "pairs of texts": name,
        "pairs": len(rows),
        "threshold": sum(s >= near for s in similarities),
        "rules": sum(is_duplicate(p, 1.0, near) for p, _ in rows),
        "both": _count_merged(rows, near),
        "update": _count_updates(rows, near, update),
        "similarity min": min(similarities),
        "5 %": float(np.quantile(similarities, 0.05)),
        "median": float(np.median(similarities)),
        "max": max(similarities),
    }


def _count_merged(rows: Scored, near: float) -> int:
    return sum(is_duplicate(p, s, near) for p, s in rows)


def _count_updates(rows: Scored, near: float, update: float) -> int:
    return sum(is_update(p, s, near, update) for p, s in rows)


def _targets(
    groups: Mapping[str, Scored], classes: Mapping[str, Scored], near: float, update: float
) -> list[dict[str, Cell]]:
    """Return each target with its figure, for the pairs of the suite and for those held out."""
    held = {name.removeprefix(HELD_OUT): rows for name, rows in classes.items()}
    trivial = [row for name in TRIVIAL for row in groups[f"{REPEAT} {name}"]]
    rows = [_at_least(1, "case and punctuation merged", _count_merged(trivial, near), trivial)]
    for prefix, of in (("", classes), (HELD_OUT, held)):
        restated = [*of[REPEAT], *of[PARAPHRASE]]
        rows += [
            _at_most(0, f"{prefix}{CHANGED} merged", _count_merged(of[CHANGED], near), of[CHANGED]),
            _at_least(
                MIN_FOUND, f"{prefix}{REPEAT} merged", _count_merged(of[REPEAT], near), of[REPEAT]
            ),
            _at_least(
                MIN_FOUND,
                f"{prefix}{CHANGED} reported",
                _count_updates(of[CHANGED], near, update),
                of[CHANGED],
            ),
            *(
                _at_most(MAX_FALSE, f"{prefix}{name} reported", _count_updates(p, near, update), p)
                for name, p in (("restated", restated), (UNRELATED, of[UNRELATED]))
            ),
        ]
    return [row | {"met": None} if str(row["target"]).startswith(HELD_OUT) else row for row in rows]


def _at_least(share: float, name: str, count: int, rows: Scored) -> dict[str, Cell]:
    met = count >= share * len(rows)
    return _target(name, count, rows) | {"wanted": f">= {share:.0%}", "met": met}


def _at_most(share: float, name: str, count: int, rows: Scored) -> dict[str, Cell]:
    met = count <= share * len(rows)
    return _target(name, count, rows) | {"wanted": f"<= {share:.0%}", "met": met}


def _target(name: str, count: int, rows: Scored) -> dict[str, Cell]:
    share = f"{count / len(rows):.1%}"
    return {"target": name, "count": count, "pairs": len(rows), "share": share}


def _merged(near: float, classes: Mapping[str, Scored]) -> dict[str, Cell]:
    row: dict[str, Cell] = {"threshold": near}
    for name, rows in classes.items():
        both = _count_merged(rows, near) / len(rows)
        row[name] = f"{sum(s >= near for _, s in rows) / len(rows):.0%} → {both:.0%}"
    return row


def _updated(update: float, near: float, classes: Mapping[str, Scored]) -> dict[str, Cell]:
    shares = {n: _count_updates(rows, near, update) / len(rows) for n, rows in classes.items()}
    return {"threshold": update, **{name: f"{share:.1%}" for name, share in shares.items()}}
