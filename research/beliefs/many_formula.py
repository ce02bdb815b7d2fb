"""MANY and the sequential test on labelled evidence, compared with mean and majority."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bench.figures import Cell, Table
from graphmem.model.belief import VerdictStatus
from graphmem.rules.formulas import Evidence
from research.beliefs import labelled_cases
from research.beliefs.datasets import Claim
from research.beliefs.labelled_cases import SEED, Case, weighed
from research.beliefs.metrics import (
    accuracy,
    brier,
    ece,
    interval,
    percent,
    ratio,
    reliability,
    span,
)
from tests.oracles import projection, sequential

if TYPE_CHECKING:
    from bench.progress import Steps

CONFIDENCES = (0.3, 0.5, 0.7, 0.9)

HEALTHVER, ANNOTATOR = "HealthVer", "Climate-FEVER, one annotator"

Probability: TypeAlias = Callable[[Sequence[Evidence]], float]
Curves: TypeAlias = Mapping[str, Sequence[tuple[float, float, int]]]
"""By rule: mean probability, share of true claims and number of cases of each bin."""


def many_net(evidence: Sequence[Evidence]) -> float:
    """Return MANY's belief, max(0, P+ - P-)."""
    return projection.many(evidence, _end(evidence), combine="net").belief


def many_log_odds(evidence: Sequence[Evidence]) -> float:
    """Return MANY's belief with L- compared with L+."""
    return projection.many(evidence, _end(evidence), combine="log_odds").belief


def balance(evidence: Sequence[Evidence]) -> float:
    """Return (1 + P+ - P-) / 2, the difference as a probability."""
    result = projection.many(evidence, _end(evidence), combine="net")
    return (1 + result.positive - result.negative) / 2


def fading_log_odds(evidence: Sequence[Evidence]) -> float:
    """Return the same as `many_log_odds`, with confidences that decay by 1 / e a day."""
    return projection.many(evidence, _end(evidence), combine="log_odds", decay_per_day=1.0).belief


def sprt_odds(evidence: Sequence[Evidence]) -> float:
    """Return the test's log ratio, interpreted as log odds."""
    return float(1 / (1 + np.exp(-sequential.test(evidence, 0.5).log_ratio)))


def mean(evidence: Sequence[Evidence]) -> float:
    """Return the mean over the evidence of 1/2 ± w * c / 2."""
    return float(np.mean([0.5 + e.polarity * e.weight * e.confidence / 2 for e in evidence]))


def share(evidence: Sequence[Evidence]) -> float:
    """Return the share of supporting evidence."""
    return float(np.mean([e.polarity > 0 for e in evidence]))


def majority(evidence: Sequence[Evidence]) -> float:
    """Return the vote of the majority: 1 or 0, or 1/2 for a tie."""
    return float(np.sign(sum(e.polarity for e in evidence)) / 2 + 0.5)


def succession(evidence: Sequence[Evidence]) -> float:
    """Return (supporting + 1) / (pieces + 2)."""
    return (sum(e.polarity > 0 for e in evidence) + 1) / (len(evidence) + 2)


def newest(evidence: Sequence[Evidence]) -> float:
    """Return the share of supporting evidence at the latest timestamp."""
    at = _end(evidence)
    return share([e for e in evidence if e.at == at])


def one_slot(evidence: Sequence[Evidence]) -> float:
    """Return the leader of a slot with the values "holds" and "does not", as 1 or 0.

    Refuting evidence supports the opposite value, so the newer side suppresses the older one.
    """
    turned = [
        Evidence(e.id, str(e.polarity), 1, e.confidence, e.weight, e.episode, e.at)
        for e in evidence
    ]
    return float(projection.one_closed(turned, _end(evidence), kappa=2.0)[0].claim == "1")


MEAN = "mean"
RULES: Mapping[str, Probability] = {
    "MANY, net": many_net,
    "MANY, log_odds": many_log_odds,
    "MANY, (1 + P⁺ − P⁻) / 2": balance,
    "SPRT, ratio as odds": sprt_odds,
    MEAN: mean,
    "share supporting": share,
    "majority": majority,
    "rule of succession": succession,
}
DRAWN = ("MANY, net", "MANY, log_odds", "SPRT, ratio as odds", MEAN)
FLIPPING: Mapping[str, Probability] = {
    **RULES,
    "MANY, log_odds, fading": fading_log_odds,
    "ONE, claim against its opposite": one_slot,
    "newest only": newest,
}


def measure(
    healthver: Sequence[Claim],
    climate: Sequence[Claim],
    vitaminc: Sequence[Claim],
    steps: Steps,
) -> tuple[list[Table], dict[str, Curves]]:
    """Return the tables, and the reliability curves of two data sets for a plot."""
    cases = labelled_cases.halves(healthver)
    mixed = {n for n, c in enumerate(healthver) if len({p.polarity for p in c.pieces}) > 1}
    sets: dict[str, tuple[list[Case], Mapping[str, Probability]]] = {
        HEALTHVER: (cases, RULES),
        "HealthVer, claims with evidence on both sides": (
            [c for c in cases if c.claim in mixed],
            RULES,
        ),
        ANNOTATOR: (labelled_cases.one_annotator(climate), RULES),
        "Climate-FEVER, all votes": (labelled_cases.voted(climate), RULES),
        "VitaminC, misread revisions": (labelled_cases.misread(vitaminc), FLIPPING),
    }
    tables = [scored(name, *sets[name]) for name in steps.over(list(sets), "labelled evidence")]
    tables += [
        _confidences(cases),
        _verdicts({name: found for name, (found, _) in sets.items()}),
        _contested(climate),
    ]
    return tables, {name: _curves(sets[name][0]) for name in (HEALTHVER, ANNOTATOR)}


def scored(name: str, cases: Sequence[Case], rules: Mapping[str, Probability]) -> Table:
    """Return a row per rule: accuracy with its interval, Brier score, calibration error."""
    truths = [float(c.true) for c in cases]
    claims = np.array([c.claim for c in cases])
    _, place = np.unique(claims, return_inverse=True)
    probabilities = {
        rule: [probability(c.seen) for c in cases] for rule, probability in rules.items()
    }
    base = brier(probabilities[MEAN], truths)
    rows: list[dict[str, Cell]] = []
    for rule, p in probabilities.items():
        hits = [accuracy([value], [true]) for value, true in zip(p, truths, strict=True)]
        low, high = interval(np.bincount(place, hits).tolist(), np.bincount(place).tolist(), SEED)
        score = brier(p, truths)
        rows.append(
            {
                "rule": rule,
                "claims": int(place.max()) + 1,
                "cases": len(cases),
                "accuracy": round(100 * float(np.mean(hits)), 1),
                "95 %": span(low, high),
                "Brier": round(score, 3),
                "ECE": round(ece(p, truths), 3),
                "Brier / mean's": ratio(score, base),
                "accuracy / majority's": ratio(
                    float(np.mean(hits)), accuracy(probabilities["majority"], truths)
                ),
            }
        )
    return Table(name, rows)


def _confidences(cases: Sequence[Case]) -> Table:
    """Return Brier scores by the confidence that is assumed for a label."""
    truths = [float(c.true) for c in cases]
    rows: list[dict[str, Cell]] = []
    for confidence in CONFIDENCES:
        seen = [[replace(e, confidence=confidence) for e in c.seen] for c in cases]
        rows.append(
            {
                "confidence": confidence,
                **{rule: round(brier([RULES[rule](s) for s in seen], truths), 3) for rule in DRAWN},
            }
        )
    return Table("HealthVer, Brier by confidence of a label", rows)


def _curves(cases: Sequence[Case]) -> Curves:
    truths = [float(c.true) for c in cases]
    return {rule: reliability([RULES[rule](c.seen) for c in cases], truths) for rule in DRAWN}


def _verdicts(sets: Mapping[str, Sequence[Case]]) -> Table:
    """Return the verdicts of the test at its default bounds, and the shares of wrong ones."""
    rows: list[dict[str, Cell]] = []
    for name, cases in sets.items():
        verdicts = [(sequential.test(c.seen, 0.5).status, c.true) for c in cases]
        up = [true for status, true in verdicts if status is VerdictStatus.PROMOTED]
        down = [true for status, true in verdicts if status is VerdictStatus.DEMOTED]
        untrue = sum(not true for _, true in verdicts)
        rows.append(
            {
                "claims": name,
                "cases": len(cases),
                "decided": percent(len(up) + len(down), len(verdicts)),
                "right of the decided": percent(
                    sum(up) + len(down) - sum(down), len(up) + len(down)
                ),
                "untrue ones promoted": percent(len(up) - sum(up), untrue),
                "alpha": 5.0,
                "true ones demoted": percent(sum(down), len(verdicts) - untrue),
                "beta": 10.0,
            }
        )
    return Table("SPRT, verdicts on labelled evidence", rows)


def _contested(climate: Sequence[Claim]) -> Table:
    """Return the share of Climate-FEVER's claims, by label, that MANY flags as contested."""
    rows: list[dict[str, Cell]] = []
    for label in ("DISPUTED", "SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO"):
        results = [
            projection.many(seen, _end(seen), combine="net")
            for claim in climate
            if claim.label == label and (seen := weighed(claim))
        ]
        rows.append(
            {
                "label": label,
                "claims": len(results),
                "contested": percent(sum(f.contested for f in results), len(results)),
                "belief by net over 0.5": percent(
                    sum(f.belief > 0.5 for f in results), len(results)
                ),
            }
        )
    return Table("MANY, contested", rows)


def _end(evidence: Sequence[Evidence]) -> datetime:
    return max(e.at for e in evidence)
