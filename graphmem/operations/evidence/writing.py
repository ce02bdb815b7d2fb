"""Append evidence, and checkpoint the older evidence of long slots so that reads stay cheap."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from graphmem import stored
from graphmem.errors import GraphmemError
from graphmem.graph import catalog
from graphmem.model import EventType, EvidenceReceipt, Rejection
from graphmem.model.terms import embedding_fields
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, predicates, read_options, rejections, trust
from graphmem.rules.claims import EvidenceDraft

if TYPE_CHECKING:
    from datetime import datetime

    from graphmem.model.terms import Embedding


NEWEST = 128
"""Newest pieces of evidence, by valid time, left out of a checkpoint; late ones rarely precede
them."""
MIN_EVENTS = 128
"""Minimum number of new pieces of evidence for an update of a checkpoint."""
MAX_AT_ONCE = 8
"""Maximum number of slots that one write checkpoints."""

CHECKPOINT_LOCK = catalog.query("belief/lock_checkpoint", lambda row: row["settled"])
CHECKPOINT = catalog.query("belief/checkpoint", lambda row: row["events"])
DROP = catalog.query("belief/drop_checkpoint", catalog.ignored)
LONG = catalog.query("belief/long_slots", lambda row: SlotKey(**row["place"]))

log = logging.getLogger("graphmem")

EMBEDDED = 256
"""Statements per embedding request after a batch."""

UNEMBEDDED = catalog.query("belief/unembedded", dict)
EMBED = catalog.query("belief/embed", catalog.ignored)
REFRESH = catalog.query("belief/refresh", catalog.ignored)
DECLARED = catalog.query("predicate/find_declared", dict)
DECLARE = catalog.query("predicate/declare", catalog.ignored)


@dataclass(frozen=True, slots=True)
class SlotKey:
    """Key of a slot, in folded names."""

    slot_id: str
    scope: str
    subject_key: str
    predicate_key: str


async def keep(
    context: RequestContext,
    place: SlotKey,
    *,
    newest: int = NEWEST,
    min_events: int = MIN_EVENTS,
    longest_s: float = read_options.MAX_OPEN_TRANSACTION.total_seconds(),
) -> int:
    """Update a slot's checkpoint and return the number of pieces of evidence added to it.

    Args:
        newest: number of newest pieces left out.
        min_events: minimum number of new pieces; with fewer, nothing changes.
    """
    now = context.services.clock.now()

    async def work(tx: Tx) -> int:
        [settled] = await tx.fetch(CHECKPOINT_LOCK, slot_id=place.slot_id, longest_s=longest_s)
        weights = dict(context.services.settings.source_weights)
        added = await tx.fetch(
            CHECKPOINT,
            slot_id=place.slot_id,
            scope=place.scope,
            subject=place.subject_key,
            predicate=place.predicate_key,
            now=now,
            known=None,
            settled=settled,
            newest=newest,
            min_events=min_events,
            policy=None,
            default_policy=predicates.DEFAULT_POLICY,
            weights=weights,
            weights_key=claims.weights_key(weights),
        )
        if not added:
            await tx.fetch(DROP, slot_id=place.slot_id, whole=False)
        return sum(added)

    return await context.write(work)


async def forget(context: RequestContext, place: SlotKey) -> None:
    """Delete a slot's checkpoint."""

    async def work(tx: Tx) -> None:
        await tx.fetch(CHECKPOINT_LOCK, slot_id=place.slot_id, longest_s=0.0)
        await tx.fetch(DROP, slot_id=place.slot_id, whole=True)

    await context.write(work)


async def look_after(context: RequestContext, places: Iterable[SlotKey]) -> None:
    """Update checkpoints after a write; a failure is logged and does not affect the write."""
    for place in list(dict.fromkeys(places))[:MAX_AT_ONCE]:
        try:
            await keep(context, place)
        except GraphmemError:
            log.warning("Could not update the checkpoint of slot %s.", place.slot_id)


async def long_slots(context: RequestContext) -> list[SlotKey]:
    """Return every slot of the tenant that is long enough for a checkpoint."""
    return await context.fetch(LONG, min_events=NEWEST + MIN_EVENTS)


@dataclass(frozen=True, slots=True)
class WriteResult:
    """Result of writing a batch."""

    recorded: Mapping[str, EvidenceReceipt]
    """Receipts, by event id."""
    unembedded: Sequence[str]
    """Ids of the batch's beliefs without an embedding."""
    long: Sequence[SlotKey] = ()
    """Slots whose checkpoint is due."""


async def embed_statements(
    context: RequestContext, belief_ids: Sequence[str] | None = None
) -> None:
    """Embed the statements without an embedding, of the given beliefs or of the whole tenant."""
    while True:
        rows = await context.fetch(UNEMBEDDED, ids=belief_ids, limit=EMBEDDED)
        if not rows:
            return
        made = await context.services.embed_documents([row["statement"] for row in rows])
        embeddings = [row | embedding_fields(one) for row, one in zip(rows, made, strict=True)]
        await context.fetch(EMBED, embeddings=embeddings)


class Wording(NamedTuple):
    """Drafts worded with their predicates' templates."""

    drafts: Sequence[EvidenceDraft]
    lacking: Sequence[EvidenceDraft]
    """Drafts whose statement needs an embedding: an embedded belief needs a new one only if its
    wording changes."""
    events: Sequence[Mapping[str, Any]]
    """Those of the drafts that are stored already."""


async def wording(tx: Tx | RequestContext, batch: Sequence[EvidenceDraft]) -> Wording:
    """Return how the drafts of a batch are worded, and what of them is stored."""
    drafted = [draft.claim for draft in batch]
    known = await stored.known_claims(
        tx,
        [one.predicate_key for one in drafted],
        [one.id for one in drafted],
        [draft.event_id for draft in batch],
    )
    drafts = [draft.reword(known.templates) for draft in batch]
    lacking = [d for d in drafts if _words(d, known.beliefs.get(d.claim.id))]
    return Wording(drafts, lacking, known.events)


def _words(draft: EvidenceDraft, belief: Mapping[str, Any] | None) -> bool:
    return belief is None or (
        draft.claim.statement != belief["statement"] and draft.occurred_at <= belief["worded_at"]
    )


async def append(
    context: RequestContext, batch: Sequence[EvidenceDraft], *, embed: bool
) -> WriteResult:
    """Write a batch in one transaction, each event once.

    Args:
        embed: whether new statements get their embeddings with it; else `embed_statements` adds
            them later.
    """
    wanted: Sequence[str] = ()
    if embed:
        alone = context.services.embeds_first(len(batch))
        drafts = batch if alone else (await wording(context, batch)).lacking
        wanted = list(dict.fromkeys(draft.claim.statement for draft in drafts))
    embeddings: dict[str, Embedding] = {}
    while True:
        # Repeats only if a template words a statement otherwise than expected.
        if wanted:
            made = await context.services.embed_documents(wanted)
            embeddings |= zip(wanted, made, strict=True)
        done, wanted = await _append(context, batch, embeddings if embed else None)
        if not wanted:
            return done


def _append(
    context: RequestContext,
    batch: Sequence[EvidenceDraft],
    embeddings: Mapping[str, Embedding] | None,
) -> Coroutine[Any, Any, tuple[WriteResult, Sequence[str]]]:
    """Write a batch; if embeddings are missing, return their statements instead.

    Args:
        embeddings: embeddings by statement; None: they are added later.
    """
    named = sorted({d.event_id for d in batch if d.given.event_id})
    stated = [d.claim.id for d in batch if d.type is EventType.BELIEVE]
    now = context.services.clock.now()

    async def work(tx: Tx) -> tuple[WriteResult, Sequence[str]]:
        undeclared = await undeclared_predicates(tx, context, batch)
        if stated or undeclared:
            await tx.fetch(stored.LOCK_TENANT)
            undeclared = await undeclared_predicates(tx, context, batch)
        if named:
            await tx.fetch(stored.LOCK_EVENT_IDS, ids=named)
        worded = await wording(tx, batch)
        made: dict[str, Embedding] = {}
        if embeddings is not None:
            lacking = {draft.claim.statement for draft in worded.lacking}
            if missing := lacking - embeddings.keys():
                return WriteResult({}, ()), sorted(missing)
            made = {statement: embeddings[statement] for statement in lacking}
        done = await write(tx, context, worded.drafts, made, worded.events)
        if undeclared:
            await declare_predicates(tx, context, worded.drafts, undeclared, now)
        if stated:
            await tx.fetch(REFRESH, ids=stated)
        return done, ()

    return context.write(work)


async def undeclared_predicates(
    tx: Tx, context: RequestContext, batch: Sequence[EvidenceDraft]
) -> list[str]:
    """Return the keys of undeclared predicates for which the batch gives a cardinality.

    Only a person declares a predicate that is in use.
    """
    wanted = predicates.wanted_cardinalities(batch)
    if not wanted:
        return []
    uses = not trust.may("predicates.declare", context.trust)
    found = await tx.fetch(DECLARED, predicates=sorted(wanted), uses=uses)
    return predicates.check_cardinalities(wanted, found)


async def declare_predicates(
    tx: Tx,
    context: RequestContext,
    batch: Sequence[EvidenceDraft],
    keys: Sequence[str],
    now: datetime,
) -> None:
    """Declare predicates in the write scope with the cardinality given for each.

    The transaction must hold the tenant lock.
    """
    first = {d.claim.predicate_key: d for d in reversed(batch) if d.cardinality is not None}
    for key in keys:
        made = predicates.first_declaration(first[key], now, context.trust)
        await tx.fetch(DECLARE, **made)


async def write(
    tx: Tx,
    context: RequestContext,
    batch: Sequence[EvidenceDraft],
    embeddings: Mapping[str, Embedding],
    events: Sequence[Mapping[str, Any]],
) -> WriteResult:
    """Append the events of a batch that are not among the stored `events`.

    Args:
        embeddings: embeddings by statement.
    """
    existing = {event["id"]: event for event in events}
    for draft in batch:
        if draft.event_id in existing:
            event = existing[draft.event_id]
            stored.check_same_request(event, draft.event_id, draft.request_hash)
    # Sorted by belief, so that two batches take locks in one order and cannot deadlock.
    new = sorted((d for d in batch if d.event_id not in existing), key=lambda d: d.claim.id)
    unembedded: list[str] = []
    long: tuple[SlotKey, ...] = ()
    rejected: dict[str, Rejection] = {}
    if new:
        # Each embedding goes with one row of its belief.
        words = [(draft.claim.id, draft.claim.statement) for draft in new]
        left = {key: embeddings.get(key[1]) for key in words}
        rows = [
            draft.row(context.tenant_scope, left.pop(key, None))
            for draft, key in zip(new, words, strict=True)
        ]
        [done] = await tx.fetch(stored.APPEND, events=rows)
        stored.check_attached(done["missing"])
        if done["reworded"]:
            await tx.fetch(REFRESH, ids=done["reworded"])
        unembedded = done["unembedded"]
        long = tuple(SlotKey(**place) for place in done["long"])
        rejected = {
            row["belief_id"]: rejections.parse(row["rejection"]) for row in done["rejected"]
        }
    recorded = {
        d.event_id: EvidenceReceipt(
            event_id=d.event_id,
            belief_id=d.claim.id,
            repeated=d.event_id in existing,
            rejection=rejected.get(d.claim.id),
        )
        for d in batch
    }
    return WriteResult(recorded, unembedded, long)
