"""Append evidence, and checkpoint the older evidence of long slots so that reads stay cheap."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from graphmem import stored
from graphmem.errors import GraphmemError
from graphmem.graph import catalog
from graphmem.model import EventType, EvidenceReceipt
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
    templates: Mapping[str, str] | None = None
    """Templates that apply, if nothing was written because others were expected."""


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
    templates: Mapping[str, str]


async def wording(context: RequestContext, batch: Sequence[EvidenceDraft]) -> Wording:
    """Return how the drafts of a batch are worded."""
    drafted = [draft.claim for draft in batch]
    known = await stored.known_claims(
        context, [one.predicate_key for one in drafted], [one.id for one in drafted]
    )
    drafts = [draft.reword(known.templates) for draft in batch]
    lacking = [d for d in drafts if _words(d, known.beliefs.get(d.claim.id))]
    return Wording(drafts, lacking, known.templates)


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
    worded = Wording(batch, batch, {})
    if embed and not context.services.embeds_first(len(batch)):
        worded = await wording(context, batch)
    embeddings: dict[str, Embedding] = {}
    while True:
        wanted = {one.claim.statement: None for one in worded.lacking if embed}
        if missing := [one for one in wanted if one not in embeddings]:
            made = await context.services.embed_documents(missing)
            embeddings |= zip(missing, made, strict=True)
        done = await _append(context, worded, embeddings)
        if done.templates is None:
            return done
        # Only if a template words a statement otherwise than expected.
        drafts = [draft.reword(done.templates) for draft in batch]
        pairs = zip(drafts, worded.drafts, strict=True)
        other = [now for now, was in pairs if now.claim.statement != was.claim.statement]
        worded = Wording(drafts, [*worded.lacking, *other], done.templates)


def _append(
    context: RequestContext, worded: Wording, embeddings: Mapping[str, Embedding]
) -> Coroutine[Any, Any, WriteResult]:
    """Write a batch, unless templates word it otherwise.

    Args:
        embeddings: embeddings by statement; those that are missing are added later.
    """
    batch = worded.drafts
    named = sorted({d.event_id for d in batch if d.given.event_id})
    stated = [d.claim.id for d in batch if d.type is EventType.BELIEVE]
    now = context.services.clock.now()

    async def work(tx: Tx) -> WriteResult:
        undeclared = await undeclared_predicates(tx, context, batch)
        if stated or undeclared:
            await tx.fetch(stored.LOCK_TENANT)
            undeclared = await undeclared_predicates(tx, context, batch)
        if named:
            await tx.fetch(stored.LOCK_EVENT_IDS, ids=named)
        done = await write(tx, context, batch, embeddings, worded.templates)
        if done.templates is not None:
            return done
        if undeclared:
            await declare_predicates(tx, context, batch, undeclared, now)
        if stated:
            await tx.fetch(REFRESH, ids=stated)
        return done

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
    templates: Mapping[str, str] | None = None,
) -> WriteResult:
    """Append the events of a batch that are not stored yet.

    Args:
        embeddings: embeddings by statement.
        templates: those of predicates with which the batch is worded; if they are not those that
            apply, nothing is written. None: they do not matter.
    """
    keys = set[str | None]() if templates is None else {d.claim.predicate_key for d in batch}
    expected = [
        {"key": k, "template": (templates or {}).get(k)} for k in sorted(filter(None, keys))
    ]
    # Sorted by belief, so that two batches take locks in one order and cannot deadlock.
    ordered = sorted(batch, key=lambda d: d.claim.id)
    # Each embedding goes with one row of its belief.
    words = [(draft.claim.id, draft.claim.statement) for draft in ordered]
    left = {key: embeddings.get(key[1]) for key in words}
    [done] = await tx.fetch(
        stored.APPEND,
        predicates=expected,
        events=[
            draft.row(context.tenant_scope, left.pop(key, None))
            for draft, key in zip(ordered, words, strict=True)
        ],
    )
    existing = {event["id"]: event for event in done["existing"]}
    for draft in batch:
        if draft.event_id in existing:
            event = existing[draft.event_id]
            stored.check_same_request(event, draft.event_id, draft.request_hash)
    stored.check_attached(done["missing"])
    if done["reworded"]:
        await tx.fetch(REFRESH, ids=done["reworded"])
    rejected = {row["belief_id"]: rejections.parse(row["rejection"]) for row in done["rejected"]}
    recorded = {
        d.event_id: EvidenceReceipt(
            event_id=d.event_id,
            belief_id=d.claim.id,
            repeated=d.event_id in existing,
            rejection=rejected.get(d.claim.id),
        )
        for d in batch
    }
    return WriteResult(
        recorded,
        unembedded=done["unembedded"],
        long=tuple(SlotKey(**place) for place in done["long"]),
        templates=None if done["templates"] is None else stored.parse_templates(done["templates"]),
    )
