"""Scores of beliefs against known facts and against later turns."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.figures import Cell
from graphmem.consolidation import BeliefChange, BeliefChangeKind, rules
from graphmem.english.passages import Passage
from graphmem.model import EvidenceKind
from graphmem.rules import scoring
from research.consolidation.histories import History

if TYPE_CHECKING:
    from graphmem.ports import Matrix

EVIDENCE = (BeliefChangeKind.CREATE, BeliefChangeKind.SUPPORT, BeliefChangeKind.CONTRADICT)
LOOKED_AT = 8
"""Number of nearest statements that a passage is compared with, as in consolidation."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Scores of the beliefs formed from one history against its facts."""

    beliefs: int
    mixed: int
    """Beliefs whose evidence states more than one fact, or contains a text without a fact."""
    learnt: int
    """Facts with a belief whose evidence states this fact alone."""
    learnable: int
    """Facts stated in enough episodes."""


def against_facts(changes: Sequence[BeliefChange], history: History, least: int) -> Facts:
    """Return the scores of created beliefs against the facts of a history.

    Args:
        changes: Changes of one or more runs.
        history: The history that the runs consolidated.
        least: Number of episodes that must state a fact for it to be learnable.
    """
    created = [
        facts_of(change, history) for change in changes if change.step is BeliefChangeKind.CREATE
    ]
    pure = [facts for facts in created if len(facts) == 1 and None not in facts]
    enough = {n for n, fact in enumerate(history.facts) if fact.episodes >= least}
    return Facts(
        beliefs=len(created),
        mixed=len(created) - len(pure),
        learnt=len(enough & {n for facts in pure for n in facts}),
        learnable=len(enough),
    )


def facts_of(change: BeliefChange, history: History) -> set[int | None]:
    """Return the facts that a change's quotes state; includes None if a quote states no fact."""
    return {history.fact_by_text.get(quote.text) for quote in change.quotes}


def facts_row(results: Sequence[Facts]) -> dict[str, Cell]:
    """Return precision and recall, in percent, over several histories."""
    beliefs, mixed = (
        sum(result.beliefs for result in results),
        sum(result.mixed for result in results),
    )
    return {
        "beliefs": beliefs,
        "precision": percent(beliefs - mixed, beliefs),
        "recall": percent(
            sum(result.learnt for result in results), sum(result.learnable for result in results)
        ),
        "mixed": percent(mixed, beliefs),
    }


def percent(part: float, whole: float) -> float | None:
    """Return a share in percent; None if the whole is zero."""
    return round(100 * part / whole, 1) if whole else None


def spoken_of(
    statements: Matrix,
    texts: Sequence[str],
    passages: Sequence[Passage],
    vectors: Matrix,
    mu: float,
    same: float,
) -> dict[EvidenceKind, set[int]]:
    """Return the statements that later passages support and refute, matched as in consolidation.

    A passage is evidence for the nearest statement whose relation to it can be determined.

    Args:
        statements: float32[n, d], unit rows.
        texts: Texts of the statements.
        passages: Passages of later sessions.
        vectors: float32[m, d], unit rows, of the passages.
        mu: Mean cosine of unrelated texts.
        same: Calibrated cosine from which a passage may match a statement.
    """
    found: dict[EvidenceKind, set[int]] = {kind: set() for kind in EvidenceKind}
    if not len(texts) or not passages:
        return found
    cosines = vectors @ statements.T
    least = scoring.raw_cosine(same, mu)
    for passage, row in zip(passages, cosines, strict=True):
        for place in np.argsort(-row, kind="stable")[:LOOKED_AT]:
            if row[place] < least:
                break
            kind = rules.relation(passage, texts[place])
            if kind is not None:
                found[kind].add(int(place))
                break
    return found


def created(changes: Sequence[BeliefChange]) -> set[str]:
    """Return the ids of the created beliefs."""
    return {change.belief_id for change in changes if change.step is BeliefChangeKind.CREATE}


def absorbed(changes: Sequence[BeliefChange]) -> set[str]:
    """Return the ids of the passages that are quoted as evidence."""
    return {
        quote.turn_id or quote.episode_id
        for change in changes
        if change.step in EVIDENCE
        for quote in change.quotes
    }


def jaccard(one: Collection[Hashable], other: Collection[Hashable]) -> float | None:
    """Return the Jaccard index of two sets; None if both are empty."""
    both, either = {*one} & {*other}, {*one} | {*other}
    return len(both) / len(either) if either else None


def quoted(changes: Sequence[BeliefChange]) -> Mapping[str, bool]:
    """Return, for each created belief, whether a quote of its evidence contains its statement.

    A statement begins with its speaker, leaves sentences out and may be truncated.
    """
    return {
        change.belief_id: any(_contained(change.statement, quote.text) for quote in change.quotes)
        for change in changes
        if change.step is BeliefChangeKind.CREATE
    }


def _contained(statement: str, text: str) -> bool:
    words = iter(text.split())
    # In the same order; other words may occur between them.
    return all(word in words for word in statement.removesuffix("…").split())
