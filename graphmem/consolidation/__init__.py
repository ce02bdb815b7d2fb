"""Consolidation of passages into beliefs: read, cluster, synthesise, match and archive."""

from __future__ import annotations

from enum import StrEnum

from graphmem.model.policies import ConsolidationPolicy as ConsolidationPolicy
from graphmem.model.terms import Instant, Record


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
    depth: int = 0
    """Depth of the belief, greater than 0 if it generalises beliefs."""
    generalises: tuple[str, ...] = ()
    """CREATE: ids of the beliefs that it generalises."""
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


class ConsolidationStatus(Record):
    """State of the consolidation of a scope: what waits, and why."""

    episodes: int
    """Number of episodes in the scope."""
    fresh: int
    """Number of these that no finished run has read."""
    due: bool
    """Whether `consolidate(if_due=True)` would run now."""
    reason: str
    """Why a run is due or not, as a sentence."""
    last_run_at: Instant | None
    """Known time of the last finished run; None if no run has finished."""
    open_since: Instant | None
    """Known time of a running or interrupted run; None if there is none."""
    running: bool
    """Whether a worker is running now."""
    unavailable_since: Instant | None
    """Time since when a model has been unavailable; None if the last run had all answers."""
    retry_at: Instant | None
    """Time of the next attempt after that."""
    clusters: tuple[ClusterFailure, ...]
    """Clusters whose replies were invalid; those given up wait for `consolidate(retry=True)`."""


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
    """Number of clusters with at least `min_belief_episodes` episodes."""
    changes: tuple[BeliefChange, ...] = ()
    troubles: tuple[ClusterFailure, ...] = ()
    calls: int = 0
    """Number of requests to the language model, including retries and repairs."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """Cost in USD; None if the price is unknown."""
