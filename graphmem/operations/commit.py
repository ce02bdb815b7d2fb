"""Commit texts as new memories, or as events of existing ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from graphmem import stored
from graphmem.errors import ErasedError
from graphmem.graph import catalog
from graphmem.model import CommitOutcome, EventType, NewMemory, Outcome, Status
from graphmem.model.terms import Embedding
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, formulas, identity, rejections, scoring
from graphmem.rules.drafts import TextDraft
from graphmem.rules.duplicates import (
    CANDIDATES,
    DuplicateResolver,
    DuplicateVerdict,
    ExactMatch,
    NearMatch,
    StoredMatches,
)
from graphmem.rules.hygiene import Rule
from graphmem.rules.updates import Update, UpdateResolver

if TYPE_CHECKING:
    from collections.abc import Mapping

BATCH = 500
"""Texts per transaction: enough to be fast, few enough to release the tenant's lock soon."""
MIN_AHEAD = 20
"""Minimum number of texts on which a decision is made before the tenant is locked. It takes two
more transactions: as much as the search for a few texts."""
PART = 100
"""Texts per search: the server searches for the next part while one is decided on."""

AWAIT_LOCK = catalog.query("commit/await_lock", dict)
KNOWN = catalog.query("commit/find_known", dict)
FIND_EXISTING = catalog.query("commit/find_existing", dict)
WRITE = catalog.query("commit/write", dict)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
MARK = catalog.query("lineage/mark", lambda row: row["written"])
CLAIM = catalog.query("belief/link_claims", dict)
REFRESH_BELIEFS = catalog.query("belief/refresh", catalog.ignored)
SUPERSEDE = catalog.query("lineage/supersede", lambda row: row["written"])
PROPOSE_UPDATE = catalog.query("commit/propose_update", lambda row: row["written"])

ERASED = "erased"
"""Reason for refusing an erased text."""
MET_NOTHING: Mapping[str, Any] = {"event": None, "exact": None, "rejection": None, "near": ()}

EVENT_OF = {
    Outcome.INSERTED_NEW: EventType.ADD,
    Outcome.EXACT_DUPE: EventType.REINFORCE_EXACT,
    Outcome.NEAR_DUPE: EventType.REINFORCE_NEAR,
}
IMPORT_EVENT_OF = EVENT_OF | {Outcome.INSERTED_NEW: EventType.IMPORT}


async def remember(
    context: RequestContext,
    memories: Sequence[NewMemory],
    rules: Sequence[Rule],
    *,
    imported: bool = False,
) -> list[CommitOutcome]:
    """Commit texts in order and return the outcome of each.

    Texts that are not stored yet are embedded before the transaction. Each batch is one
    transaction, which includes the claims of its texts, but not the embeddings of new beliefs.
    With `imported`, the event of a new memory is an IMPORT, not an ADD.
    """
    now = context.services.clock.now()
    for memory in memories:
        if memory.claims:
            drafts.check_source_type(memory.source_type, context.services.settings.source_weights)
    ready = [
        drafts.draft(context.named(memory), context.tenant_scope, now, rules) for memory in memories
    ]
    stored.check_distinct(ready, "texts")
    events = IMPORT_EVENT_OF if imported else EVENT_OF
    done: dict[str, CommitOutcome] = {}
    accepted = [d for d in {d.event_id: d for d in ready}.values() if not d.reasons]
    for batch in drafts.batches(accepted, BATCH):
        done.update(await _kept(context, batch, events))
    return list(_in_order(context, ready, done))


async def _kept(
    context: RequestContext, batch: Sequence[TextDraft], events: Mapping[Outcome, EventType]
) -> dict[str, CommitOutcome]:
    """Commit a batch without its erased texts, which are refused."""
    try:
        return await _commit(context, batch, events)
    except ErasedError as error:
        left = [draft for draft in batch if error.ids.isdisjoint(_named(context, draft))]
        if len(left) == len(batch):
            raise
        refused = {
            draft.event_id: _outcome(context, replace(draft, reasons=(ERASED,)))
            for draft in batch
            if draft not in left
        }
        return refused | (await _kept(context, left, events) if left else {})


def _named(context: RequestContext, draft: TextDraft) -> Iterator[str]:
    """Yield the ids that a text refers to."""
    memory = draft.memory
    yield from (draft.event_id, draft.memory_id)
    yield from claims.claimed_ids(memory, context.scope)
    yield from (one for one in (memory.episode_id, memory.turn_id) if one is not None)


def _in_order(
    context: RequestContext, ready: Sequence[TextDraft], done: Mapping[str, CommitOutcome]
) -> Iterator[CommitOutcome]:
    seen: set[str] = set()
    for draft in ready:
        outcome = done.get(draft.event_id)
        if outcome is None:
            yield _outcome(context, draft)
        else:
            again = draft.event_id in seen
            yield outcome.model_copy(update={"repeated": True}) if again else outcome
        seen.add(draft.event_id)


async def _commit(
    context: RequestContext, batch: Sequence[TextDraft], events: Mapping[Outcome, EventType]
) -> dict[str, CommitOutcome]:
    embeddings: dict[str, Embedding] = {}
    wanted = await _wanted(context, batch)
    while True:
        # Repeats only if a memory was deleted in between, which makes its text new.
        await _embed(context, wanted, embeddings)
        result, wanted = await _written(context, batch, embeddings, events)
        if not wanted:
            return result


async def _written(
    context: RequestContext,
    batch: Sequence[TextDraft],
    embeddings: Mapping[str, Embedding],
    events: Mapping[Outcome, EventType],
) -> tuple[dict[str, CommitOutcome], Sequence[TextDraft]]:
    ahead: list[tuple[str | None, _Decisions]] = []
    if len(batch) >= MIN_AHEAD:
        ahead.append(await _decide_ahead(context, batch, embeddings))
    return await context.write(lambda tx: _write(tx, context, batch, embeddings, events, ahead))


async def _decide_ahead(
    context: RequestContext, batch: Sequence[TextDraft], embeddings: Mapping[str, Embedding]
) -> tuple[str | None, _Decisions]:
    """Decide on a batch without the lock; also return the last transaction that held the lock.

    So other writers do not wait for the search.
    """
    held = await context.fetch(AWAIT_LOCK)
    decided = await context.read(lambda tx: _decide(tx, context, batch, embeddings))
    return (held[0]["last_lock"] if held else None), decided


async def _wanted(context: RequestContext, batch: Sequence[TextDraft]) -> Sequence[TextDraft]:
    """Return the texts to embed: those that are not stored yet."""
    if context.services.embeds_first(len(batch)):
        return batch
    [found] = await context.fetch(
        KNOWN,
        event_ids=[d.event_id for d in batch],
        memory_ids=[memory_id for d in batch for memory_id in d.exact_ids],
    )
    events, memories = set(found["events"]), set(found["memories"])
    return [d for d in batch if d.event_id not in events and memories.isdisjoint(d.exact_ids)]


async def _embed(
    context: RequestContext, wanted: Sequence[TextDraft], embeddings: dict[str, Embedding]
) -> None:
    # Normalised as for the hash, because white space alone would change the vector.
    texts = {d.content_hash: identity.normalise(d.memory.content) for d in wanted}
    if texts:
        made = await context.services.embed_documents(list(texts.values()))
        embeddings.update(zip(texts, made, strict=True))


async def _write(
    tx: Tx,
    context: RequestContext,
    batch: Sequence[TextDraft],
    embeddings: Mapping[str, Embedding],
    events: Mapping[Outcome, EventType],
    ahead: list[tuple[str | None, _Decisions]],
) -> tuple[dict[str, CommitOutcome], Sequence[TextDraft]]:
    """Decide on a batch and write it; if embeddings are missing, return their texts instead.

    Args:
        ahead: decisions made without the lock, and the last transaction that held it then. They are
            used once, if no other transaction held the lock since: a transaction that runs again
            may have met what takes no lock, such as an event with the same id.
    """
    last_lock = await stored.lock(tx)
    before, decided = ahead.pop() if ahead else (None, None)
    if decided is None or before != last_lock:
        decided = await _decide(tx, context, batch, embeddings)
    if decided.lacking:
        return {}, decided.lacking
    result = decided.outcomes
    if decided.verdicts:
        result |= await _append(tx, context, decided.verdicts, result, embeddings, events)
        for change in decided.changes:
            await _change(tx, context, change)
    return result, []


@dataclass(frozen=True, slots=True)
class _Decisions:
    """Decisions about the texts of a batch."""

    outcomes: dict[str, CommitOutcome] = field(default_factory=dict)
    """Outcomes, by event id."""
    verdicts: list[tuple[TextDraft, DuplicateVerdict]] = field(default_factory=list)
    """Texts to write."""
    changes: list[Update] = field(default_factory=list)
    lacking: list[TextDraft] = field(default_factory=list)
    """Texts whose embedding is missing."""


async def _decide(
    tx: Tx, context: RequestContext, batch: Sequence[TextDraft], embeddings: Mapping[str, Embedding]
) -> _Decisions:
    thresholds, mu = _thresholds(context), context.model.mu_document
    judge = DuplicateResolver(context.scope, thresholds["near"], thresholds["update"], mu)
    decided, resolver = _Decisions(), UpdateResolver(context.scope)
    parts = list(drafts.batches(batch, PART))
    found = tx.fetch_each(
        FIND_EXISTING,
        _asked(context, parts, embeddings),
        candidates=CANDIDATES,
        min_score=_least_score(context),
    )
    waiting = iter(parts)
    async for rows in found:
        met = {row["event_id"]: row for row in rows}
        for draft in next(waiting):
            row = met.get(draft.event_id, MET_NOTHING)
            if row["event"] is not None:
                decided.outcomes[draft.event_id] = _repeated(draft, row["event"])
                continue
            if row["rejection"] is not None:
                decided.outcomes[draft.event_id] = _rejected(context, draft, row["rejection"])
                continue
            own = embeddings.get(draft.content_hash)
            verdict = judge.decide(draft, _met(row, mu), None if own is None else own.vector)
            if verdict is None:
                decided.lacking.append(draft)
            else:
                draft, update = resolver.resolve(draft, verdict)
                decided.changes.extend([update] if update else ())
                decided.verdicts.append((draft, verdict))
                decided.outcomes[draft.event_id] = _outcome(context, draft, verdict, update)
    return decided


def _asked(
    context: RequestContext,
    parts: Sequence[Sequence[TextDraft]],
    embeddings: Mapping[str, Embedding],
) -> Iterator[dict[str, object]]:
    """Yield the parameters of the search for each part of a batch."""
    seen: set[str] = set()
    for part in parts:
        rows = []
        for d in part:
            # A repeated text is an exact match within the batch, so one search is enough.
            own = None if d.content_hash in seen else embeddings.get(d.content_hash)
            seen.add(d.content_hash)
            rows.append(
                {
                    "event_id": d.event_id,
                    "exact_ids": list(d.exact_ids),
                    "value_key": drafts.value_key(d, context.tenant_scope),
                    "embedding": own and own.vector,
                }
            )
        yield {"rows": rows}


def _least_score(context: RequestContext) -> float:
    """Return the Neo4j score just below both thresholds; the exact comparison follows later."""
    cosine = scoring.raw_cosine(min(_thresholds(context).values()), context.model.mu_document)
    return scoring.to_neo4j(cosine - scoring.ROUNDING)


def _thresholds(context: RequestContext) -> dict[str, float]:
    settings = context.services.settings
    return {"near": settings.near_duplicate_threshold, "update": settings.update_threshold}


def _met(row: Mapping[str, Any], mu: float) -> StoredMatches:
    exact = row["exact"]
    return StoredMatches(
        exact=ExactMatch(
            id=exact["id"],
            scope=exact["scope"],
            status=Status(exact["status"]),
            tags=tuple(exact["tags"]),
            head_ids=tuple(exact["head_ids"]),
            corrected_at=exact["corrected_at"],
        )
        if exact
        else None,
        near=tuple(
            NearMatch(
                id=n["id"],
                scope=n["scope"],
                content=n["content"],
                tags=tuple(n["tags"]),
                similarity=scoring.calibrate(scoring.from_neo4j(n["score"]), mu),
                stated_at=identity.EPOCH + timedelta(microseconds=n["stated_at"]),
            )
            for n in row["near"]
        ),
    )


async def _append(
    tx: Tx,
    context: RequestContext,
    verdicts: Sequence[tuple[TextDraft, DuplicateVerdict]],
    outcomes: Mapping[str, CommitOutcome],
    embeddings: Mapping[str, Embedding],
    types: Mapping[Outcome, EventType],
) -> dict[str, CommitOutcome]:
    """Append the events of texts, and return the outcomes of those with rejected claims."""
    events = [
        drafts.event_row(
            d, context.tenant_scope, types[v.outcome], _payload(d, outcomes[d.event_id])
        )
        | {
            "memory_id": v.memory_id,
            "memory": drafts.memory_row(d, context.tenant_scope, embeddings[d.content_hash])
            if v.outcome is Outcome.INSERTED_NEW
            else None,
            "episode_id": d.memory.episode_id,
            "turn_id": d.memory.turn_id,
            **drafts.facet_fields(d, context.tenant_scope, v.tags),
            **drafts.evidence_fields(d.memory),
        }
        for d, v in verdicts
    ]
    [done] = await tx.fetch(WRITE, events=events)
    stored.check_attached(done["missing"])
    again: dict[str, list[str]] = {}
    for event in events:
        if event["memory"] is None:
            again.setdefault(event["memory_id"], []).append(event["id"])
    if again:
        await tx.fetch(RETRACE, **formulas.retrace_params(again))
    restored = [
        drafts.restore_row(d, context.tenant_scope, v.memory_id) for d, v in verdicts if v.restores
    ]
    if restored:
        await tx.fetch(MARK, events=restored)
    rejected = await _claim(tx, context, [(d, v.memory_id) for d, v in verdicts if d.memory.claims])
    return {
        d.event_id: outcome.model_copy(update={"rejected_ids": named})
        for d, _ in verdicts
        if (outcome := outcomes[d.event_id]).belief_ids
        and (named := tuple(one for one in outcome.belief_ids if one in rejected))
    }


async def _change(tx: Tx, context: RequestContext, change: Update) -> None:
    """Supersede what a text updates, or propose it."""
    draft, scope = change.draft, context.scope
    for older_id in change.older_ids:
        ends = {"newer_id": change.newer_id, "older_id": older_id}
        if change.replaces:
            kind, query = EventType.SUPERSEDE, SUPERSEDE
            event_id = "supersede_" + identity.digest(draft.event_id, older_id)[:32]
        else:
            kind, query, event_id = EventType.PROPOSE_UPDATE, PROPOSE_UPDATE, _proposal_id(change)
        payload = {**ends, "event_id": event_id}
        asked = drafts.request_hash(scope, kind, *ends.values())
        row = drafts.event_row(draft, context.tenant_scope, kind, payload)
        await tx.fetch(query, event=row | {"id": event_id, "request_hash": asked}, **ends)


def _proposal_id(change: Update) -> str:
    return "prop_" + identity.digest(change.newer_id, *change.older_ids)[:32]


async def _claim(
    tx: Tx, context: RequestContext, committed: Sequence[tuple[TextDraft, str]]
) -> frozenset[str]:
    """Append texts as evidence for their claims, and return the ids of rejected claims."""
    if not committed:
        return frozenset()
    keys = claims.predicate_keys([d.memory for d, _ in committed])
    known = await stored.known_claims(tx, keys)
    [done] = await tx.fetch(
        CLAIM, claims=claims.claim_rows(committed, context.tenant_scope, known.templates)
    )
    if done["reworded"]:
        await tx.fetch(REFRESH_BELIEFS, ids=done["reworded"])
    return frozenset(done["rejected"])


def _payload(draft: TextDraft, outcome: CommitOutcome) -> dict[str, Any]:
    kept = outcome.model_dump(
        mode="json",
        include={
            "outcome",
            "memory_id",
            "matched_memory_id",
            "query_score",
            "possible_update_of",
            "proposal_id",
            "thresholds",
        },
        exclude_none=True,
    )
    if outcome.superseded_ids:
        kept["superseded_ids"] = outcome.superseded_ids
    if outcome.belief_ids:
        kept["belief_ids"] = outcome.belief_ids
    if outcome.outcome is Outcome.NEAR_DUPE:
        kept["text"] = draft.memory.content
    return kept


def _outcome(
    context: RequestContext,
    draft: TextDraft,
    verdict: DuplicateVerdict | None = None,
    update: Update | None = None,
) -> CommitOutcome:
    return CommitOutcome(
        outcome=verdict.outcome if verdict else Outcome.REJECTED_HYGIENE,
        event_id=draft.event_id,
        memory_id=verdict.memory_id if verdict else None,
        matched_memory_id=verdict.matched_id if verdict else None,
        query_score=verdict.score if verdict else None,
        possible_update_of=verdict.update_of if verdict else None,
        superseded_ids=update.older_ids if update and update.replaces else (),
        proposal_id=_proposal_id(update) if update and not update.replaces else None,
        content_hash=draft.content_hash,
        hygiene_reasons=draft.reasons,
        thresholds=_thresholds(context),
        occurred_at=draft.occurred_at,
        source=draft.memory.source,
        tags=draft.memory.tags,
        artifact_ref=draft.memory.artifact_ref,
        belief_ids=claims.claimed_ids(draft.memory, context.scope) if verdict else (),
        refused_claims=draft.refused_claims if verdict else (),
    )


def _rejected(context: RequestContext, draft: TextDraft, found: Mapping[str, Any]) -> CommitOutcome:
    return _outcome(context, draft).model_copy(
        update={"outcome": Outcome.REJECTED, "rejection": rejections.parse(found)}
    )


def _repeated(draft: TextDraft, event: Mapping[str, Any]) -> CommitOutcome:
    stored.check_same_request(event, draft.event_id, draft.request_hash)
    kept = json.loads(event["payload"])
    kept.pop("text", None)
    return CommitOutcome(
        **kept,
        event_id=draft.event_id,
        content_hash=draft.content_hash,
        occurred_at=event["occurred_at"],
        source=draft.memory.source,
        tags=draft.memory.tags,
        artifact_ref=draft.memory.artifact_ref,
        refused_claims=draft.refused_claims,
        repeated=True,
    )
