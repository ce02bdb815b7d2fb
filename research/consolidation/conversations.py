"""Conversations and histories for the consolidation benchmark, and their held-out sessions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bench.conversations import read_conversations
from bench.figures import Cell
from graphmem import GraphMem, Handle
from graphmem.consolidation import BeliefChange, BeliefChangeKind, ConsolidationPolicy
from graphmem.english import passages
from graphmem.english.passages import Passage
from graphmem.model import EvidenceKind, roles
from graphmem.ports import Role, run_now
from research.consolidation import histories, scores
from research.consolidation.histories import History
from research.consolidation.scores import Facts, percent

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.ports import Matrix

HELD_IN = 0.7
"""Share of a conversation's sessions that beliefs are formed from."""
DRAWS = 20
"""Number of random draws of statements."""
GENERATED, LOCOMO, BEAM = "generated", "LoCoMo", "BEAM"

Session: TypeAlias = tuple[str, Sequence[Any]]
Row: TypeAlias = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation or history, in sessions; each way of storing it uses its own tenant."""

    name: str
    sessions: tuple[Session, ...]
    history: History | None = None
    """Generated history with known facts; None for a real conversation."""

    @property
    def start(self) -> int:
        """Number of sessions that a run waits for: the policy's, or fewer for a short talk."""
        return min(ConsolidationPolicy().min_episodes, round(len(self.sessions) * HELD_IN))

    def policy(self, **changed: Any) -> ConsolidationPolicy:
        """Return the default policy with some fields changed."""
        return ConsolidationPolicy(min_episodes=self.start, **changed)


@dataclass(frozen=True, slots=True)
class Bench:
    """Database handle and progress reporter of a measurement."""

    memory: GraphMem
    steps: Steps

    def ingested(self, way: str, talk: Talk, sessions: Sequence[Session]) -> Handle:
        """Return a handle on a tenant, named after the way, that contains these sessions."""
        handle = self.memory.tenant(f"{way} {talk.name}")
        for name, messages in sessions:
            handle.session(name).add_messages(messages)
        return handle


@dataclass(frozen=True, slots=True)
class Split:
    """A handle on the first sessions of a conversation, and the later statements of people."""

    held: Handle
    before: Sequence[Passage]
    later: Sequence[Passage]
    vectors: Matrix
    """Embeddings of the later statements."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """Number of statements that later sessions support."""

    beliefs: int
    supported: int
    drawn: float
    """The same for as many random telling passages, the mean over the draws."""


def generated(seed: int) -> Talk:
    """Return a generated history."""
    history = histories.generate(seed=seed)
    return Talk(f"{GENERATED} {seed}", tuple(history.messages()), history)


def conversations(path: Path) -> Iterator[Talk]:
    """Yield the conversations of a file."""
    for talk in read_conversations(path):
        groups = itertools.groupby(talk.messages, lambda message: str(message.session))
        yield Talk(talk.name, tuple((name, list(messages)) for name, messages in groups))


def facts_in(changes: Sequence[BeliefChange], talk: Talk, policy: ConsolidationPolicy) -> Facts:
    """Return the scores of the beliefs formed from a generated history against its facts."""
    assert talk.history is not None  # noqa: S101 - the caller passes a generated history
    return scores.against_facts(changes, talk.history, policy.min_belief_episodes)


def shares(part: Sequence[Predicted]) -> Row:
    """Return the shares of statements that later sessions support, in percent."""
    beliefs = sum(result.beliefs for result in part)
    return {
        "held out": percent(sum(result.supported for result in part), beliefs),
        "random": percent(sum(result.drawn for result in part), beliefs),
    }


def cut(talk: Talk) -> int:
    """Return the number of sessions that beliefs are formed from."""
    return round(len(talk.sessions) * HELD_IN)


def split(on: Bench, talk: Talk, way: str) -> Split:
    """Store the first sessions, and embed the statements of people in the others."""
    before, after = talk.sessions[: cut(talk)], talk.sessions[cut(talk) :]
    held = on.ingested(way, talk, before)
    later = _passages(after)
    return Split(
        held, _passages(before), later, _embedded(held, [passage.spoken for passage in later])
    )


def _passages(sessions: Sequence[Session]) -> list[Passage]:
    """Return the statements of people in these sessions."""
    return [
        Passage(f"{name}/{place}", "Turn", name, message.name, message.content, message.at)
        for name, messages in sessions
        for place, message in enumerate(messages)
        if roles.is_human(message.role) and passages.informative_sentences(message.content)
    ]


def _embedded(handle: Handle, texts: Sequence[str]) -> Matrix:
    return run_now(handle._state.context.services.embedder.embed(texts, Role.DOCUMENT))


def predicted(split: Split, policy: ConsolidationPolicy) -> Predicted:
    """Return the number of beliefs a run would create, and how many of them later turns support."""
    done = split.held.consolidate(policy=policy, dry_run=True)
    made = list(
        dict.fromkeys(c.statement for c in done.changes if c.step is BeliefChangeKind.CREATE)
    )
    if not made:
        return Predicted(0, 0, 0.0)
    rng = np.random.default_rng(len(made))
    pool = sorted({passages.extractive_statement(passage) for passage in split.before})
    drawn = [
        [pool[i] for i in rng.choice(len(pool), size=len(made), replace=False)]
        for _ in range(DRAWS)
    ]
    texts = sorted({*made, *itertools.chain(*drawn)})
    place = {text: n for n, text in enumerate(texts)}
    vectors = _embedded(split.held, texts)

    def supported(statements: Sequence[str]) -> int:
        rows = vectors[[place[text] for text in statements]]
        mu = split.held._state.context.model.mu_document
        matched = scores.spoken_of(
            rows, statements, split.later, split.vectors, mu, policy.match_similarity
        )
        return len(matched[EvidenceKind.SUPPORTING])

    return Predicted(len(made), supported(made), float(np.mean([supported(d) for d in drawn])))
