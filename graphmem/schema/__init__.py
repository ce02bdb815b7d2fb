"""The schema of a graph and the embedding models that fill it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from graphmem.model.terms import EmbeddingModel, Instant, Record


class AppliedMigration(Record):
    """One migration recorded in the graph."""

    number: int
    name: str
    sha256: str
    applied_at: Instant
    language: str | None = None
    """Language of the full-text indexes that it created; None if it created none."""


class Health(Record):
    """Result of a check of the server, the schema and the embedding model."""

    embedding_model: str
    dimension: int
    """Length of its vectors."""
    language: str
    """Language of the full-text indexes."""
    seconds: float
    """Duration of the check."""


class ReembedReport(Record):
    """Result of a run of `reembed`."""

    model: str
    """Model of the graph's current embeddings."""
    switched: bool
    """Whether this run switched to it."""
    embedded: int
    """Number of texts that this run embedded."""


class GraphState(Record):
    """Schema state recorded in the graph."""

    migrations: tuple[AppliedMigration, ...]
    models: tuple[EmbeddingModel, ...]

    @property
    def model(self) -> EmbeddingModel | None:
        """Return the current model; None before the first migration."""
        return self.keyed("current")

    def keyed(self, key: str) -> EmbeddingModel | None:
        """Return the model with this key; None if there is none."""
        return next((model for model in self.models if model.key == key), None)


class SchemaItem(Record):
    """One index or constraint."""

    name: str
    type: str
    """Type as the server names it: RANGE, FULLTEXT, VECTOR, NODE_PROPERTY_UNIQUENESS."""
    labels: tuple[str, ...]
    """Labels of its nodes, or relationship types in brackets."""
    properties: tuple[str, ...]
    """Properties in order; for a vector index the vector first, then the filter properties."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Settings of the index; for a declared index only the relevant ones."""
    state: str = "ONLINE"
    """State that the server reports; a constraint has none and counts as online."""


class DeclaredSchema(Record):
    """Indexes and constraints that the graph must have, and graphmem's labels."""

    items: tuple[SchemaItem, ...]
    labels: frozenset[str]


class Difference(Record):
    """One difference between the graph's schema and the declared one."""

    kind: Literal["missing", "unexpected", "different", "not online"]
    name: str
    """Name of the index or constraint."""
    text: str
    """Expected and actual state."""
