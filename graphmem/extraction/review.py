"""Write the evidence of a window, and decide on proposals that wait for review."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeAlias

from graphmem import stored
from graphmem.errors import ErasedError, RefusedError
from graphmem.extraction import ProposalPage, ProposalStatus, ReviewReport, proposals
from graphmem.extraction.proposals import TurnEvidence
from graphmem.graph import catalog
from graphmem.model import Cardinality, EventSource, EventType, Policy, Trust
from graphmem.ports import RequestContext, TokenUsage, Tx
from graphmem.rules import claims, drafts, identity, predicates, read_options, trust
from graphmem.rules.claims import Claim
from graphmem.rules.predicates import SINGLE_VALUED

BEGIN = catalog.query("extract/begin", lambda row: row["done"])
PROPOSE = catalog.query("extract/propose", catalog.ignored)
END = catalog.query("consolidate/end", catalog.ignored)


_LEAST: Trust = "model"
"""Class of what an extractor declares: any declaration of a person precedes it."""

PROPOSALS = catalog.query("extract/proposals", lambda row: row["proposal"])
PROPOSED = catalog.query("extract/proposed", lambda row: row["proposal"])
DECIDE = catalog.query("extract/decide", catalog.ignored)
DECLARED = catalog.query("predicate/find_declared", dict)
DECLARE = catalog.query("predicate/declare", catalog.ignored)

Apply: TypeAlias = Callable[
    [Tx, RequestContext, str, Mapping[str, str], EventSource, datetime],
    Coroutine[Any, Any, str | None],
]
"""Applies a proposal, and returns the event's id; None if that is done already."""

_REVERTED = {
    EventType.PROPOSE_UPDATE: "Restore the replaced memory: `memories.restore`.",
    EventType.PROPOSE_RETRACT: "Retract the retraction: `history` of the belief names it.",
}
"""How to undo what an accepted proposal did."""


@dataclass(frozen=True, slots=True)
class WindowWrite:
    """The decisions about one window, written in one transaction."""

    reply_id: str
    extractor: str
    turn_ids: tuple[str, ...]
    evidence: tuple[TurnEvidence, ...] = ()
    review: bool = False
    """Whether the evidence is written as proposals that wait for review."""
    raw: str | None = None
    """Unparsed reply of a model; None if no model was called."""
    bill: TokenUsage = field(default_factory=TokenUsage)
    problem: str | None = None
    """Error message; None on success. A failed window has no evidence."""

    def decided(self) -> str:
        """Return the decisions as JSON, sufficient to write them again without a model."""
        counted = () if self.review else self.evidence
        beliefs = {one.claim.id: one.claim for one in counted}
        return json.dumps(
            {
                "beliefs": [asdict(claim) for claim in beliefs.values()],
                "evidence": [
                    [one.event_id, one.claim.id, one.turn_id, one.kind, one.confidence]
                    for one in counted
                ],
                "marks": [],
                "proposed": [one.own_proposal_id for one in self.evidence] if self.review else [],
            },
            ensure_ascii=False,
        )


async def worded(context: RequestContext, found: Sequence[Claim]) -> dict[str, Claim]:
    """Return claims by id, each worded with the template of its predicate."""
    if not found:
        return {}
    known = await stored.known_claims(context, [one.predicate_key for one in found])
    return {one.id: claims.reword_claim(one, known.templates) for one in found}


async def write(context: RequestContext, unit: WindowWrite) -> bool:
    """Write a unit without its erased parts and return whether it was new.

    Return False if another worker wrote it first.
    """
    try:
        return await _write(context, unit)
    except ErasedError as error:
        left = [one for one in unit.evidence if error.ids.isdisjoint(one.ids)]
        if len(left) == len(unit.evidence):
            raise
        return await write(context, replace(unit, evidence=tuple(left)))


async def _write(context: RequestContext, unit: WindowWrite) -> bool:
    now = context.services.clock.now()
    reply = {
        "id": unit.reply_id,
        "done": unit.problem is None,
        "failed": unit.problem is not None,
        "synthesiser": unit.extractor,
        "known": now,
        "decided": None if unit.problem else unit.decided(),
        "raw": unit.raw,
        "problem": unit.problem,
        **asdict(unit.bill),
    }

    async def work(tx: Tx) -> bool:
        [done] = await tx.fetch(BEGIN, id=unit.reply_id)
        if done:
            return False
        if unit.evidence and unit.review:
            rows = [one.proposal_row(context.tenant_scope) for one in unit.evidence]
            await tx.fetch(PROPOSE, events=rows)
        else:
            missing = await _undeclared(tx, context, unit.evidence)
            await stored.append_missing(tx, context, [one.draft(now) for one in unit.evidence], {})
            by = EventSource(source=proposals.SOURCE, actor=unit.extractor)
            await _declare(tx, context, missing, by, now, _LEAST)
        await tx.fetch(END, reply=reply, passages=sorted(unit.turn_ids))
        return True

    return await context.write(work)


async def page(
    context: RequestContext, status: ProposalStatus | None, *, cursor: str | None, limit: int
) -> ProposalPage:
    """Return one page of proposals, oldest first, and the cursor of the next."""
    at, last_id = read_options.parse_time_cursor(cursor)
    rows = await context.fetch(
        PROPOSALS,
        status=status,
        after_at=at or read_options.BEGINNING,
        after_id=last_id or "",
        limit=limit,
    )
    last = rows[-1] if len(rows) == limit else None
    return ProposalPage(
        proposals=tuple(proposals.pending_proposal(row) for row in rows if _is_evidence(row)),
        updates=tuple(
            proposals.pending_update(row) for row in rows if row["type"] == EventType.PROPOSE_UPDATE
        ),
        retractions=tuple(
            proposals.pending_retraction(row)
            for row in rows
            if row["type"] == EventType.PROPOSE_RETRACT
        ),
        next_cursor=read_options.time_cursor(last["recorded_at"], last["id"]) if last else None,
    )


async def accept(
    context: RequestContext,
    ids: Sequence[str],
    given: EventSource,
    apply: Mapping[EventType, Apply],
) -> ReviewReport:
    """Accept proposals, which makes them evidence or what else they say; skip those accepted.

    Args:
        apply: what does proposals of a type other than PROPOSE.
    """
    return await _decide(context, EventType.ACCEPT, ids, given, apply)


async def dismiss(context: RequestContext, ids: Sequence[str], given: EventSource) -> ReviewReport:
    """Dismiss proposals; extraction does not propose them again."""
    return await _decide(context, EventType.DISMISS, ids, given)


async def _decide(
    context: RequestContext,
    kind: EventType,
    ids: Sequence[str],
    given: EventSource,
    apply: Mapping[EventType, Apply] = MappingProxyType({}),
) -> ReviewReport:
    wanted = list(dict.fromkeys(ids))
    now = context.services.clock.now()

    async def work(tx: Tx) -> ReviewReport:
        # The lock orders a concurrent acceptance and rejection: the first one wins.
        await stored.lock(tx)
        rows = await tx.fetch(PROPOSED, ids=wanted)
        _decidable(rows, wanted, context.scope, kind)
        done = {EventType.ACCEPT: ProposalStatus.ACCEPTED}.get(kind, ProposalStatus.DISMISSED)
        fresh = [row for row in rows if row["status"] != done]
        events = [_row(row["id"], context, kind, given, now) for row in fresh]
        await tx.fetch(DECIDE, events=events)
        accepted = fresh if kind is EventType.ACCEPT else []
        evidence = [proposals.parse_evidence(row) for row in accepted if _is_evidence(row)]
        if any(row["type"] == EventType.PROPOSE_RETRACT for row in accepted):
            trust.check_right("beliefs.retract", context.trust)
        missing = await _undeclared(tx, context, evidence)
        await stored.append_missing(tx, context, [one.draft(now) for one in evidence], {})
        updated = [
            await apply[row["type"]](tx, context, row["id"], json.loads(row["payload"]), given, now)
            for row in accepted
            if not _is_evidence(row)
        ]
        declared = await _declare(tx, context, missing, given, now, context.trust)
        return ReviewReport(
            proposal_ids=tuple(row["id"] for row in fresh),
            repeated=tuple(row["id"] for row in rows if row["status"] == done),
            event_ids=(*(one.event_id for one in evidence), *filter(None, updated)),
            belief_ids=tuple(one.claim.id for one in evidence),
            declared=declared,
        )

    return await context.write(work)


async def _undeclared(
    tx: Tx, context: RequestContext, evidence: Sequence[TurnEvidence]
) -> list[TurnEvidence]:
    """Return the first evidence of each predicate that proposals declare.

    A declaration and the built-in list are kept: a proposal only adds to them. Only a person
    declares a predicate that is in use.
    """
    wanted: dict[str, TurnEvidence] = {}
    for one in evidence:
        key = one.claim.predicate_key
        if key is not None and one.cardinality is not None and key not in SINGLE_VALUED:
            wanted.setdefault(key, one)
    if not wanted:
        return []
    uses = not trust.may("predicates.declare", context.trust)
    found = await tx.fetch(DECLARED, predicates=sorted(wanted), uses=uses)
    known = {row["key"] for row in found}
    return [one for key, one in wanted.items() if key not in known]


async def _declare(
    tx: Tx,
    context: RequestContext,
    first: Sequence[TurnEvidence],
    given: EventSource,
    now: datetime,
    writer: Trust,
) -> tuple[str, ...]:
    """Declare the predicates of evidence in the write scope, and return their names."""
    names = []
    for one in first:
        name = str(one.claim.predicate)
        # Whichever window declares it, however often the driver runs the transaction.
        event_id = f"policy_{identity.digest(context.scope, name)[:32]}"
        origin = given.model_copy(update={"at": None, "event_id": event_id})
        policy = Policy(cardinality=one.cardinality or Cardinality.MANY)
        draft = predicates.PolicyDraft(name, policy)
        made = predicates.declaration(draft, origin, now, scope=context.scope, writer=writer)
        await tx.fetch(DECLARE, **made)
        names.append(name)
    return tuple(names)


def _decidable(
    rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], scope: str, kind: EventType
) -> None:
    proposed = {row["id"]: row for row in rows}
    for proposal_id in wanted:
        row = stored.own(proposed.get(proposal_id), "Proposal", proposal_id, scope)
        if kind is EventType.DISMISS and row["status"] == ProposalStatus.ACCEPTED:
            if not _is_evidence(row):
                raise RefusedError(
                    f"Proposal {proposal_id!r} was accepted.", hint=_REVERTED[row["type"]]
                )
            event_id = proposals.parse_evidence(row).event_id
            raise RefusedError(
                f"Proposal {proposal_id!r} was accepted.",
                hint=f"Retract its evidence: `retract` {event_id!r}.",
            )


def _is_evidence(row: Mapping[str, Any]) -> bool:
    """Return whether a proposal is evidence from extraction."""
    return bool(row["type"] == EventType.PROPOSE)


def _row(
    proposal_id: str,
    context: RequestContext,
    kind: EventType,
    given: EventSource,
    now: datetime,
) -> dict[str, Any]:
    event_id = f"{kind.lower()}_{identity.digest(proposal_id)[:32]}"
    payload = {"note": given.note} if given.note else {}
    asked = context.scope, kind, proposal_id
    at = drafts.event_time(given.at, now)
    event = drafts.event(event_id, context.scope, kind, at, asked, payload)
    return {**event, **drafts.origin_fields(given), "proposal_id": proposal_id}
