"""Statements that draw a part of the graph in Neo4j Browser."""

from __future__ import annotations

from collections.abc import Mapping

from graphmem.graph import catalog
from graphmem.rules import drafts
from graphmem.rules.urls import Value

LIMITS: Mapping[str, int] = {
    "memories": 25,
    "memory": 6,
    "belief": 6,
    "episode": 20,
    "slot": 8,
    "chain": 25,
    "recall": 2,
}
"""Default limit of each kind of picture."""


def query(
    kind: str,
    tenant_scope: tuple[str, str],
    found: Mapping[str, Value],
    *,
    limit: int | None = None,
    skip: int = 0,
) -> str:
    """Return the statement that draws a picture.

    Args:
        kind: kind of the picture.
        tenant_scope: tenant, and scope to read with `global`.
        found: the parameters of the kind.
        limit: maximum number of nodes of each kind; None: `LIMITS`.
        skip: number of nodes to skip.
    """
    tenant, scope = tenant_scope
    shared: dict[str, Value] = {
        "tenant": tenant,
        "scope": scope,
        "scopes": drafts.default_read_scopes(scope),
        "known": None,
        "skip": skip,
        "limit": limit or LIMITS[kind],
    }
    name = "recalled" if kind == "recall" else kind
    return catalog.filled(catalog.procedure(f"browser/{name}"), {**shared, **found})
