"""Consolidation records: the policy that turns episodes into beliefs, and the report of a run."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from graphmem.model.belief import Unit
from graphmem.model.terms import Instant, Record

Similarity = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
"""A calibrated cosine, above 0."""


class ConsolidationPolicy(Record):
    """Thresholds and limits of consolidation; similarities are calibrated cosines."""

    min_episodes: Annotated[int, Field(ge=1, le=10**6)] = 10
    """Minimum number of episodes before the first run."""
    interval_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 4.0
    """Hours after the last run when a new run is due, if there is a new episode."""
    new_episodes: Annotated[int, Field(ge=1, le=10**6)] = 20
    """Number of new episodes that makes a run due."""
    cluster_similarity: Similarity = 0.75
    """Minimum similarity of two passages of one cluster."""
    min_belief_episodes: Annotated[int, Field(ge=1, le=1_000)] = 3
    """Minimum number of episodes behind a new belief."""
    match_similarity: Similarity = 0.75
    """Minimum similarity of a passage that may support an existing belief."""
    refute_similarity: Similarity = 0.4
    """Minimum similarity of a passage that may refute a belief. It is lower because a text and its
    reversal are farther apart than two wordings of one fact; the words decide which it is."""
    grounding_similarity: Similarity = 0.5
    """Minimum similarity of a passage that a model's statement rests on."""
    neighbours: Annotated[int, Field(ge=1, le=1_000)] = 64
    """Number of nearest passages examined for each passage."""
    max_confidence: Unit = 0.9
    """Maximum confidence of a piece of evidence; otherwise its similarity to the statement."""
    archive_below: Unit = 0.3
    """Belief score below which an inferred belief is archived."""
    max_attempts: Annotated[int, Field(ge=1, le=1_000)] = 5
    """Maximum number of attempts on a failing cluster, one per run."""


class BeliefChangeKind(StrEnum):
    """Change of a belief by consolidation."""

    CREATE = "create"
    SUPPORT = "support"
    CONTRADICT = "contradict"
    FLAG = "flag"
    RESTORE = "restore"
    ARCHIVE = "archive"


class Quote(Record):
    """Text that a piece of evidence quotes."""

    episode_id: str
    turn_id: str | None
    """Id of its turn; None for the episode's own text."""
    text: str
    occurred_at: Instant
    confidence: float


class BeliefChange(Record):
    """One change of a belief by a run."""

    step: BeliefChangeKind
    belief_id: str
    statement: str
    quotes: tuple[Quote, ...] = ()
    """CREATE, SUPPORT, CONTRADICT: the evidence, oldest first."""
    reason: str | None = None
    """FLAG, ARCHIVE, RESTORE: the reason, as a sentence with its numbers."""

    @property
    def episode_ids(self) -> tuple[str, ...]:
        """Return the ids of the episodes behind the evidence, each once."""
        return tuple(dict.fromkeys(quote.episode_id for quote in self.quotes))


class ClusterFailure(Record):
    """A failed cluster; nothing was written for it, and its passages stay available."""

    reply_id: str
    code: str
    """Code of the error, or `refused` if the reply failed its checks."""
    problem: str
    episode_ids: tuple[str, ...]
    attempts: int
    """Number of attempts so far, including this one."""
    given_up: bool
    """Whether it is not tried again until a new passage joins it."""


class ConsolidationReport(Record):
    """Result of a run or of its preview."""

    applied: bool
    """False for a preview, and if there was nothing to do."""
    skipped: str | None = None
    """Reason why the run was skipped; None if it ran."""
    resumed: bool = False
    """Whether it resumed a run that another worker did not finish."""
    synthesiser: str = ""
    """`extractive`, or the name of the language model."""
    known: Instant | None = None
    """Known time of the run; anything recorded later was not read."""
    episodes: int = 0
    """Number of episodes in the scope."""
    fresh: int = 0
    """Number of these that no earlier run has read."""
    passages: int = 0
    """Number of passages without a belief: turns of people, and episodes without turns."""
    clusters: int = 0
    """Number of clusters with at least `least_episodes` episodes."""
    changes: tuple[BeliefChange, ...] = ()
    troubles: tuple[ClusterFailure, ...] = ()
    calls: int = 0
    """Number of requests to the language model, including retries and repairs."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """Cost in USD; None if the price is unknown."""
