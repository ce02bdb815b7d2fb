"""What the graph says of its own schema, and what it should be."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from graphmem.model.terms import Instant, Record


class AppliedMigration(Record):
    """One migration as the graph remembers it."""

    number: int
    name: str
    sha256: str
    applied_at: Instant
    language: str | None = None
    """Of the full-text indexes that it made."""


class EmbeddingModel(Record):
    """The model that filled the graph, with its mean cosines over unrelated texts."""

    name: str
    dimension: int
    mu_document: float
    """Between two documents."""
    mu_query: float
    """Between a query and a document."""
    generation: int = 1
    """Of the embeddings that it made."""
    key: Literal["current", "next", "former", "dropped"] = "current"
    """`next` is filling the graph, `former` did so before `current`, and its embeddings are still
    there; those of `dropped` are being removed."""


class ReembedReport(Record):
    """What a run of `reembed` did."""

    model: str
    """Whose embeddings the graph has now."""
    switched: bool
    """Whether this run went over to it."""
    embedded: int
    """Texts that had no embedding by it."""


class GraphState(Record):
    """What the graph says of its own schema."""

    migrations: tuple[AppliedMigration, ...]
    models: tuple[EmbeddingModel, ...]

    @property
    def model(self) -> EmbeddingModel | None:
        """The current model; None before the first migration."""
        return self.keyed("current")

    def keyed(self, key: str) -> EmbeddingModel | None:
        """Return the model with this key."""
        return next((model for model in self.models if model.key == key), None)


class SchemaItem(Record):
    """One index or constraint."""

    name: str
    type: str
    """As the server calls it: RANGE, FULLTEXT, VECTOR, NODE_PROPERTY_UNIQUENESS."""
    labels: tuple[str, ...]
    """Of the nodes it covers, or types of relationships in brackets."""
    properties: tuple[str, ...]
    """In order; of a vector index the vector first, then what its search can filter by."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Settings of the index; of a declared one only those that matter."""


class DeclaredSchema(Record):
    """Every index and constraint that the graph must have, and the labels that are ours."""

    items: tuple[SchemaItem, ...]
    labels: frozenset[str]


class Difference(Record):
    """One way in which the graph's schema is not the declared one."""

    kind: Literal["missing", "unexpected", "different", "not online"]
    name: str
    """Of the index or constraint."""
    text: str
    """What was wanted and what is there."""
