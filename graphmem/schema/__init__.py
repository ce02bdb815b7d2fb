"""The schema of a graph and the embedding models that fill it."""

from graphmem.schema.records import (
    AppliedMigration,
    DeclaredSchema,
    Difference,
    GraphState,
    Health,
    ReembedReport,
    SchemaItem,
)

__all__ = [
    "AppliedMigration",
    "DeclaredSchema",
    "Difference",
    "GraphState",
    "Health",
    "ReembedReport",
    "SchemaItem",
]
