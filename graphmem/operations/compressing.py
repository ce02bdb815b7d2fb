"""Compress episodes that nobody needed to their summaries, and put their full texts back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from graphmem import catalog
from graphmem.errors import ArchiveDamagedError, ForeignScopeError, NotFoundError
from graphmem.model import Compressed, Compression, EventType, RestoredEpisode, UpkeepPolicy
from graphmem.ports import Binding, OnPart, Tx
from graphmem.rules import digest, drafts, identity, moments, vitality

BATCH = 50
"""Episodes of one transaction; their full texts are read."""

UNUSED = catalog.query("upkeep/unused", dict)
COMPRESS = catalog.query("upkeep/compress", lambda row: row["id"])
ARCHIVED = catalog.query("upkeep/archived", dict)
RESTORE = catalog.query("upkeep/restore", catalog.ignored)


async def compress(
    to: Binding, policy: UpkeepPolicy, on_part: OnPart, *, apply: bool
) -> Compression:
    """Put the full texts of episodes that nobody needed into archives, a batch a transaction.

    Args:
        to: where.
        policy: which episodes.
        on_part: told `episode` and how many were seen to.
        apply: False: tell what would be done.
    """
    until = to.world.clock.now() - timedelta(days=policy.compress_days)
    found: list[Compressed] = []
    after = (moments.BEGINNING, "")
    while rows := await _unused(to, policy, until, after):
        gists = {row["id"]: _gist(row) for row in rows}
        done = set(await _write(to, rows, gists)) if apply else gists.keys()
        found += [_compressed(row, gists[row["id"]]) for row in rows if row["id"] in done]
        after = rows[-1]["occurred_at"], rows[-1]["id"]
        on_part("episode", len(rows))
    return Compression(applied=apply and bool(found), episodes=tuple(found))


async def restore(to: Binding, episode_id: str) -> RestoredEpisode:
    """Put the full text of an episode back.

    Raises:
        NotFoundError: nothing visible has this id.
        ForeignScopeError: the episode belongs to another scope.
        ArchiveDamagedError: the archive does not hold what was put into it.
    """
    event = _event(to, EventType.RESTORE, episode_id) | {"occurred_at": to.world.clock.now()}

    async def work(tx: Tx) -> bool:
        rows = await tx.fetch(
            ARCHIVED, tenant=to.wall.tenant, scopes=list(to.wall.scopes), id=episode_id
        )
        if not rows:
            raise NotFoundError(f"No episode {episode_id!r}.")
        [row] = rows
        if row["scope"] != to.wall.scope:
            raise ForeignScopeError(f"Episode {episode_id!r} belongs to scope {row['scope']!r}.")
        if row["archive"] is None:
            return False
        if identity.digest(row["archive"]["content"]) != row["archive"]["sha256"]:
            raise ArchiveDamagedError(f"The archive of episode {episode_id!r} is damaged.")
        await tx.fetch(RESTORE, tenant=to.wall.tenant, event=event)
        return True

    changed = await to.world.graph.write(work)
    event_id = event["id"] if changed else None
    return RestoredEpisode(episode_id=episode_id, changed=changed, event_id=event_id)


async def _unused(
    to: Binding, policy: UpkeepPolicy, until: datetime, after: tuple[datetime, str]
) -> list[dict[str, Any]]:
    return await to.world.graph.read(
        lambda tx: tx.fetch(
            UNUSED,
            tenant=to.wall.tenant,
            scope=to.wall.scope,
            importance=policy.importance,
            until=until,
            longest=digest.LONGEST,
            after_at=after[0],
            after_id=after[1],
            limit=BATCH,
        )
    )


async def _write(
    to: Binding, rows: Sequence[Mapping[str, Any]], gists: Mapping[str, str | None]
) -> list[str]:
    now = to.world.clock.now()
    events = [
        _event(to, EventType.COMPRESS, row["id"])
        | {
            "occurred_at": now,
            "archive_id": "archive_" + identity.digest(row["id"])[:32],
            "sha256": (sha256 := identity.digest(row["content"])),
            "gist": gists[row["id"]],
            "payload": json.dumps({"sha256": sha256, "characters": len(row["content"])}),
        }
        # In one order everywhere, two writers wait for each other's episodes and never in a ring.
        for row in sorted(rows, key=lambda row: str(row["id"]))
    ]
    return await to.world.graph.write(
        lambda tx: tx.fetch(COMPRESS, tenant=to.wall.tenant, events=events)
    )


def _gist(row: Mapping[str, Any]) -> str | None:
    """Return what is to stay of an episode's text; None: it has a summary."""
    return None if (row["summary"] or "").strip() else digest.gist(row["content"])


def _compressed(row: Mapping[str, Any], gist: str | None) -> Compressed:
    return Compressed(
        episode_id=row["id"],
        occurred_at=row["occurred_at"],
        characters=len(row["content"]),
        kept=row["summary"] if gist is None else gist,
    )


def _event(to: Binding, kind: EventType, about: str) -> dict[str, Any]:
    return {
        "id": f"{kind.lower()}_episode_{identity.digest(about)[:32]}",
        "about": about,
        "scope": to.wall.scope,
        "type": kind,
        "request_hash": drafts.request_hash(to.wall.scope, kind, about),
        "source": vitality.STANDARD.consolidation if kind is EventType.COMPRESS else None,
        "payload": "{}",
    }
