"""Full texts of episodes: into an archive, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.errors import ArchiveDamagedError
from graphmem.model import EventType
from graphmem.ports import RequestContext, Tx
from graphmem.rules import digest, drafts, identity

EPISODE = "Episode"

COMPRESS = catalog.query("upkeep/compress", lambda row: row["id"])
ARCHIVED = catalog.query("upkeep/archived", dict)
RESTORE = catalog.query("upkeep/restore", catalog.ignored)


def gist(summary: str | None, content: str) -> str | None:
    """Return what is to stay of an episode's text; None: it has a summary."""
    return None if (summary or "").strip() else digest.gist(content)


def shortens(summary: str | None, content: str | None) -> bool:
    """Return whether a text is longer than what would stay of it."""
    longest = len(summary or "") if (summary or "").strip() else digest.LONGEST
    return len(content or "") > longest


def episode_event(to: RequestContext, kind: EventType, label: str, about: str, run: str = "") -> dict[str, Any]:
    """Return an event about an item; in the same run its id is the same."""
    return {
        "id": f"{kind.lower()}_{label.lower()}_{identity.digest(about, run)[:32]}",
        "about": about,
        "label": label,
        "scope": to.wall.scope,
        "type": kind,
        "occurred_at": to.world.clock.now(),
        "request_hash": drafts.request_hash(to.wall.scope, kind, about),
        "payload": "{}",
    }


def put_away(
    event: Mapping[str, Any],
    row: Mapping[str, Any],
    gist: str | None,
    since: datetime,
    **told: object,
) -> dict[str, Any]:
    """Return a COMPRESS event that takes the text of an episode along.

    Args:
        event: its fields so far.
        row: the episode: id, content.
        gist: what stays of it; None: its summary does.
        since: one that was looked at or restored later is passed over.
        told: for the payload.
    """
    sha256 = identity.digest(row["content"])
    return {
        **event,
        "archive_id": "archive_" + identity.digest(row["id"])[:32],
        "sha256": sha256,
        "gist": gist,
        "since": since,
        "payload": json.dumps({**told, "sha256": sha256, "characters": len(row["content"])}),
    }


def in_order(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events in the one order in which everybody writes about items.

    So two writers wait for each other's items and never in a ring.
    """
    return sorted(events, key=lambda event: str(event["about"]))


async def found(to: RequestContext, tx: Tx, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Write-lock episodes and return id, scope, archive and hidden of those that are visible.

    Raises:
        ArchiveDamagedError: an archive does not hold what was put into it.
    """
    rows = await tx.fetch(
        ARCHIVED,
        tenant=to.wall.tenant,
        scopes=list(to.wall.scopes),
        ids=ids,
        valid=to.world.clock.now(),
        known=None,
    )
    for row in rows:
        archive = row["archive"]
        if archive is not None and identity.digest(archive["content"]) != archive["sha256"]:
            raise ArchiveDamagedError(f"The archive of episode {row['id']!r} is damaged.")
    return rows
