"""Evidence about claims whose truth is known from another source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from graphmem.rules.formulas import Evidence
from research.beliefs.datasets import Claim

SEED = 20_240_602
CONFIDENCE = 0.7
"""Confidence of a label, which has no strength of its own."""
SPLITS = 10
READINGS, MISREAD = 3, 0.2
START = datetime(2024, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Case:
    """Evidence about a claim, and whether the claim is true."""

    claim: int
    seen: Sequence[Evidence]
    true: bool


def halves(claims: Sequence[Claim]) -> list[Case]:
    """Return random halves of each claim's evidence; the other half's majority decides the truth.

    Claims with fewer than four pieces of evidence, and tied halves, are left out.
    """
    cases = []
    for number, claim in enumerate(claims):
        if len(claim.pieces) < 4:
            continue
        polarities = np.array([p.polarity for p in claim.pieces])
        rng = np.random.default_rng((SEED, number))
        for _ in range(SPLITS):
            order = rng.permutation(len(polarities))
            seen, kept = np.array_split(polarities[order], 2)
            if kept.sum():
                cases.append(
                    Case(number, evidence((int(p), CONFIDENCE) for p in seen), bool(kept.sum() > 0))
                )
    return cases


def voted(claims: Sequence[Claim]) -> list[Case]:
    """Return each claim's evidence with its votes as confidence; the claim's label is the truth.

    Claims labelled as disputed or unknown, and claims whose votes are all tied, are left out.
    """
    cases = []
    for number, claim in enumerate(claims):
        if claim.label in {"SUPPORTS", "REFUTES"} and (seen := weighed(claim)):
            cases.append(Case(number, seen, claim.label == "SUPPORTS"))
    return cases


def weighed(claim: Claim) -> list[Evidence]:
    """Return a claim's evidence with |votes for - votes against| / votes as its confidence."""
    return evidence(
        (p.polarity, abs(sum(p.votes)) / len(p.votes)) for p in claim.pieces if p.polarity
    )


def one_annotator(claims: Sequence[Claim]) -> list[Case]:
    """Return one annotator's votes on each piece of evidence; the other votes decide the truth."""
    cases = []
    for number, claim in enumerate(claims):
        rng = np.random.default_rng((SEED, number))
        for _ in range(SPLITS):
            picks = [int(rng.integers(len(p.votes))) for p in claim.pieces]
            own = [p.votes[n] for p, n in zip(claim.pieces, picks, strict=True)]
            others = sum(sum(p.votes) for p in claim.pieces) - sum(own)
            seen = evidence((vote, CONFIDENCE) for vote in own if vote)
            if seen and others:
                cases.append(Case(number, seen, others > 0))
    return cases


def misread(claims: Sequence[Claim]) -> list[Case]:
    """Return three readings of each revision, one in five wrong; the last revision is the truth."""
    cases = []
    for number, claim in enumerate(claims):
        rng = np.random.default_rng((SEED, number))
        polarities = [p.polarity for p in claim.pieces for _ in range(READINGS)]
        turned = np.where(rng.random(len(polarities)) < MISREAD, -1, 1)
        seen = evidence(
            ((int(p * t), CONFIDENCE) for p, t in zip(polarities, turned, strict=True)), READINGS
        )
        cases.append(Case(number, seen, claim.pieces[-1].polarity > 0))
    return cases


def evidence(observations: Iterable[tuple[int, float]], at_once: int = 1) -> list[Evidence]:
    """Return evidence from (polarity, confidence), each its own episode, `at_once` per day."""
    return [
        Evidence(f"{n:04d}", "", polarity, confidence, 1.0, None, START + n // at_once * DAY)
        for n, (polarity, confidence) in enumerate(observations)
    ]
