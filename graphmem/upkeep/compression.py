"""Compress episodes into archives, restore them, and graduate episodes to a digest file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from graphmem import stored
from graphmem.conversation import summaries
from graphmem.english import passages
from graphmem.errors import ArchiveDamagedError
from graphmem.graph import catalog
from graphmem.model import EventType, roles
from graphmem.model.terms import embedding_fields
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import drafts, identity, read_options, vitality
from graphmem.upkeep import (
    CompressedEpisode,
    CompressionReport,
    FailedItem,
    GraduatedEpisode,
    GraduationReport,
    RestoredEpisode,
    UpkeepPolicy,
    rules,
)
from graphmem.upkeep.isolation import write_each

EPISODE = "Episode"

COMPRESS_TURNS = catalog.query("upkeep/compress_turns", lambda row: row["id"])
COMPRESSED_TURNS = catalog.query("upkeep/compressed_turns", dict)
RESTORE_TURNS = catalog.query("upkeep/restore_turns", catalog.ignored)
COMPRESS = catalog.query("upkeep/compress", lambda row: row["id"])
ARCHIVED = catalog.query("upkeep/lock_archives", dict)
RESTORE = catalog.query("upkeep/restore", catalog.ignored)

BATCH = 50
"""Episodes per transaction; their full texts are read."""

UNUSED = catalog.query("upkeep/due_for_compression", dict)

PAGE = 100
"""Turns per read."""

GRADUATES = catalog.query("upkeep/due_for_graduation", dict)
GRADUATE = catalog.query("upkeep/graduate", catalog.ignored)


def gist(summary: str | None, content: str) -> str | None:
    """Return the gist that replaces an episode's text; None if it has a summary."""
    return None if (summary or "").strip() else rules.gist(content)


def shortens(summary: str | None, content: str | None) -> bool:
    """Return whether compression makes a text shorter."""
    longest = len(summary or "") if (summary or "").strip() else rules.MAX_GIST_CHARS
    return len(content or "") > longest


def episode_event(
    context: RequestContext, kind: EventType, label: str, about: str, run: str = ""
) -> dict[str, Any]:
    """Return an event about an item; its id is the same within a run."""
    event_id = f"{kind.lower()}_{label.lower()}_{identity.digest(about, run)[:32]}"
    scope, now = context.scope, context.services.clock.now()
    event = drafts.event(event_id, scope, kind, now, (scope, kind, about), {})
    return event | {"about": about, "label": label}


def put_away(
    event: Mapping[str, Any],
    row: Mapping[str, Any],
    gist: str | None,
    since: datetime,
    **payload: object,
) -> dict[str, Any]:
    """Return a COMPRESS event that moves the text of an episode into an archive.

    Args:
        gist: text that replaces the content; None if the summary does.
        since: episodes accessed or restored after this time are skipped.
        payload: fields of the payload.
    """
    sha256 = identity.digest(row["content"])
    return {
        **event,
        "archive_id": "archive_" + identity.digest(row["id"])[:32],
        "sha256": sha256,
        "gist": gist,
        "since": since,
        "payload": json.dumps({**payload, "sha256": sha256, "characters": len(row["content"])}),
    }


def in_order(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events sorted by item id.

    All writers use this order, so concurrent writers wait for each other and cannot deadlock.
    """
    return sorted(events, key=lambda event: str(event["about"]))


async def found(tx: Tx, ids: Sequence[str], now: datetime) -> list[dict[str, Any]]:
    """Write-lock episodes and return id, scope, archive and hidden of those that are visible."""
    rows = await tx.fetch(ARCHIVED, ids=ids, valid=now, known=None)
    for row in rows:
        archive = row["archive"]
        if archive is not None and identity.digest(archive["content"]) != archive["sha256"]:
            raise ArchiveDamagedError(f"The archive of episode {row['id']!r} is damaged.")
    return rows


async def compress(
    context: RequestContext, policy: UpkeepPolicy, on_progress: OnProgress, *, apply: bool
) -> CompressionReport:
    """Move the full texts of unused episodes into archives, one batch per transaction.

    Of an unused conversation, the turns that state nothing leave the search indexes instead. Their
    words stay, because repeated messages are recognised by them.
    """
    found: list[CompressedEpisode] = []
    failed = await _summarise(context) if apply else []
    fetch = partial(
        context.fetch,
        UNUSED,
        importance=policy.importance,
        until=context.services.clock.now() - timedelta(days=policy.compress_days),
        longest=rules.MAX_GIST_CHARS,
    )
    async for rows in read_options.pages(fetch, at="occurred_at", size=BATCH):
        rows = [await _with_leaving(context, row) for row in rows]
        gists = {row["id"]: gist(row["summary"], row["content"] or "") for row in rows}
        done: Collection[str] = {row["id"] for row in rows if not row["turns"] or row["leaving"]}
        if apply:
            done, refused = await write_each(rows, partial(_write, context, gists, policy))
            failed += refused
        found += [_compressed(row, gists[row["id"]]) for row in rows if row["id"] in done]
        on_progress("episode", len(rows))
    return CompressionReport(
        applied=apply and bool(found), episodes=tuple(found), failed=tuple(failed)
    )


async def _summarise(context: RequestContext) -> list[FailedItem]:
    """Summarise by rules the conversations whose turns changed; return those that failed."""
    failed: list[FailedItem] = []
    async for row in summaries.changed(context):
        failed += (await write_each([row], partial(summaries.write_by_rules, context)))[1]
    return failed


async def _with_leaving(context: RequestContext, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with `leaving`, the turns that state nothing, and the length of their texts.

    Only those that compression has not considered yet are read.
    """
    if not row["turns"]:
        return {**row, "leaving": ()}
    leaving, characters = [], 0
    async for turns in stored.turn_pages(context, row["id"], first=row["first"], size=PAGE):
        for turn in turns:
            if not passages.states_something(turn.text):
                leaving.append(turn.id)
                characters += len(turn.text)
    return {**row, "leaving": leaving, "characters": characters}


async def restore(context: RequestContext, episode_id: str) -> RestoredEpisode:
    """Restore the full text of an episode, or embed its turns again."""
    now = context.services.clock.now()
    once = identity.event_id(now)
    event = episode_event(context, EventType.RESTORE, EPISODE, episode_id, once)
    turns = await _embedded_turns(context, episode_id)

    async def work(tx: Tx) -> bool:
        rows = await found(tx, [episode_id], now)
        row = stored.own(next(iter(rows), None), "Episode", episode_id, context.scope)
        if row["archive"] is None and not row["archived"] and not row["turns"]:
            return False
        await tx.fetch(RESTORE, events=[event])
        if row["turns"]:
            scope_key = identity.scope_key(context.tenant, context.scope)
            given = {"episode_id": episode_id, "scope_key": scope_key}
            await tx.fetch(RESTORE_TURNS, turns=turns, **given)
        return True

    changed = await context.write(work)
    event_id = event["id"] if changed else None
    return RestoredEpisode(episode_id=episode_id, changed=changed, event_id=event_id)


async def _embedded_turns(context: RequestContext, episode_id: str) -> list[dict[str, Any]]:
    """Return the compressed turns of an episode with embeddings."""
    found = await context.fetch(COMPRESSED_TURNS, episode_id=episode_id)
    rows = [{"id": one["id"], **embedding_fields(None)} for one in found]
    filled = [n for n, one in enumerate(found) if one["text"].strip()]
    for part in drafts.batches(filled, PAGE):
        texts = [passages.prefix_speaker(found[n]["name"], found[n]["text"]) for n in part]
        made = await context.services.embed_documents(texts)
        for n, embedding in zip(part, made, strict=True):
            rows[n] |= embedding_fields(embedding)
    return rows


async def _write(
    context: RequestContext,
    gists: Mapping[str, str | None],
    policy: UpkeepPolicy,
    rows: Sequence[Mapping[str, Any]],
) -> list[str]:
    reasons = {
        row["id"]: f"importance {row['importance']:.2f} is below {policy.importance:g}, never "
        f"used, {_age(context, row)} days old"
        for row in rows
    }
    made = {
        row["id"]: episode_event(context, EventType.COMPRESS, EPISODE, row["id"], _run(row))
        | {"source": vitality.STANDARD_VITALITY.consolidation}
        for row in rows
    }
    documents = in_order(
        put_away(
            made[row["id"]],
            row,
            gists[row["id"]],
            # An episode that was ever accessed or restored is in use.
            since=read_options.BEGINNING,
            reason=reasons[row["id"]],
        )
        for row in rows
        if not row["turns"]
    )
    conversations = in_order(
        made[row["id"]]
        | {
            "considered": row["turns"],
            "turn_ids": row["leaving"],
            "payload": json.dumps(
                {
                    "reason": reasons[row["id"]],
                    "turns": len(row["leaving"]),
                    "characters": row["characters"],
                }
            ),
        }
        for row in rows
        if row["turns"]
    )

    async def work(tx: Tx) -> list[str]:
        done = await tx.fetch(COMPRESS, events=documents) if documents else []
        return done + (
            await tx.fetch(COMPRESS_TURNS, events=conversations) if conversations else []
        )

    return await context.write(work)


def _age(context: RequestContext, row: Mapping[str, Any]) -> int:
    return int((context.services.clock.now() - row["occurred_at"]).days)


def _run(row: Mapping[str, Any]) -> str:
    """Return what distinguishes the compressions of a conversation that was continued."""
    return "" if row["last"] is None else str(row["last"])


def _compressed(row: Mapping[str, Any], gist: str | None) -> CompressedEpisode:
    return CompressedEpisode(
        episode_id=row["id"],
        occurred_at=row["occurred_at"],
        characters=row["characters"],
        turns=len(row["leaving"]),
        kept=row["summary"] if gist is None else gist,
    )


async def graduate(
    context: RequestContext,
    path: Path,
    policy: UpkeepPolicy,
    *,
    apply: bool,
    skipped: Sequence[str] = (),
) -> GraduationReport:
    """Add a line to a digest for each episode that is due, then record it in events.

    If an earlier run was interrupted before writing an event, the line is found by its id and not
    written again. Episodes in `skipped` wait.
    """
    name = path.name
    failed = await _summarise(context) if apply else []
    codes = rules.digest_codes(await context.services.files.read(path), name)
    rows = await context.fetch(
        GRADUATES,
        file=name,
        importance=policy.importance,
        accesses=policy.accesses,
        until=context.services.clock.now() - timedelta(days=policy.graduate_days),
        skipped=skipped,
        limit=policy.max_episodes + 1,
    )
    due = rows[: policy.max_episodes]
    lines = {
        row["id"]: rules.digest_line(
            row["occurred_at"], await _digest_text(context, row), row["id"]
        )
        for row in due
    }
    refused = set[str]()
    if apply and due:

        def change(text: str | None) -> str:
            nonlocal codes
            codes = rules.digest_codes(text, name)
            return rules.add_lines(text, lines, name)

        await context.services.files.revise(path, change)
        _, unwritten = await write_each(due, partial(_write_digest, context, name, lines))
        refused = {one.id for one in unwritten}
        failed += unwritten
    return GraduationReport(
        applied=apply and len(due) > len(refused),
        file=name,
        episodes=tuple(
            GraduatedEpisode(
                episode_id=row["id"],
                occurred_at=row["occurred_at"],
                line=lines[row["id"]],
                added=not rules.has_code(codes, row["id"]),
            )
            for row in due
            if row["id"] not in refused
        ),
        more=len(rows) > len(due),
        failed=tuple(failed),
    )


async def _digest_text(context: RequestContext, row: Mapping[str, Any]) -> str:
    """Return the digest text of an episode: its summary, else its gist or first factual turn."""
    summary, content, gist = (row[name] or "" for name in ("summary", "content", "gist"))
    if summary.strip():
        return rules.shorten(summary)
    if content.strip():
        return rules.gist(content)
    return (
        gist
        or await _first_turn(context, row["id"])
        or row["session_id"]
        or "an episode without words"
    )


async def _first_turn(context: RequestContext, episode_id: str) -> str:
    """Return the first factual turn of a person, else a person's first turn, else ''."""
    first = ""
    async for turns in stored.turn_pages(context, episode_id, size=PAGE):
        for turn in turns:
            if roles.is_human(turn.role) and turn.text.strip():
                text = rules.gist(turn.text, turn.name)
                if passages.informative_sentences(turn.text):
                    return text
                first = first or text
    return first


async def _write_digest(
    context: RequestContext,
    name: str,
    lines: Mapping[str, str],
    due: Sequence[Mapping[str, Any]],
) -> Sequence[str]:
    now = context.services.clock.now()
    # A fixed order makes concurrent writers wait for each other, so they cannot deadlock.
    events = [
        _event(context, name, row, lines[row["id"]], now)
        for row in sorted(due, key=lambda row: str(row["id"]))
    ]
    await context.fetch(GRADUATE, events=events)
    return list(lines)


def _event(
    context: RequestContext, name: str, row: Mapping[str, Any], line: str, now: datetime
) -> dict[str, Any]:
    about = row["id"]
    reason = (
        f"importance {row['importance']:.2f}, {row['looks']} accesses, "
        f"{_age(context, row)} days old"
    )
    payload = {"reason": reason, "file": name, "line_sha256": identity.digest(line)}
    event_id, kind = "graduate_" + identity.digest(about, name)[:32], EventType.GRADUATE
    asked = context.scope, kind, about, name
    return {
        **drafts.event(event_id, context.scope, kind, now, asked, payload),
        "about": about,
        "source": vitality.STANDARD_VITALITY.consolidation,
        "artifact_ref": name,
    }
