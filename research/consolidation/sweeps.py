"""Sweeps over the policy's parameters and over the interval between consolidation runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmem import Handle
from graphmem.consolidation import BeliefChange
from research.consolidation import scores
from research.consolidation.conversations import (
    GENERATED,
    LOCOMO,
    Bench,
    Row,
    Split,
    Talk,
    facts_in,
    predicted,
    shares,
    split,
)
from research.consolidation.scores import Facts, percent

if TYPE_CHECKING:
    from bench.progress import Steps

NEAR = (0.65, 0.70, 0.75, 0.80, 0.85)
LEAST = (2, 3, 4, 5)
EVERY = (1, 5, 20)
"""Numbers of sessions between two runs."""
SWEPT = "swept"


@dataclass(frozen=True, slots=True)
class SweepData:
    """Data of the sweeps; they only use dry runs."""

    generated: Sequence[tuple[Talk, Handle]]
    locomo: Sequence[tuple[Talk, Split]]

    @classmethod
    def of(cls, on: Bench, generated: Sequence[Talk], locomo: Sequence[Talk]) -> SweepData:
        """Load the talks into tenants of their own."""
        return cls(
            [(talk, on.ingested(SWEPT, talk, talk.sessions)) for talk in generated],
            [(talk, split(on, talk, SWEPT)) for talk in on.steps.over(locomo, "to be swept")],
        )

    def row(self, steps: Steps, **changed: Any) -> Row:
        """Return precision, recall and the predicted share with the changed policy."""
        results: list[Facts] = []
        for talk, handle in self.generated:
            policy = talk.policy(**changed)
            done = handle.consolidate(policy=policy, dry_run=True)
            results.append(facts_in(done.changes, talk, policy))
        title = ", ".join(f"{name} {value}" for name, value in changed.items())
        part = [
            predicted(split, talk.policy(**changed))
            for talk, split in steps.over(self.locomo, title)
        ]
        return {
            **changed,
            **{f"{GENERATED} {name}": cell for name, cell in scores.facts_row(results).items()},
            f"{LOCOMO} beliefs": sum(result.beliefs for result in part),
            **{f"{LOCOMO} {name}": cell for name, cell in shares(part).items()},
        }


def intervals(on: Bench, corpora: Mapping[str, Sequence[Talk]]) -> Iterator[Row]:
    """Yield the results on each corpus by the interval between runs."""
    for name, talks in corpora.items():
        once = [_in_steps(on, talk, None) for talk in talks]
        yield interval_row(name, "all", talks, once, once)
        for every in EVERY:
            runs = [_in_steps(on, talk, every) for talk in on.steps.over(talks, f"every {every}")]
            yield interval_row(name, every, talks, runs, once)


def _in_steps(on: Bench, talk: Talk, every: int | None) -> list[BeliefChange]:
    """Return all changes of runs after every `every` sessions; None: one run after all sessions."""
    step = every or len(talk.sessions)
    changes: list[BeliefChange] = []
    for start in range(0, len(talk.sessions), step):
        handle = on.ingested(f"every {every}", talk, talk.sessions[start : start + step])
        changes += handle.consolidate(policy=talk.policy()).changes
    return changes


def interval_row(
    name: str,
    every: int | str,
    talks: Sequence[Talk],
    runs: Sequence[Sequence[BeliefChange]],
    once: Sequence[Sequence[BeliefChange]],
) -> Row:
    """Return the results of runs at an interval, compared with one run over everything."""
    made = [scores.created(changes) for changes in runs]
    whole = [scores.created(changes) for changes in once]
    ours = {(n, i) for n, changes in enumerate(runs) for i in scores.absorbed(changes)}
    theirs = {(n, i) for n, changes in enumerate(once) for i in scores.absorbed(changes)}
    known = [
        scores.against_facts(changes, talk.history, talk.policy().min_belief_episodes)
        for changes, talk in zip(runs, talks, strict=True)
        if talk.history is not None
    ]
    judged = scores.facts_row(known)
    return {
        "corpus": name,
        "sessions between runs": str(every),
        "beliefs": sum(map(len, made)),
        "precision": judged["precision"] if known else None,
        "recall": judged["recall"] if known else None,
        "Jaccard": scores.jaccard(
            {(n, i) for n, ids in enumerate(made) for i in ids},
            {(n, i) for n, ids in enumerate(whole) for i in ids},
        ),
        "absorbed": percent(len(ours & theirs), len(theirs)),
    }
