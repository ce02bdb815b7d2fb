"""Let important episodes graduate: a line each in a digest that the user owns, then its event."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from graphmem import catalog
from graphmem.model import EventType, GraduatedEpisode, GraduationReport, UpkeepPolicy
from graphmem.ports import RequestContext
from graphmem.rules import digest, drafts, gathering, identity, passages, vitality

PAGE = 100
"""Turns of one read."""

GRADUATES = catalog.query("upkeep/graduates", dict)
GRADUATE = catalog.query("upkeep/graduate", catalog.ignored)
TURNS = catalog.query("episode/turns", lambda row: row["turn"])


async def graduate(to: RequestContext, path: Path, policy: UpkeepPolicy, *, apply: bool) -> GraduationReport:
    """Add a line to a digest for each episode that is due, then say so in events.

    A line whose event is missing, because an earlier run was killed in between, is found by its id
    and not written again.

    Raises:
        DigestFileError: the file cannot be read or written, or its markers are broken.
        DigestLockedError: another process was at it for too long.
    """
    name = path.name
    codes = digest.held(await to.world.files.read(path), name)
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            GRADUATES,
            tenant=to.wall.tenant,
            scope=to.wall.scope,
            scopes=list(to.wall.scopes),
            file=name,
            importance=policy.importance,
            accesses=policy.accesses,
            until=to.world.clock.now() - timedelta(days=policy.graduate_days),
            limit=policy.most + 1,
        )
    )
    due = rows[: policy.most]
    lines = {
        row["id"]: digest.line(row["occurred_at"], await _told(to, row), row["id"]) for row in due
    }
    if apply and due:

        def change(text: str | None) -> str:
            nonlocal codes
            codes = digest.held(text, name)
            return digest.merged(text, lines, name)

        await to.world.files.revise(path, change)
        await _write_digest(to, name, lines)
    return GraduationReport(
        applied=apply and bool(due),
        file=name,
        episodes=tuple(
            GraduatedEpisode(
                episode_id=row["id"],
                occurred_at=row["occurred_at"],
                line=lines[row["id"]],
                added=not digest.has(codes, row["id"]),
            )
            for row in due
        ),
        more=len(rows) > len(due),
    )


async def _told(to: RequestContext, row: Mapping[str, Any]) -> str:
    """Return what stands for an episode: its summary, else the first that it tells."""
    summary, content, gist = (row[name] or "" for name in ("summary", "content", "gist"))
    if summary.strip():
        return digest.shortened(summary)
    if content.strip():
        return digest.gist(content)
    return gist or await _said(to, row["id"]) or row["session_id"] or "an episode without words"


async def _said(to: RequestContext, episode_id: str) -> str:
    """Return the first turn of a person that tells something, else their first words; or ''."""
    first, start = "", 0
    while turns := await _turns(to, episode_id, start):
        for turn in turns:
            if turn["role"].lower() not in gathering.NOT_PEOPLE and turn["text"].strip():
                said = digest.gist(turn["text"], turn["name"])
                if passages.telling(turn["text"]):
                    return said
                first = first or said
        start += PAGE
    return first


async def _turns(to: RequestContext, episode_id: str, start: int) -> list[dict[str, Any]]:
    return await to.world.graph.read(
        lambda tx: tx.fetch(
            TURNS,
            tenant=to.wall.tenant,
            scopes=[to.wall.scope],
            episode_id=episode_id,
            **{"from": start},
            limit=PAGE,
        )
    )


async def _write_digest(to: RequestContext, name: str, lines: Mapping[str, str]) -> None:
    now = to.world.clock.now()
    # In one order everywhere, two writers wait for each other's episodes and never in a ring.
    events = [
        _event(to, name, about, lines[about]) | {"occurred_at": now} for about in sorted(lines)
    ]
    await to.world.graph.write(lambda tx: tx.fetch(GRADUATE, tenant=to.wall.tenant, events=events))


def _event(to: RequestContext, name: str, about: str, line: str) -> dict[str, Any]:
    payload = {"file": name, "line_sha256": identity.digest(line)}
    return {
        "id": "graduate_" + identity.digest(about, name)[:32],
        "about": about,
        "scope": to.wall.scope,
        "type": EventType.GRADUATE,
        "request_hash": drafts.request_hash(to.wall.scope, EventType.GRADUATE, about, name),
        "source": vitality.STANDARD_VITALITY.consolidation,
        "artifact_ref": name,
        "payload": json.dumps(payload, ensure_ascii=False),
    }
