"""Events for the memories of a store without events."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from graphmem import stored
from graphmem.graph import catalog
from graphmem.integrity import BackfillReport, SkippedMemories
from graphmem.integrity.caches import refresh_memories
from graphmem.model import EventType
from graphmem.model.terms import embedding_fields
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import drafts, identity, read_options, rejections, trust

PAGE = 100
MAX_REPEATS = 100
"""Maximum number of events made from a count. Events at one time are a burst, and the tenth adds
1e-10 of the first to the trace."""
SHOWN = 10
"""Example ids reported per problem."""

FIND = catalog.query("cache/backfill_find", dict)
WRITE = catalog.query("cache/backfill_write", lambda row: str(row["id"]))

PROBLEMS = {
    "id": ("id must be missing or a string of at most 200 characters", "REMOVE m.id."),
    "scope": (
        "scope must be a name of at most 200 characters",
        "SET m.scope = 'global', or the name of the project or user.",
    ),
    "content": (
        "content must be a text that is not blank and that this store accepts",
        "SET m.content, or set GRAPHMEM_MAX_CONTENT_CHARS if it is too long.",
    ),
    "created_at": (
        "created_at must be a datetime with a time zone that is not in the future",
        "SET m.created_at = datetime(m.created_at), or the time from which the memory is valid.",
    ),
    "tags": (
        "tags must be a list of strings",
        "SET m.tags to a list of strings, or REMOVE m.tags.",
    ),
    "reinforce_count": (
        "reinforce_count must be an integer of 0 or more",
        "SET m.reinforce_count = toInteger(m.reinforce_count), or REMOVE m.reinforce_count.",
    ),
    "status": (
        "a memory without events must be current, and have no SUPERSEDES edge",
        "REMOVE m.status and delete the edge. After the backfill, supersede or deprecate it again.",
    ),
}
"""Reasons why a memory is skipped, each with its remedy."""


async def add_events(context: RequestContext, on_progress: OnProgress) -> BackfillReport:
    """Give each memory without events of its own scope an ADD event at its `created_at`.

    A `reinforce_count` is a prior: a burst of as many REINFORCE_EXACT events at the same time.
    """
    done, after, now = 0, "", context.services.clock.now()
    skipped: dict[str, list[str]] = defaultdict(list)
    bounds = {"earliest": read_options.BEGINNING, "latest": now + drafts.MAX_CLOCK_SKEW}
    while found := await context.fetch(FIND, after=after, limit=PAGE, **bounds):
        after = found[-1]["node"]
        fit = []
        for row in found:
            if problem := row["problem"] or _content_problem(context, row["content"]):
                skipped[problem].append(row["id"] or row["node"])
            else:
                fit.append(row)
        done += await _write(context, fit, now)
        on_progress("memory", len(found))
    return BackfillReport(
        memories=done,
        skipped=tuple(
            SkippedMemories(
                problem=PROBLEMS[key][0],
                hint=PROBLEMS[key][1],
                count=len(ids),
                ids=tuple(sorted(ids)[:SHOWN]),
            )
            for key, ids in skipped.items()
        ),
    )


def _content_problem(context: RequestContext, content: str) -> str | None:
    is_long = len(content) > context.services.settings.max_content_chars
    return "content" if is_long or not identity.normalise(content) else None


async def _write(context: RequestContext, found: Sequence[dict[str, Any]], now: datetime) -> int:
    if not found:
        return 0
    texts = [identity.normalise(row["content"]) for row in found]
    # Stored embeddings are replaced: they may come from another model.
    embeddings = await context.services.embed_documents(texts)
    rows = [
        _memory_row(row, context.tenant, now) | embedding_fields(embedding)
        for row, embedding in zip(found, embeddings, strict=True)
    ]

    async def work(tx: Tx) -> int:
        await stored.lock(tx)
        ids = await tx.fetch(WRITE, memories=rows)
        await refresh_memories(tx, context, ids)
        return len(ids)

    return await context.write(work)


def _memory_row(memory: dict[str, Any], tenant: str, now: datetime) -> dict[str, Any]:
    content, count = memory["content"], memory["reinforce_count"] or 0
    content_hash = identity.content_hash(content)
    kinds = [EventType.ADD, *[EventType.REINFORCE_EXACT] * min(count, MAX_REPEATS)]
    counted = {"reinforce_count": count} if count else {}
    return {
        "node": memory["node"],
        "id": memory["id"] or str(uuid4()),
        "scope": memory["scope"],
        "scope_key": identity.scope_key(tenant, memory["scope"]),
        "content": content,
        "content_hash": content_hash,
        "value_key": rejections.text_key(tenant, content),
        "tags": memory["tags"],
        "events": [
            {
                "id": identity.event_id(now),
                "type": kind,
                "scope": memory["scope"],
                "occurred_at": memory["created_at"],
                "content_hash": content_hash,
                "source": "backfill",
                "trust": trust.rank("unknown"),
                "payload": json.dumps({"synthetic": True, **counted}),
            }
            for kind in kinds
        ],
    }
