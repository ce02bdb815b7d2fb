"""Policies that settings configure: tests and vitality of beliefs, ratings, background work."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from graphmem.model.belief import Unit
from graphmem.model.terms import Record

Similarity = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
"""A calibrated cosine, above 0."""
Days = Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False)]


class ConfiguredPolicy(Record):
    """Base class of the policies that have a table in the settings; the docs describe its keys."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class SprtParameters(ConfiguredPolicy):
    """Bounds of the sequential test, and the steps of its confidence."""

    alpha: float = Field(0.05, gt=0, lt=0.5)
    """Tolerated rate of false promotions."""
    beta: float = Field(0.10, gt=0, lt=0.5)
    """Tolerated rate of false demotions."""
    promote_step: Unit = 0.10
    """Confidence added by a promotion."""
    demote_step: Unit = 0.20
    """Confidence subtracted by a demotion."""
    max_confidence: Unit = 0.95
    """Maximum confidence after a promotion."""
    min_confidence: Unit = 0.05
    """Minimum confidence after a demotion."""

    @property
    def upper(self) -> float:
        """A > 0: log ratio at or above which a belief is promoted."""
        return math.log((1 - self.beta) / self.alpha)

    @property
    def lower(self) -> float:
        """B < 0: log ratio at or below which a belief is demoted."""
        return math.log(self.beta / (1 - self.alpha))


class VitalityPolicy(ConfiguredPolicy):
    """Constants of the vitality of beliefs and of the gate of contradictions."""

    stability_days: float = Field(30.0, gt=0, le=3_650)
    """S at the first retrieval, in days. Ours: the source gives no value."""
    max_stability_days: float = Field(365.0, gt=0, le=36_500)
    """Maximum of S, in days."""
    gate_base: float = Field(0.1, ge=0, le=10)
    """Factor of ln(1 + retrievals) ln(1 + days) in the gate; fitted like its bounds to three
    targets, see docs/explanation/beliefs.md."""
    gate_min: Unit = 0.1
    """Minimum of the gate."""
    gate_max: Unit = 0.42
    """Maximum of the gate."""
    gate_window_hours: float = Field(6.0, ge=0, le=8_760)
    """Hours after an `expand` during which any contradiction unsettles a belief: how long a
    retrieved memory stays open to change in Nader's experiments."""


class RatingPolicy(ConfiguredPolicy):
    """Rule of the ratings of memories; a constant that is not None replaces the rule's."""

    rule: Literal["source", "search"] = "source"
    """`source`, Vector ELO: each pair of results is a game. `search`: a search is one game."""
    k_new: float | None = Field(None, gt=0, le=1e4)
    """K of new items; 16 or, by `search`, 96."""
    k_established: float | None = Field(None, gt=0, le=1e4)
    """K after the first games; 8 or 48."""
    established: int | None = Field(None, ge=0, le=10**6)
    """Number of games until K falls; 10."""
    floor: float | None = Field(None, ge=-1e6, le=1e6)
    """Rating that unused items decay to; 800."""
    fading_days: float | None = Field(None, gt=0, le=36_500)
    """Time constant of decay, in days; 30 or 180."""
    gate_similarity: float | None = Field(None, ge=-1, le=1)
    """Calibrated similarity up to which a gain is cut; 0.3."""
    gate_factor: Unit | None = None
    """Part of a gain that is left then; 0.25."""
    high: float | None = Field(None, ge=-1e6, le=1e6)
    """Lower bound of HIGH; 1600 or 1300."""
    medium: float | None = Field(None, ge=-1e6, le=1e6)
    """Lower bound of MEDIUM; 1200."""
    low: float | None = Field(None, ge=-1e6, le=1e6)
    """Lower bound of LOW; 800."""


class ConsolidationPolicy(ConfiguredPolicy):
    """Thresholds and limits of consolidation; similarities are calibrated cosines."""

    min_episodes: Annotated[int, Field(ge=1, le=10**6)] = 10
    """Minimum number of episodes before the first run."""
    interval_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 4.0
    """Hours after the last run when a new run is due, if there is a new episode."""
    new_episodes: Annotated[int, Field(ge=1, le=10**6)] = 20
    """Number of new episodes that makes a run due."""
    cluster_similarity: Similarity = 0.5
    """Minimum similarity of two beliefs of which a model is asked what they have in common."""
    clause_similarity: Similarity = 0.4
    """Minimum similarity of a clause that has all words of content of the clause it supports, and
    of clauses of two passages of which a model is asked what they have in common."""
    wording_similarity: Similarity = 0.5
    """Minimum similarity of a clause that has three of five of these words, but two at least."""
    word_similarity: Similarity = 0.6
    """Minimum similarity of a clause that has one of two of these words."""
    min_belief_episodes: Annotated[int, Field(ge=1, le=1_000)] = 3
    """Minimum number of episodes behind a new belief."""
    match_similarity: Similarity = 0.75
    """Minimum similarity of a passage that may support an existing belief."""
    refute_similarity: Similarity = 0.4
    """Minimum similarity of a passage that may refute a belief. It is lower because a text and its
    reversal are farther apart than two wordings of one fact; the words decide which it is."""
    grounding_similarity: Similarity = 0.45
    """Minimum similarity of a passage, or a clause of it, that a model's statement rests on."""
    neighbours: Annotated[int, Field(ge=1, le=1_000)] = 128
    """Number of nearest passages examined for each passage."""
    max_confidence: Unit = 0.9
    """Maximum confidence of a piece of evidence; otherwise its similarity to the statement."""
    archive_below: Unit = 0.3
    """Belief score below which an inferred belief is archived."""
    max_depth: Annotated[int, Field(ge=0, le=2)] = 2
    """Maximum depth of a belief that generalises beliefs; 0 for beliefs from episodes only. Needs a
    language model."""
    max_attempts: Annotated[int, Field(ge=1, le=1_000)] = 5
    """Maximum number of invalid replies about a cluster, one per run; an unavailable model uses up
    none."""


class PrunePolicy(ConfiguredPolicy):
    """Days without a touch before each action, after Vector ELO except `low_archive_days`."""

    archive_days: Days = 30.0
    """Days until a VERY_LOW episode is archived."""
    compress_days: Days = 14.0
    """Days until a LOW episode is compressed."""
    low_archive_days: Days = 30.0
    """Days until a LOW episode is archived, opened before or not: so the memory is bounded."""


class UpkeepPolicy(ConfiguredPolicy):
    """Thresholds for the graduation and compression of episodes."""

    importance: Unit = 0.7
    """Minimum importance for graduation; episodes below it may be compressed."""
    accesses: Annotated[int, Field(ge=1, le=10**6)] = 3
    """Number of accesses after which an important episode graduates at any age."""
    graduate_days: Days = 14.0
    """Age in days at which an important episode graduates."""
    max_episodes: Annotated[int, Field(ge=1, le=1_000)] = 10
    """Maximum number of episodes that graduate in one cycle."""
    compress_days: Days = 30.0
    """Age in days at which an episode without accesses is compressed."""
