"""Conversations and histories that consolidation is measured on, and what is held out of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bench import consolidation_scores as scores
from bench import histories
from bench.consolidation_scores import Facts, percent
from bench.figures import Cell
from bench.histories import History
from graphmem.adapters.conversations import read_conversations
from graphmem.model import BeliefChange, BeliefChangeKind, ConsolidationPolicy, EvidenceKind
from graphmem.ports import Role, run_now
from graphmem.rules import consolidation, transcripts
from graphmem.rules.consolidation import Passage

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.client import GraphMem
    from graphmem.ports import Matrix

HELD_IN = 0.7
"""Share of a conversation's sessions that beliefs are made of."""
DRAWS = 20
"""Of random statements."""
GENERATED, LOCOMO, BEAM = "generated", "LoCoMo", "BEAM"

Session: TypeAlias = tuple[str, Sequence[Any]]
Row: TypeAlias = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation or history, in sessions; each way of keeping it has a tenant of its own."""

    name: str
    sessions: tuple[Session, ...]
    history: History | None = None
    """None: nobody knows what it should teach."""

    @property
    def start(self) -> int:
        """How many sessions a run waits for: what the policy says, or what a short one has."""
        return min(ConsolidationPolicy().start, round(len(self.sessions) * HELD_IN))

    def policy(self, **changed: Any) -> ConsolidationPolicy:
        """Return the standard policy, changed."""
        return ConsolidationPolicy(start=self.start, **changed)


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured on."""

    memory: GraphMem
    steps: Steps

    def told(self, way: str, talk: Talk, sessions: Sequence[Session]) -> GraphMem:
        """Return a handle that holds these sessions, in a tenant named after the way."""
        handle = self.memory.tenant(f"{way} {talk.name}")
        for name, messages in sessions:
            handle.session(name).add_messages(messages)
        return handle


@dataclass(frozen=True, slots=True)
class Split:
    """A conversation in two: a handle on its first sessions, and what people tell in the others."""

    held: GraphMem
    before: Sequence[Passage]
    later: Sequence[Passage]
    vectors: Matrix
    """Of what is told later."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """How many statements what came later speaks for."""

    beliefs: int
    supported: int
    drawn: float
    """Of as many random telling passages, the mean over the draws."""


def generated(seed: int) -> Talk:
    """Return a generated history."""
    history = histories.made(seed=seed)
    return Talk(f"{GENERATED} {seed}", tuple(history.messages()), history)


def conversations(path: Path) -> Iterator[Talk]:
    """Yield what a conversation file holds."""
    for one in read_conversations(path).conversations:
        groups = itertools.groupby(one.messages, lambda message: str(message.session))
        yield Talk(one.name, tuple((name, list(messages)) for name, messages in groups))


def facts_in(changes: Sequence[BeliefChange], talk: Talk, policy: ConsolidationPolicy) -> Facts:
    """Return how the beliefs made of a generated history stand to its facts."""
    assert talk.history is not None  # noqa: S101 - it is a generated one
    return scores.against_facts(changes, talk.history, policy.least_episodes)


def shares(part: Sequence[Predicted]) -> Row:
    """Return which share of the statements what came later speaks for, in percent."""
    beliefs = sum(one.beliefs for one in part)
    return {
        "held out": percent(sum(one.supported for one in part), beliefs),
        "random": percent(sum(one.drawn for one in part), beliefs),
    }


def cut(talk: Talk) -> int:
    """Return how many sessions are held in."""
    return round(len(talk.sessions) * HELD_IN)


def split(on: Bench, talk: Talk, way: str) -> Split:
    """Keep the first sessions, and embed what people tell in the others."""
    before, after = talk.sessions[: cut(talk)], talk.sessions[cut(talk) :]
    held = on.told(way, talk, before)
    later = _passages(after)
    return Split(held, _passages(before), later, _embedded(held, [one.spoken for one in later]))


def _passages(sessions: Sequence[Session]) -> list[Passage]:
    """Return what people tell in these sessions."""
    return [
        Passage(f"{name}/{place}", "Turn", name, one.name, one.content, one.at)
        for name, messages in sessions
        for place, one in enumerate(messages)
        if one.role not in transcripts.NOT_PEOPLE and consolidation.telling(one.content)
    ]


def _embedded(handle: GraphMem, texts: Sequence[str]) -> Matrix:
    return run_now(handle._state.binding.world.embedder.embed(texts, Role.DOCUMENT))


def predicted(split: Split, policy: ConsolidationPolicy) -> Predicted:
    """Return how many of the beliefs that a run would make what came later speaks for."""
    done = split.held.consolidate(policy=policy, dry_run=True)
    made = list(
        dict.fromkeys(c.statement for c in done.changes if c.step is BeliefChangeKind.CREATE)
    )
    if not made:
        return Predicted(0, 0, 0.0)
    rng = np.random.default_rng(len(made))
    pool = sorted({consolidation.statement(one) for one in split.before})
    drawn = [
        [pool[i] for i in rng.choice(len(pool), size=len(made), replace=False)]
        for _ in range(DRAWS)
    ]
    texts = sorted({*made, *itertools.chain(*drawn)})
    place = {text: n for n, text in enumerate(texts)}
    vectors = _embedded(split.held, texts)

    def borne_out(statements: Sequence[str]) -> int:
        rows = vectors[[place[one] for one in statements]]
        mu = split.held._state.binding.model.mu_document
        spoken = scores.spoken_of(rows, statements, split.later, split.vectors, mu, policy.same)
        return len(spoken[EvidenceKind.SUPPORTING])

    return Predicted(len(made), borne_out(made), float(np.mean([borne_out(d) for d in drawn])))
