"""What is counted of beliefs: how they stand to known facts, and to what was said later."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.figures import Cell
from bench.histories import History
from graphmem.model import BeliefChange, BeliefChangeKind, EvidenceKind
from graphmem.rules import matching, scoring
from graphmem.rules.consolidation import Passage

if TYPE_CHECKING:
    from graphmem.ports import Matrix

EVIDENCE = (BeliefChangeKind.CREATE, BeliefChangeKind.SUPPORT, BeliefChangeKind.CONTRADICT)
LOOKED_AT = 8
"""Nearest statements of which a passage may speak, as in consolidation."""


@dataclass(frozen=True, slots=True)
class Facts:
    """How the beliefs made of one history stand to its facts."""

    beliefs: int
    mixed: int
    """Resting on more than one fact, or on a text that tells none."""
    learnt: int
    """Facts that a belief rests on, and on no other."""
    learnable: int
    """Facts told in enough episodes."""


def against_facts(changes: Sequence[BeliefChange], history: History, least: int) -> Facts:
    """Return how created beliefs stand to the facts of a history.

    Args:
        changes: of one run, or of several.
        history: what was told.
        least: episodes that make a fact one to be learnt.
    """
    created = [
        facts_of(change, history) for change in changes if change.step is BeliefChangeKind.CREATE
    ]
    pure = [of for of in created if len(of) == 1 and None not in of]
    enough = {n for n, fact in enumerate(history.facts) if fact.episodes >= least}
    return Facts(
        beliefs=len(created),
        mixed=len(created) - len(pure),
        learnt=len(enough & {n for of in pure for n in of}),
        learnable=len(enough),
    )


def facts_of(change: BeliefChange, history: History) -> set[int | None]:
    """Return the facts that a change's quotes tell; None: a quote that tells none."""
    return {history.tells.get(quote.text) for quote in change.quotes}


def facts_row(found: Sequence[Facts]) -> dict[str, Cell]:
    """Return precision and recall, in percent, over several histories."""
    beliefs, mixed = sum(one.beliefs for one in found), sum(one.mixed for one in found)
    return {
        "beliefs": beliefs,
        "precision": percent(beliefs - mixed, beliefs),
        "recall": percent(sum(one.learnt for one in found), sum(one.learnable for one in found)),
        "mixed": percent(mixed, beliefs),
    }


def percent(part: float, whole: float) -> float | None:
    """Return a share in percent; None of nothing."""
    return round(100 * part / whole, 1) if whole else None


def spoken_of(
    statements: Matrix,
    texts: Sequence[str],
    passages: Sequence[Passage],
    vectors: Matrix,
    mu: float,
    same: float,
) -> dict[EvidenceKind, set[int]]:
    """Return which statements later passages speak for and against, as consolidation matches them.

    A passage speaks of the nearest statement of which it can be told how.

    Args:
        statements: float32[n, d], unit rows.
        texts: their words.
        passages: what was said later.
        vectors: float32[m, d], unit rows, of the passages.
        mu: mean cosine of unrelated texts.
        same: calibrated cosine from which a passage may speak of a statement.
    """
    found: dict[EvidenceKind, set[int]] = {kind: set() for kind in EvidenceKind}
    if not len(texts) or not passages:
        return found
    cosines = vectors @ statements.T
    least = scoring.raw(same, mu)
    for passage, row in zip(passages, cosines, strict=True):
        for place in np.argsort(-row, kind="stable")[:LOOKED_AT]:
            if row[place] < least:
                break
            kind = matching.relation(passage, texts[place])
            if kind is not None:
                found[kind].add(int(place))
                break
    return found


def created(changes: Sequence[BeliefChange]) -> set[str]:
    """Return the ids of beliefs that were made."""
    return {change.belief_id for change in changes if change.step is BeliefChangeKind.CREATE}


def absorbed(changes: Sequence[BeliefChange]) -> set[str]:
    """Return the ids of the passages that evidence rests on."""
    return {
        quote.turn_id or quote.episode_id
        for change in changes
        if change.step in EVIDENCE
        for quote in change.quotes
    }


def jaccard(one: Collection[Hashable], other: Collection[Hashable]) -> float | None:
    """Return what two sets have in common, over what either has; None of nothing."""
    both, either = {*one} & {*other}, {*one} | {*other}
    return len(both) / len(either) if either else None


def quoted(changes: Sequence[BeliefChange]) -> Mapping[str, bool]:
    """Return of each belief made whether its words stand in a quote it rests on.

    A statement begins with its speaker, leaves sentences out and may be cut at the end.
    """
    return {
        change.belief_id: any(_stands_in(change.statement, quote.text) for quote in change.quotes)
        for change in changes
        if change.step is BeliefChangeKind.CREATE
    }


def _stands_in(statement: str, text: str) -> bool:
    words = iter(text.split())
    # In their order, others between them.
    return all(word in words for word in statement.removesuffix("…").split())
