"""Compress episodes that nobody needed to their summaries, and put their full texts back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from graphmem import catalog
from graphmem.errors import ForeignScopeError, NotFoundError
from graphmem.model import (
    CompressedEpisode,
    CompressionReport,
    EventType,
    RestoredEpisode,
    UpkeepPolicy,
)
from graphmem.operations.upkeep import archives
from graphmem.operations.upkeep.archives import EPISODE
from graphmem.ports import OnPart, RequestContext, Tx
from graphmem.rules import digest, identity, moments, vitality

BATCH = 50
"""Episodes of one transaction; their full texts are read."""

UNUSED = catalog.query("upkeep/unused", dict)


async def compress(
    to: RequestContext, policy: UpkeepPolicy, on_part: OnPart, *, apply: bool
) -> CompressionReport:
    """Put the full texts of episodes that nobody needed into archives, a batch a transaction.

    Args:
        to: where.
        policy: which episodes.
        on_part: told `episode` and how many were seen to.
        apply: False: tell what would be done.
    """
    until = to.world.clock.now() - timedelta(days=policy.compress_days)
    found: list[CompressedEpisode] = []
    after = (moments.BEGINNING, "")
    while rows := await _unused(to, policy, until, after):
        gists = {row["id"]: archives.gist(row["summary"], row["content"]) for row in rows}
        done = set(await _write(to, rows, gists)) if apply else gists.keys()
        found += [_compressed(row, gists[row["id"]]) for row in rows if row["id"] in done]
        after = rows[-1]["occurred_at"], rows[-1]["id"]
        on_part("episode", len(rows))
    return CompressionReport(applied=apply and bool(found), episodes=tuple(found))


async def restore(to: RequestContext, episode_id: str) -> RestoredEpisode:
    """Put the full text of an episode back.

    Raises:
        NotFoundError: nothing visible has this id.
        ForeignScopeError: the episode belongs to another scope.
        ArchiveDamagedError: the archive does not hold what was put into it.
    """
    once = identity.event_id(to.world.clock.now())
    event = archives.episode_event(to, EventType.RESTORE, EPISODE, episode_id, once)

    async def work(tx: Tx) -> bool:
        rows = await archives.found(to, tx, [episode_id])
        if not rows:
            raise NotFoundError(f"No episode {episode_id!r}.")
        [row] = rows
        if row["scope"] != to.wall.scope:
            raise ForeignScopeError(f"Episode {episode_id!r} belongs to scope {row['scope']!r}.")
        if row["archive"] is None and not row["hidden"]:
            return False
        await tx.fetch(archives.RESTORE, tenant=to.wall.tenant, events=[event])
        return True

    changed = await to.world.graph.write(work)
    event_id = event["id"] if changed else None
    return RestoredEpisode(episode_id=episode_id, changed=changed, event_id=event_id)


async def _unused(
    to: RequestContext, policy: UpkeepPolicy, until: datetime, after: tuple[datetime, str]
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
    to: RequestContext, rows: Sequence[Mapping[str, Any]], gists: Mapping[str, str | None]
) -> list[str]:
    events = archives.in_order(
        archives.put_away(
            archives.episode_event(to, EventType.COMPRESS, EPISODE, row["id"])
            | {"source": vitality.STANDARD_VITALITY.consolidation},
            row,
            gists[row["id"]],
            # Whenever it was looked at or restored, it is needed.
            since=moments.BEGINNING,
        )
        for row in rows
    )
    return await to.world.graph.write(
        lambda tx: tx.fetch(archives.COMPRESS, tenant=to.wall.tenant, events=events)
    )


def _compressed(row: Mapping[str, Any], gist: str | None) -> CompressedEpisode:
    return CompressedEpisode(
        episode_id=row["id"],
        occurred_at=row["occurred_at"],
        characters=len(row["content"]),
        kept=row["summary"] if gist is None else gist,
    )
