"""Record evidence, status changes, retractions and replacements."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphmem import stored
from graphmem.errors import (
    ModelUnavailableError,
    NotFoundError,
    RefusedError,
    RejectedError,
    SelfSupersessionError,
    SupersededBeliefError,
)
from graphmem.graph import catalog
from graphmem.model import (
    BeliefEvidence,
    EventSource,
    EventType,
    EvidenceReceipt,
    Hypothesis,
    Observation,
    ReplacementReceipt,
    RetractionReceipt,
    Status,
    StatusReceipt,
    TenantScope,
)
from graphmem.operations.evidence import drawn, writing
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, identity, predicates, trust
from graphmem.rules.claims import EvidenceDraft
from graphmem.rules.read_options import ReadOptions

if TYPE_CHECKING:
    from datetime import datetime


BATCH = 500
"""Events in one transaction."""
EVEN = 0.5
"""Strength of evidence that neither supports nor refutes."""

MARK = catalog.query("belief/mark", dict)

RETRACT = catalog.query("belief/retract", catalog.ignored)

PROPOSE = catalog.query("belief/propose_retraction", catalog.ignored)

REPLACE = catalog.query("belief/replace", lambda row: row["written"])


async def observe(context: RequestContext, seen: Observation) -> EvidenceReceipt:
    """Record one observation; the first about a triple creates its belief."""
    drafts.check_source_type(seen.source_type, context.services.settings.source_weights)
    seen = context.named(seen)
    draft = claims.draft_observation(seen, context.scope, context.services.clock.now())
    written = await writing.append(context, [draft], embed=True)
    return await _receipt(context, draft.event_id, written)


async def observe_many(
    context: RequestContext,
    observations: Sequence[Observation],
    on_batch: Callable[[Sequence[EvidenceReceipt]], None] | None = None,
) -> list[EvidenceReceipt]:
    """Record observations in order, 500 per transaction, with the embeddings of new statements.

    If the model fails, they are recorded without, and its error is raised at the end.
    """
    now = context.services.clock.now()
    for seen in observations:
        drafts.check_source_type(seen.source_type, context.services.settings.source_weights)
    ready = [
        claims.draft_observation(context.named(seen), context.scope, now) for seen in observations
    ]
    stored.check_distinct(ready, "evidence")
    predicates.wanted_cardinalities(ready)
    result: list[EvidenceReceipt] = []
    known: set[str] = set()
    long_slots: list[writing.SlotKey] = []
    lacking: list[str] = []
    embeds = True
    for batch in drafts.batches(ready, BATCH):
        once = list({d.event_id: d for d in batch}.values())
        try:
            done = await writing.append(context, once, embed=embeds)
        except ModelUnavailableError:
            embeds = False
            done = await writing.append(context, once, embed=False)
        part = list(_in_order(batch, done.recorded, known))
        long_slots += done.long
        lacking += done.unembedded
        result += part
        if on_batch is not None:
            on_batch(part)
    # Observations may be sent again because the model failed.
    lacking += [receipt.belief_id for receipt in result if receipt.repeated]
    if lacking:
        await writing.embed_statements(context, lacking)
    await writing.look_after(context, long_slots)
    return result


async def believe(context: RequestContext, hypothesis: Hypothesis) -> EvidenceReceipt:
    """Record a hypothesis with its initial confidence and return its belief's id.

    A superseded belief becomes current if it is stated again.
    """
    named = context.named(hypothesis)
    draft = claims.draft_hypothesis(named, context.scope, context.services.clock.now())
    written = await writing.append(context, [draft], embed=True)
    return await _receipt(context, draft.event_id, written)


async def testify(
    context: RequestContext, belief_id: str, evidence: BeliefEvidence
) -> EvidenceReceipt:
    """Record evidence with a strength about an existing belief."""
    now = context.services.clock.now()
    event_id = context.named(evidence).event_id or identity.event_id(now)
    given = evidence.model_copy(update={"event_id": event_id})

    async def work(tx: Tx) -> tuple[EvidenceDraft, writing.WriteResult]:
        if evidence.event_id is not None:
            await tx.fetch(stored.LOCK_EVENT_IDS, ids=[event_id])
        found = await stored.find_existing(tx, belief_ids=[belief_id])
        row = stored.own(next(iter(found["beliefs"]), None), "Belief", belief_id, context.scope)
        draft = claims.draft_evidence(given, claims.stored_claim(row), now)
        return draft, await writing.write(tx, context, [draft], {})

    draft, written = await context.write(work)
    done = await _receipt(context, event_id, written)
    counted = draft.fields["strength"]
    return done.model_copy(
        update={
            "strength": counted,
            "clamped": counted != evidence.strength,
            "counts_against": counted < EVEN,
        }
    )


async def _receipt(
    context: RequestContext, event_id: str, written: writing.WriteResult
) -> EvidenceReceipt:
    """Return the receipt of an event, after the work that its write left."""
    # Another writer may have changed the statement in the meantime.
    if written.unembedded:
        await writing.embed_statements(context, written.unembedded)
    await writing.look_after(context, written.long)
    return written.recorded[event_id]


def _in_order(
    batch: Sequence[EvidenceDraft], done: Mapping[str, EvidenceReceipt], known: set[str]
) -> Iterator[EvidenceReceipt]:
    for draft in batch:
        again = draft.event_id in known
        known.add(draft.event_id)
        recorded = done[draft.event_id]
        yield recorded.model_copy(update={"repeated": True}) if again else recorded


async def mark(
    context: RequestContext, kind: EventType, belief_id: str, given: EventSource
) -> StatusReceipt:
    """Append one ARCHIVE, RESTORE, FLAG or RESOLVE event to a belief and return its new status.

    The newest event wins, ordered by (valid time, id). A later statement of an archived belief
    restores it, too.
    """
    now = context.services.clock.now()
    identifying = context.scope, kind, belief_id
    row = claims.source_event(context.named(given), context.scope, kind, now, identifying)
    event_id, row["belief_id"] = row["id"], belief_id
    row["trust"] = trust.rank(context.trust) if kind is EventType.RESTORE else None
    by = context.read_params(MARK, ReadOptions(), now)

    async def work(tx: Tx) -> StatusReceipt:
        await stored.lock(tx, [event_id])
        found = await stored.find_existing(tx, [event_id], [belief_id])
        for event in found["events"]:
            stored.check_same_request(event, event_id, row["request_hash"])
        existing = next(iter(found["beliefs"]), None)
        belief = stored.own(existing, "Belief", belief_id, context.scope)
        repeated = bool(found["events"])
        hides = kind is EventType.ARCHIVE and not repeated
        if hides and belief["status"] == Status.SUPERSEDED:
            raise SupersededBeliefError(f"Belief {belief_id!r} was superseded already.")
        restores = kind is EventType.RESTORE and not repeated
        if restores and belief["status"] == Status.REJECTED:
            raise RejectedError(f"A person rejected belief {belief_id!r}.")
        [done] = await tx.fetch(MARK, events=[row], **by)
        return StatusReceipt(
            event_id=event_id,
            belief_id=belief_id,
            changed=done["changed"],
            status=done["status"],
            flagged=done["flagged"],
            repeated=repeated,
        )

    return await context.write(work)


async def retract(
    context: RequestContext, target_id: str, given: EventSource, *, missing_ok: bool = False
) -> RetractionReceipt:
    """Retract one event for every valid time, from now on: evidence, or a declared policy.

    A retraction can be retracted in turn: the newest retraction of an event wins. Of what a person
    stated or took back, another writer only proposes it.
    """
    if given.event_id == target_id:
        raise RefusedError("An event cannot retract itself.", hint="Give it an id of its own.")
    now = context.services.clock.now()
    identifying = context.scope, EventType.RETRACT, target_id
    named = context.named(given)
    row = claims.source_event(named, context.scope, EventType.RETRACT, now, identifying)
    event_id, own_id = row["id"], identity.given_event_id(context.scope, context.trust, target_id)
    row["trust"] = trust.rank(context.trust)

    async def work(tx: Tx) -> RetractionReceipt:
        # Lock the tenant too, so that no slot state computed concurrently outlives the retraction.
        await stored.lock(tx, {event_id, own_id, target_id})
        found = await stored.find_existing(tx, [event_id, own_id, target_id])
        events = {event["id"]: event for event in found["events"]}
        known, seen = events.get(event_id), (context.scope, *context.read_scopes)
        # The id that the writer gave its event, else the id as results show it.
        targets = [one for one in (events.get(own_id), events.get(target_id)) if one is not None]
        target = next((one for one in targets if one["scope"] in seen), None)
        made = identity.is_made(target_id)
        row["target_id"] = target["id"] if target else target_id if made else own_id
        _retractable(target, context.tenant_scope)
        exists = target is not None and target["scope"] == context.scope
        by_person = trust.may("beliefs.retract", context.trust)
        if known is not None:
            stored.check_same_request(known, event_id, row["request_hash"])
        if not exists and not (missing_ok and by_person):
            raise NotFoundError(
                f"No evidence or declaration {target_id!r} to take back.",
                hint="`why` lists the evidence of a belief with its event ids, `predicates.list` "
                "the declarations.",
            )
        if target is not None and not by_person and trust.parse(target["trust"]) == "person":
            return await _propose(tx, context, row["target_id"], given, now)
        if known is None:
            await tx.fetch(RETRACT, event=row, known=None)
            of_evidence = target is not None and target["speaks"]
            await drawn.follow_retraction(tx, row, of_evidence=of_evidence)
        return RetractionReceipt(
            event_id=event_id,
            target_id=row["target_id"],
            found=exists,
            repeated=known is not None,
        )

    return await context.write(work)


def _retractable(target: Mapping[str, Any] | None, tenant_scope: TenantScope) -> None:
    if target is None or target["scope"] not in tenant_scope.scopes:
        return
    stored.own(target, "Event", target["id"], tenant_scope.scope)
    if not target["speaks"] and target["type"] not in (EventType.RETRACT, EventType.POLICY):
        raise RefusedError(
            f"Event {target['id']!r} is a {target['type']}: only evidence and declarations of "
            "predicates can be retracted.",
            hint="To hide a memory use `deprecate`; to change a belief use `revise`.",
        )


async def _propose(
    tx: Tx, context: RequestContext, target_id: str, given: EventSource, now: datetime
) -> RetractionReceipt:
    """Append a PROPOSE_RETRACT event unless there is one about the target."""
    kind = EventType.PROPOSE_RETRACT
    proposal_id = "prop_" + identity.digest(kind, target_id)[:32]
    named = given.model_copy(update={"event_id": proposal_id, "at": None})
    identifying = context.scope, kind, target_id
    row = claims.source_event(named, context.scope, kind, now, identifying, {"event_id": target_id})
    found = await stored.find_existing(tx, [proposal_id])
    if not found["events"]:
        event = row | {"trust": trust.rank(context.trust)}
        await tx.fetch(PROPOSE, event=event, target_id=target_id)
    return RetractionReceipt(
        event_id=proposal_id,
        target_id=target_id,
        found=True,
        proposed=True,
        repeated=bool(found["events"]),
    )


async def retract_with(
    tx: Tx,
    context: RequestContext,
    proposal_id: str,
    proposed: Mapping[str, str],
    given: EventSource,
    now: datetime,
) -> str | None:
    """Retract the event of an accepted proposal; return the event's id.

    None if that was done already, or if the event to retract was erased.

    Args:
        proposal_id: id of the accepted proposal, from which that of the event is derived.
        proposed: `event_id` of the event to retract.
    """
    kind, target_id = EventType.RETRACT, proposed["event_id"]
    event_id = "retract_" + identity.digest(proposal_id)[:32]
    found = await stored.find_existing(tx, [event_id, target_id])
    events = {event["id"]: event for event in found["events"]}
    if event_id in events or target_id not in events:
        return None
    named = given.model_copy(update={"event_id": event_id})
    row = claims.source_event(named, context.scope, kind, now, (context.scope, kind, target_id))
    row |= {"target_id": target_id, "trust": trust.rank(context.trust)}
    await tx.fetch(RETRACT, event=row, known=None)
    await drawn.follow_retraction(tx, row, of_evidence=events[target_id]["speaks"])
    return event_id


async def replace(
    context: RequestContext,
    kind: EventType,
    older_ids: Sequence[str],
    thoughts: Sequence[Hypothesis],
    given: EventSource,
) -> ReplacementReceipt:
    """Supersede beliefs by others in one transaction; beliefs that do not exist are created.

    Superseded beliefs keep their evidence. A superseded belief that replaces another becomes
    current again, so chains in force have no cycle.
    """
    now = context.services.clock.now()
    stated: dict[str, EvidenceDraft] = {}
    for thought in thoughts:
        draft = claims.draft_hypothesis(thought, context.scope, now)
        stated.setdefault(draft.claim.id, draft)
    newer_ids, older_ids = list(stated), list(dict.fromkeys(older_ids))
    identifying = kind, *older_ids, "by", *(draft.request_hash for draft in stated.values())
    payload = {"newer_ids": newer_ids, "older_ids": older_ids}
    row = claims.source_event(context.named(given), context.scope, kind, now, identifying, payload)
    if set(newer_ids) & set(older_ids):
        raise SelfSupersessionError(
            "A belief cannot supersede itself.",
            hint="Use a wording that differs from the belief to replace.",
        )
    event_id = row["id"]
    newer = [_under(event_id, draft) for draft in stated.values()]
    worded = await writing.wording(context, newer)
    new = list(dict.fromkeys(draft.claim.statement for draft in worded.lacking))
    made = await context.services.embed_documents(new) if new else []
    embeddings = dict(zip(new, made, strict=True))
    done = ReplacementReceipt(
        event_id=event_id, newer_ids=tuple(newer_ids), older_ids=tuple(older_ids)
    )

    async def work(tx: Tx) -> tuple[ReplacementReceipt, Sequence[str]]:
        await stored.lock(tx, [event_id])
        found = await stored.find_existing(tx, [event_id], older_ids)
        for event in found["events"]:
            stored.check_same_request(event, event_id, row["request_hash"])
            return done.model_copy(update={"repeated": True}), ()
        _check_replaceable(found["beliefs"], older_ids, context.scope)
        written = await writing.write(tx, context, worded.drafts, embeddings)
        for receipt in written.recorded.values():
            if receipt.rejection is not None:
                raise RejectedError(f"A person rejected belief {receipt.belief_id!r}.")
        await tx.fetch(REPLACE, event=row, newer=newer_ids, older=older_ids)
        return done, written.unembedded

    replaced, unembedded = await context.write(work)
    if unembedded:
        await writing.embed_statements(context, unembedded)
    return replaced


def _under(event_id: str, draft: EvidenceDraft) -> EvidenceDraft:
    """Return a hypothesis with an event id derived from the replacing event."""
    return dataclasses.replace(draft, event_id=claims.replacing_event_id(event_id, draft.claim.id))


def _check_replaceable(
    rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], scope: str
) -> None:
    beliefs = {row["id"]: row for row in rows}
    for belief_id in wanted:
        belief = stored.own(beliefs.get(belief_id), "Belief", belief_id, scope)
        if belief["status"] == Status.SUPERSEDED:
            raise SupersededBeliefError(f"Belief {belief_id!r} was superseded already.")
