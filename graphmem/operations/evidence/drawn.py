"""Retract the evidence that was drawn from retracted evidence or from a rejected belief."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from graphmem.graph import catalog
from graphmem.model import EventType
from graphmem.ports import Tx
from graphmem.rules import drafts, identity

DRAWN = catalog.query("belief/drawn", dict)
RETRACT = catalog.query("belief/retract", catalog.ignored)
REJECTION = "rejection"
"""Source of the retractions that follow from a rejection; belief/drawn looks for it."""


async def follow_retraction(tx: Tx, event: Mapping[str, Any], *, of_evidence: bool) -> None:
    """Retract the evidence drawn from the target of a RETRACT event, or undo that.

    The transaction must hold the tenant lock.

    Args:
        of_evidence: whether its target is evidence rather than a retraction.
    """
    target_id = event["target_id"]
    rows = await tx.fetch(DRAWN, event_id=target_id, value_keys=None, scope=event["scope"])
    for row in rows:
        follows = row["id"] if of_evidence else _id(target_id, row["id"])
        await _retract(tx, event, row, follows)


async def follow_ruling(tx: Tx, event: Mapping[str, Any], value_keys: Sequence[str]) -> None:
    """Retract the evidence drawn from beliefs that a REJECT event concerns; UNREJECT undoes that.

    The transaction must hold the tenant lock.

    Args:
        value_keys: keys of what it is about.
    """
    rows = await tx.fetch(DRAWN, event_id=None, value_keys=value_keys, scope=event["scope"])
    for row in rows:
        if event["type"] == EventType.REJECT:
            await _retract(tx, event, row, row["id"], source=REJECTION)
            continue
        for retraction_id in row["retraction_ids"]:
            await _retract(tx, event, row, retraction_id, source=event["source"])


async def _retract(
    tx: Tx,
    event: Mapping[str, Any],
    row: Mapping[str, Any],
    target_id: str,
    *,
    source: str | None = None,
) -> None:
    follows = {
        "id": _id(event["id"], target_id if event["type"] == EventType.UNREJECT else row["id"]),
        "scope": row["scope"],
        "type": EventType.RETRACT,
        "target_id": target_id,
        "content_hash": None,
        "request_hash": drafts.request_hash(EventType.RETRACT, event["id"], target_id),
        "source": source or event["source"],
        "payload": json.dumps({"note": f"follows from {event['id']}"}),
    }
    await tx.fetch(RETRACT, event={**event, **follows}, known=None)


def _id(event_id: str, drawn_id: str) -> str:
    """Return the id of the retraction that follows from an event."""
    return "follows_" + identity.digest(event_id, drawn_id)[:32]
