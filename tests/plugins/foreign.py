"""Memories as another tool writes them: nodes and relationships without events."""

from __future__ import annotations

from typing import Any, LiteralString

from graphmem import Handle, Status
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

EDGES: LiteralString = (
    "MATCH (m:Memory {tenant: $tenant}) MATCH (m)-[s:SUPERSEDES]->(o) "
    "RETURN m.id AS newer, o.id AS older, properties(s) AS props ORDER BY newer, older"
)
"""All SUPERSEDES relationships between memories, with or without their events."""


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


def whole(look: Look, tenant: str) -> tuple[Any, ...]:
    """Return everything that a backfill may change, without recording times."""
    apart = ("recorded_at", "locked_at")
    events = {
        name: {k: v for k, v in event.items() if k not in apart}
        for name, event in look.events(tenant).items()
    }
    memories = {
        name: {k: v for k, v in props.items() if k not in apart}
        for name, props in nodes(look, tenant).items()
    }
    edges = [
        (row["newer"], row["older"], {k: v for k, v in row["props"].items() if k not in apart})
        for row in look.rows(EDGES, tenant=tenant)
    ]
    return events, memories, edges


def statuses(memory: Handle) -> dict[str, str]:
    """Return the status of every memory that a handle sees."""
    found = memory.memories.list(statuses=list(Status), limit=1_000).memories
    return {m.id: m.status.value for m in found}
