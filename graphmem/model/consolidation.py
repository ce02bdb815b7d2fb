"""Consolidation: by what rules episodes become beliefs, and what a run did or would do."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from graphmem.model.belief import Unit
from graphmem.model.terms import Instant, Record

Similarity = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
"""A calibrated cosine, above 0."""


class ConsolidationPolicy(Record):
    """How episodes become beliefs; similarities are calibrated cosines."""

    start: Annotated[int, Field(ge=1, le=10**6)] = 10
    """Nothing runs before so many episodes."""
    every_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 4.0
    """A run is due so long after the last one, when an episode is new."""
    fresh: Annotated[int, Field(ge=1, le=10**6)] = 20
    """A run is due when so many episodes are new."""
    near: Similarity = 0.75
    """From here on two passages may belong to one cluster."""
    least_episodes: Annotated[int, Field(ge=1, le=1_000)] = 3
    """Episodes that a new belief rests on."""
    same: Similarity = 0.75
    """From here on a passage may speak for a belief that is there."""
    against: Similarity = 0.4
    """From here on it may speak against one: a text and its reversal lie farther apart than two
    wordings of one fact, and which it is the words decide."""
    borne_out: Similarity = 0.5
    """How near to its statement a passage must lie for a model's statement to rest on it."""
    neighbours: Annotated[int, Field(ge=1, le=1_000)] = 64
    """Nearest passages looked at for each passage."""
    most_confidence: Unit = 0.9
    """Of a piece of evidence; else its similarity to the statement."""
    archive: Unit = 0.3
    """A belief that was only inferred is archived below it."""
    attempts: Annotated[int, Field(ge=1, le=1_000)] = 5
    """How often a cluster that goes wrong is tried, one run each."""


class BeliefChangeKind(StrEnum):
    """What consolidation does to a belief."""

    CREATE = "create"
    SUPPORT = "support"
    CONTRADICT = "contradict"
    FLAG = "flag"
    RESTORE = "restore"
    ARCHIVE = "archive"


class Quote(Record):
    """The words that a piece of evidence rests on."""

    episode_id: str
    turn_id: str | None
    """None: the episode's own text."""
    text: str
    occurred_at: Instant
    confidence: float


class BeliefChange(Record):
    """One thing that a run does to a belief."""

    step: BeliefChangeKind
    belief_id: str
    statement: str
    quotes: tuple[Quote, ...] = ()
    """CREATE, SUPPORT, CONTRADICT: the evidence, oldest first."""
    reason: str | None = None
    """FLAG, ARCHIVE, RESTORE: in words, with its numbers."""

    @property
    def episode_ids(self) -> tuple[str, ...]:
        """The episodes that the evidence comes from, each once."""
        return tuple(dict.fromkeys(quote.episode_id for quote in self.quotes))


class ClusterFailure(Record):
    """A cluster of which nothing was written; none of its passages is lost."""

    reply_id: str
    code: str
    """Of the error, or `refused` when the reply did not stand up to its checks."""
    problem: str
    episode_ids: tuple[str, ...]
    attempts: int
    """So far, this one counted."""
    given_up: bool
    """It is not tried again until something is said that joins it."""


class ConsolidationReport(Record):
    """What a run did, or what one would do."""

    applied: bool
    """False for a dry run, and when nothing was to be done."""
    skipped: str | None = None
    """Why nothing was looked at."""
    resumed: bool = False
    """It went on with a run that another worker did not finish."""
    synthesiser: str = ""
    """`extractive`, or the language model's name."""
    known: Instant | None = None
    """What was recorded later was not seen."""
    episodes: int = 0
    """In the scope."""
    fresh: int = 0
    """Of these, not seen by an earlier run."""
    passages: int = 0
    """Turns of people, and episodes without turns, on which no belief rested."""
    clusters: int = 0
    """Of at least `least_episodes` episodes."""
    changes: tuple[BeliefChange, ...] = ()
    troubles: tuple[ClusterFailure, ...] = ()
    calls: int = 0
    """Requests to the language model, retries and repairs included."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """As far as the price is known."""
