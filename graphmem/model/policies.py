"""Policies of background work: consolidation, upkeep and pruning."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from graphmem.model.belief import Unit
from graphmem.model.terms import Record

Similarity = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
"""A calibrated cosine, above 0."""
Days = Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False)]


class ConfiguredPolicy(Record):
    """Base class of the policies that have a table in the settings; the docs describe its keys."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class ConsolidationPolicy(ConfiguredPolicy):
    """Thresholds and limits of consolidation; similarities are calibrated cosines."""

    min_episodes: Annotated[int, Field(ge=1, le=10**6)] = 10
    """Minimum number of episodes before the first run."""
    interval_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 4.0
    """Hours after the last run when a new run is due, if there is a new episode."""
    new_episodes: Annotated[int, Field(ge=1, le=10**6)] = 20
    """Number of new episodes that makes a run due."""
    cluster_similarity: Similarity = 0.75
    """Minimum similarity of two passages of one cluster."""
    clause_similarity: Similarity = 0.4
    """Minimum similarity of a clause that has all words of content of another one; one that has
    two thirds of them needs `cluster_similarity`."""
    min_belief_episodes: Annotated[int, Field(ge=1, le=1_000)] = 3
    """Minimum number of episodes behind a new belief."""
    match_similarity: Similarity = 0.75
    """Minimum similarity of a passage that may support an existing belief."""
    refute_similarity: Similarity = 0.4
    """Minimum similarity of a passage that may refute a belief. It is lower because a text and its
    reversal are farther apart than two wordings of one fact; the words decide which it is."""
    grounding_similarity: Similarity = 0.5
    """Minimum similarity of a passage that a model's statement rests on."""
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
