"""What a search can ask of a memory beside its words: its tags, and where its events came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphmem.rules import identity


def refreshed(tenant: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is to be cached of a memory, for cache/refresh_facets.

    Args:
        tenant: whose.
        row: of cache/facets.
    """
    return {
        "id": row["id"],
        "sources": row["told"],
        "facet_keys": identity.facet_keys(tenant, row["tags"], row["told"]),
    }


def stale(tenant: str, row: Mapping[str, Any]) -> bool:
    """Return whether what is cached of a memory, a row of cache/facets, is something else."""
    right = refreshed(tenant, row)
    return any(row[name] != right[name] for name in ("sources", "facet_keys"))
