"""Evidence about claims whose truth is known by something else than that evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from bench.belief_data import Claim
from graphmem.rules.formulas import Evidence

SEED = 20_240_602
CONFIDENCE = 0.7
"""Of a label, which comes with no strength of its own."""
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
    """Return random halves of each claim's evidence, true by the majority of the other half.

    Claims with fewer than four pieces, and halves that are tied, are left out.
    """
    cases = []
    for number, claim in enumerate(claims):
        if len(claim.pieces) < 4:
            continue
        said = np.array([p.polarity for p in claim.pieces])
        rng = np.random.default_rng((SEED, number))
        for _ in range(SPLITS):
            order = rng.permutation(len(said))
            seen, kept = np.array_split(said[order], 2)
            if kept.sum():
                cases.append(
                    Case(number, evidence((int(p), CONFIDENCE) for p in seen), bool(kept.sum() > 0))
                )
    return cases


def voted(claims: Sequence[Claim]) -> list[Case]:
    """Return all evidence of a claim with its votes as confidence, true by the claim's label.

    Claims labelled as disputed or as unknown, and those whose votes are all tied, are left out.
    """
    cases = []
    for number, claim in enumerate(claims):
        if claim.label in {"SUPPORTS", "REFUTES"} and (seen := weighed(claim)):
            cases.append(Case(number, seen, claim.label == "SUPPORTS"))
    return cases


def weighed(claim: Claim) -> list[Evidence]:
    """Return a claim's evidence, |votes for - votes against| / votes as its confidence."""
    return evidence(
        (p.polarity, abs(sum(p.votes)) / len(p.votes)) for p in claim.pieces if p.polarity
    )


def one_annotator(claims: Sequence[Claim]) -> list[Case]:
    """Return one annotator's votes on each piece, true by the votes of all the others."""
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
    """Return three readings of each revision, each wrong one time in five; true by the last one."""
    cases = []
    for number, claim in enumerate(claims):
        rng = np.random.default_rng((SEED, number))
        said = [p.polarity for p in claim.pieces for _ in range(READINGS)]
        turned = np.where(rng.random(len(said)) < MISREAD, -1, 1)
        seen = evidence(
            ((int(p * t), CONFIDENCE) for p, t in zip(said, turned, strict=True)), READINGS
        )
        cases.append(Case(number, seen, claim.pieces[-1].polarity > 0))
    return cases


def evidence(said: Iterable[tuple[int, float]], at_once: int = 1) -> list[Evidence]:
    """Return pieces from (polarity, confidence), each an episode of its own, `at_once` a day."""
    return [
        Evidence(f"{n:04d}", "", polarity, confidence, 1.0, None, START + n // at_once * DAY)
        for n, (polarity, confidence) in enumerate(said)
    ]
