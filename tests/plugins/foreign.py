"""Memories as another tool writes them: nodes and relationships without events."""

from __future__ import annotations

from typing import Any, LiteralString

from tests.plugins.graph import Look
from tests.plugins.texts import unlike


def put(look: Look, tenant: str, name: str, **props: Any) -> None:
    """Create a memory as another tool would."""
    given = {"scope": "global", "content": f"{name} says: {unlike(1, about=name)}", **props}
    look._driver.execute_query(
        "CREATE (m:Memory {tenant: $tenant, id: $id}) SET m += $props",
        tenant=tenant,
        id=name,
        props=given,
    )


def draw(look: Look, tenant: str, newer: str, older: str, **props: Any) -> None:
    """Create a relationship as another tool would."""
    look._driver.execute_query(
        "MATCH (newer:Memory {tenant: $tenant, id: $newer}) "
        "MATCH (older:Memory {tenant: $tenant, id: $older}) "
        "CREATE (newer)-[s:SUPERSEDES]->(older) SET s += $props",
        tenant=tenant,
        newer=newer,
        older=older,
        props=props,
    )


def change(look: Look, text: LiteralString, **params: Any) -> None:
    """Change the graph directly."""
    look._driver.execute_query(text, params)


def nodes(look: Look, tenant: str) -> dict[str, dict[str, Any]]:
    """Return all memories of a tenant by id, with all properties."""
    # As text, because Python cannot represent some of these timestamps.
    rows = look.rows(
        "MATCH (m:Memory {tenant: $tenant}) RETURN coalesce(m.id, elementId(m)) AS id, "
        "CASE WHEN m.created_at IS NULL THEN m {.*} "
        "ELSE m {.*, created_at: toString(m.created_at)} END AS props",
        tenant=tenant,
    )
    return {row["id"]: row["props"] for row in rows}
