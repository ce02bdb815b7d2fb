"""Gate of contradictions: what is flagged on changed facts and on noise, by base and maximum."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bench.figures import Cell, Report, Table
from graphmem.consolidation import rules
from graphmem.english import passages
from graphmem.english.passages import Passage
from graphmem.model import EvidenceKind
from graphmem.models import open_embedder
from graphmem.ports import Embedder, Role, run_now
from graphmem.rules import formulas
from graphmem.rules.formulas import Evidence
from graphmem.rules.vitality import STANDARD_VITALITY
from graphmem.schema import migration
from graphmem.settings import Settings
from research.beliefs import datasets
from research.beliefs.metrics import percent
from tests.oracles import projection

if TYPE_CHECKING:
    from bench.progress import Steps

SEED = 20_261_124
START = datetime(2024, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
BASES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
MAXIMA = (0.3, 0.42, 0.5, 0.9)
PIECES = (1, 3, 10, 100)
"""Numbers of episodes that support a belief before it is contradicted."""
QUESTIONS = {
    "contradiction_resolution": ("first_statement", "second_statement"),
    "knowledge_update": ("original_info", "updated_info"),
}
DIRECT = 1.0
INFERRED = 0.5
"""Weights of the sources EXPLICIT and EXTRACTOR."""
SUPPORT = 0.75
"""Confidence of a supporting episode: the least similarity with which one is matched."""
MAX_CONFIDENCE = 0.9
MIN_REFUTING = 0.4
"""Bounds of the confidence of a contradiction that consolidation finds."""


class Case(NamedTuple):
    """A belief at the time when it is contradicted."""

    prior: float
    contradiction: float
    known: int
    age: float
    """Days since its first evidence."""

    def is_flagged(self, base: float, most: float) -> bool:
        """Return whether the gate opens with this base and maximum."""
        wanted = base * math.log1p(self.known) * math.log1p(self.age)
        return self.prior * self.contradiction > min(max(wanted, STANDARD_VITALITY.gate_min), most)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Contradictions between messages of conversations."""

    changes: Sequence[tuple[float, float]]
    """Confidence as evidence, and days between the messages, of each marked pair."""
    strays: Sequence[float]
    """Confidences of sentences that the rules take for contradictions outside marked pairs."""


def case(supports: int, age: float, refuting: Iterable[tuple[float, float]]) -> Case:
    """Return a belief with supporting episodes of consolidation, spread evenly over its age.

    Args:
        supports: number of episodes.
        age: days from the first one to the contradictions.
        refuting: weight and confidence of each contradiction, from episodes of their own.
    """

    def piece(n: int, polarity: int, weight: float, confidence: float, day: float) -> Evidence:
        at, name = START + day * DAY, f"{polarity}/{n}"
        return Evidence(name, "claim", polarity, confidence, weight, name, at)

    pieces = [piece(n, 1, INFERRED, SUPPORT, age * n / supports) for n in range(supports)]
    against = [piece(n, -1, weight, sure, age) for n, (weight, sure) in enumerate(refuting)]
    prior = projection.many(pieces, START + age * DAY).belief
    return Case(prior, formulas.refutation(against), supports, age)


def groups(pairs: Pairs, reversals: int) -> dict[str, list[Case]]:
    """Return the simulated contradictions by kind; the first groups should be flagged."""
    draw = random.Random(SEED)  # noqa: S311 - simulation
    found: dict[str, list[Case]] = {}
    for times, name in ((1, "once"), (3, "3 times"), (8, "8 times")):
        found[f"BEAM changes, inferred {name}"] = [
            case(n, max(lag, 1.0), [(INFERRED, sure)] * times)
            for (sure, lag), n in product(pairs.changes, PIECES)
        ]
    found["BEAM changes, stated once"] = [
        case(n, max(lag, 1.0), [(DIRECT, 0.8)]) for (_, lag), n in product(pairs.changes, PIECES)
    ]
    ages = [10 ** draw.uniform(0, 3) for _ in range(reversals)]
    for times, name in ((1, "once"), (3, "3 times"), (8, "8 times")):
        found[f"VitaminC reversals, inferred {name}"] = [
            case(draw.choice(PIECES), age, [(INFERRED, draw.uniform(MIN_REFUTING, 0.9))] * times)
            for age in ages
        ]
    found["BEAM strays, old belief"] = [
        case(n, age, [(INFERRED, sure)])
        for sure, n, age in product(pairs.strays, (5, 10, 100), (30.0, 365.0))
    ]
    found["VitaminC, one weak contradiction of an old belief"] = [
        case(draw.choice((5, 10, 100)), 30 + age, [(INFERRED, draw.uniform(0.05, 0.5))])
        for age in ages
    ]
    return found


def beam(folder: Path, embedder: Embedder, mu: float, steps: Steps) -> Pairs:
    """Read the marked contradictions of BEAM, and what the rules take for further ones."""
    changes: list[tuple[float, float]] = []
    strays: list[float] = []
    for place in steps.over(sorted(folder.glob("beam/*/chat.json")), "BEAM"):
        messages = dict(_messages(json.loads(place.read_text("utf-8"))))
        questions = json.loads(place.with_name("probing_questions.json").read_text("utf-8"))
        texts = {i: _sentences(text) for i, (text, _) in messages.items()}
        flat = [(i, one) for i, sentences in texts.items() for one in sentences]
        matrix = run_now(embedder.embed([one for _, one in flat], Role.DOCUMENT))
        near = (matrix @ matrix.T - mu) / (1 - mu)
        marked: set[tuple[int, int]] = set()
        owner = np.array([i for i, _ in flat])
        for first, second in _marked(questions):
            marked |= {(first, second), (second, first)}
            block = near[np.ix_(owner == first, owner == second)]
            if block.size and first != second:
                sure = min(MAX_CONFIDENCE, max(MIN_REFUTING, float(block.max())))
                changes.append((sure, abs(messages[second][1] - messages[first][1]) / DAY))
        strays += _strays(flat, near, marked)
    return Pairs(changes, strays)


def measure(steps: Steps, data: Path | None) -> Report:
    """Return the share of contradictions that are flagged, for each base and maximum."""
    folder = datasets.data_folder(data)
    embedder = open_embedder(Settings.load(), awaited=False)
    mu = run_now(migration.measure(embedder)).mu_document
    _, _, vitaminc = datasets.claims(folder)
    orders = ["".join("+-"[p.polarity < 0] for p in claim.pieces) for claim in vitaminc]
    reversals = sum(order.endswith("+-") for order in orders)
    pairs = beam(folder, embedder, mu, steps)
    named = groups(pairs, reversals).items()
    rows: list[dict[str, Cell]] = []
    for base, most in product(BASES, MAXIMA):
        shares: dict[str, Cell] = {
            name: percent(sum(one.is_flagged(base, most) for one in of), len(of))
            for name, of in named
        }
        rows.append({"base": base, "maximum": most, **shares})
    setting: dict[str, Cell] = {
        "BEAM pairs": len(pairs.changes),
        "mean confidence": float(np.mean([sure for sure, _ in pairs.changes])),
        "strays": len(pairs.strays),
        "mean confidence of strays": float(np.mean(pairs.strays or [0.0])),
        "VitaminC reversals": reversals,
        "minimum": STANDARD_VITALITY.gate_min,
    }
    return Report("gate", [Table("Share of contradictions that flag a belief", rows)], (), setting)


def _messages(batches: Any) -> Iterator[tuple[int, tuple[str, datetime]]]:
    at = START
    for batch in batches:
        for message in (one for turn in batch["turns"] for one in turn):
            if anchor := message.get("time_anchor"):
                at = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
            if message["role"] == "user":
                yield message["id"], (message["content"], at)


def _sentences(text: str) -> list[str]:
    parts = passages.informative_sentences(text).split(". ")
    return [part for part in parts if len(part.split()) >= passages.MIN_WORDS]


def _marked(questions: Any) -> Iterator[tuple[int, int]]:
    for kind, (earlier, later) in QUESTIONS.items():
        for question in questions[kind]:
            of = question["source_chat_ids"]
            yield from product(of[earlier], of[later])


def _strays(
    flat: Sequence[tuple[int, str]], near: Any, marked: set[tuple[int, int]]
) -> Iterator[float]:
    for a, b in np.argwhere(np.triu(near, 1) >= MIN_REFUTING):
        (one, text), (other, statement) = flat[a], flat[b]
        if one != other and (one, other) not in marked:
            passage = Passage("", "Turn", "", None, text, START)
            if rules.relation(passage, statement) is EvidenceKind.REFUTING:
                yield min(MAX_CONFIDENCE, float(near[a, b]))
