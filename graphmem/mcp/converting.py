"""Conversion of the client's records into the short results of tools."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mcp_types import CallToolResult, TextContent

from graphmem.mcp import results
from graphmem.mcp.calls import Tool
from graphmem.model import (
    AnyBite,
    Belief,
    BeliefBite,
    BeliefReasons,
    Card,
    ChainNeighbor,
    CommitOutcome,
    Competition,
    Episode,
    EvidenceDetail,
    Memory,
    MemoryBite,
    MemoryEvent,
    MemoryReasons,
    Recollection,
    Record,
    Replacement,
    Slot,
    Trail,
    TrailStep,
    Turn,
)
from graphmem.rules.context import escape_json

LONGEST = 8_000
"""Maximum length of one text in characters; longer ones end with an ellipsis, and `graphmem expand`
shows them in full."""
MOST_TURNS = 20
DIGITS = 4


def recalled(found: Recollection) -> results.RecallResult:
    """Return the result of a recall."""
    return results.RecallResult(hits=tuple(map(_hit, found.bites)), reason=found.reason)


def _hit(bite: AnyBite) -> results.RecallHit:
    if isinstance(bite, MemoryBite):
        memory = bite.memory
        return results.RecallHit(
            id=bite.id,
            kind="memory",
            text=cut(bite.text),
            score=number(bite.score),
            at=memory.last_seen_at,
            status=memory.status,
            now=memory.head_ids,
            lost=bool(memory.lost_ids),
        )
    if isinstance(bite, BeliefBite):
        return _belief_hit(bite)
    turn = bite.turn
    return results.RecallHit(
        id=bite.id,
        kind="turn",
        text=cut(bite.text),
        score=number(bite.score),
        at=turn.occurred_at,
        said_by=turn.name or turn.role,
    )


def _belief_hit(bite: BeliefBite) -> results.RecallHit:
    return results.RecallHit(
        id=bite.id,
        kind="belief",
        text=cut(bite.text),
        score=number(bite.score),
        at=bite.last_at,
        status=bite.belief.status,
        now=bite.head_ids,
        belief=number(bite.belief.belief),
        revise_due=bite.revise_due,
        contested=bite.belief.contested,
        ambiguous=bite.ambiguous,
        lost=bite.lost,
        others=tuple(
            results.OtherValueResult(
                id=other.belief_id,
                object=cut(other.object),
                belief=number(other.belief),
                at=other.last_at,
            )
            for other in bite.others
        ),
    )


def expanded(card: Card) -> results.ExpandResult:
    """Return a card with long texts cut."""
    item = card.item
    return results.ExpandResult(
        **_content(item),
        events=tuple(map(happened, card.events)),
        turns=tuple(map(_turn, card.turns[:MOST_TURNS])),
        supersedes=_neighbors(card.supersedes),
        superseded_by=_neighbors(card.superseded_by),
        claims=tuple(
            results.NeighborResult(id=claim.id, text=cut(claim.statement)) for claim in card.claims
        ),
    )


def _content(item: Memory | Belief | Turn | Episode) -> dict[str, object]:
    if isinstance(item, Memory):
        fields: dict[str, object] = {"kind": "memory", "text": cut(item.content)}
        fields |= {"status": item.status, "at": item.created_at, "tags": item.tags}
    elif isinstance(item, Belief):
        fields = {"kind": "belief", "text": cut(item.statement), "status": item.status}
        fields |= {"at": item.created_at, "belief": number(item.belief)}
        fields["revise_due"] = item.verdict.revise_due
    elif isinstance(item, Turn):
        fields = {"kind": "turn", "text": cut(item.text), "at": item.occurred_at}
    else:
        text = item.summary or item.content or item.gist or ""
        fields = {"kind": "episode", "text": cut(text), "at": item.occurred_at}
    return {"id": item.id, **fields}


def _turn(turn: Turn) -> results.TurnResult:
    by = turn.name or turn.role
    return results.TurnResult(id=turn.id, by=by, text=cut(turn.text), at=turn.occurred_at)


def _neighbors(of: Iterable[ChainNeighbor]) -> tuple[results.NeighborResult, ...]:
    return tuple(
        results.NeighborResult(id=item.id, text=cut(item.text)) for item in of if item.in_force
    )


def happened(event: MemoryEvent) -> results.EventResult:
    """Return an event of a memory or a belief."""
    # Events of beliefs have more fields than those of memories.
    fields = {
        name: getattr(event, name, None)
        for name in ("kind", "confidence", "strength", "source_type", "source", "actor")
    }
    return results.EventResult(
        id=event.id,
        type=event.type,
        at=event.occurred_at,
        turn=event.turn_id,
        retracted=getattr(event, "retracted", False),
        **fields,
    )


def remembered(done: CommitOutcome) -> results.RememberResult:
    """Return the outcome of a text."""
    return results.RememberResult(
        outcome=done.outcome,
        memory_id=done.memory_id,
        event_id=done.event_id,
        possible_update_of=done.possible_update_of,
        refused_for=done.hygiene_reasons,
        belief_ids=done.belief_ids,
    )


def values(slot: Slot, leader: Belief | None) -> results.SlotResult:
    """Return a slot; `leader` is the belief of its leading value, if any."""
    return results.SlotResult(
        cardinality=slot.policy.cardinality,
        leader=slot.leader.object if slot.leader else None,
        leader_id=slot.leader.belief_id if slot.leader else None,
        revise_due=leader is not None and leader.verdict.revise_due,
        ambiguous=slot.ambiguous,
        values=tuple(
            results.ValueResult(
                id=value.belief_id,
                object=cut(value.object),
                belief=number(value.belief),
                status=value.status,
                last_at=value.last_at,
                ambiguous=value.ambiguous,
                contested=bool(value.contested),
            )
            for value in slot.candidates
        ),
        total=slot.total,
    )


def standing(trail: Trail, event_id: str | None = None) -> results.SprtResult:
    """Return the state of a test; `event_id` is the event that was just recorded, if any."""
    return results.SprtResult(
        belief_id=trail.belief_id,
        event_id=event_id,
        status=trail.verdict.status,
        confidence=number(trail.verdict.confidence),
        log_ratio=number(trail.verdict.log_ratio),
        evidence=trail.verdict.evidence,
        revise_due=trail.verdict.revise_due,
        pieces_to_promote=trail.needed.promote_pieces,
        pieces_to_demote=trail.needed.demote_pieces,
    )


def line(of: TrailStep) -> results.EvidenceResult:
    """Return one step of a test."""
    return results.EvidenceResult(
        event_id=of.event_id,
        kind=of.kind,
        at=of.occurred_at,
        confidence=of.evidence_confidence,
        strength=number(of.strength),
        source_type=of.source_type,
        log_ratio=number(of.log_ratio),
        status=of.status,
        note=of.note,
        turn=of.turn_id,
    )


def reasons(why: BeliefReasons | MemoryReasons) -> results.WhyResult:
    """Return the reasons for a belief, or the history of a memory."""
    return _believed(why) if isinstance(why, BeliefReasons) else _came_about(why)


def _believed(why: BeliefReasons) -> results.WhyResult:
    belief = why.belief
    return results.WhyResult(
        id=belief.id,
        kind="belief",
        text=cut(belief.statement),
        status=belief.status,
        belief=number(belief.belief),
        speaks_for=number(belief.positive),
        speaks_against=number(belief.negative),
        contested=belief.contested,
        cardinality=why.policy.policy.cardinality,
        competition=_contest(why.competition),
        test=belief.verdict.status,
        confidence=number(belief.verdict.confidence),
        revise_due=belief.verdict.revise_due,
        pieces=tuple(map(_piece, why.pieces)),
        total=why.total,
        withdrawn=tuple(retracted.event_id for retracted in why.withdrawn),
        replaces=_replacements(why.replaces),
        replaced_by=_replacements(why.replaced_by),
        memories=tuple(
            results.NeighborResult(id=memory.memory_id, text=cut(memory.content))
            for memory in why.memories
        ),
    )


def _piece(of: EvidenceDetail) -> results.EvidenceResult:
    return results.EvidenceResult(
        event_id=of.event_id,
        kind=of.kind,
        at=of.occurred_at,
        confidence=number(of.confidence),
        strength=number(of.strength),
        source_type=of.source_type,
        says=number(of.says) if of.counts else None,
        echo_of=of.echo_of,
        log_ratio=number(of.log_ratio),
        status=of.status,
        note=of.note,
        turn=of.turn_id,
    )


def _contest(of: Competition | None) -> results.CompetitionResult | None:
    if of is None:
        return None
    return results.CompetitionResult(
        place=of.place,
        of=of.of,
        leader_id=of.leader_id,
        affirmed=number(of.affirmed),
        refuted=number(of.refuted),
        kappa=number(of.kappa),
        pressure=number(of.pressure),
        score=number(of.score),
    )


def _replacements(of: Iterable[Replacement]) -> tuple[results.NeighborResult, ...]:
    return tuple(results.NeighborResult(id=item.belief_id, text=cut(item.statement)) for item in of)


def _came_about(why: MemoryReasons) -> results.WhyResult:
    memory = why.memory
    heads = {head.id: head.content for head in why.chain.memories if head.id in memory.head_ids}
    return results.WhyResult(
        id=memory.id,
        kind="memory",
        text=cut(memory.content),
        status=memory.status,
        total=why.trace.total,
        replaced_by=tuple(
            results.NeighborResult(id=i, text=cut(text)) for i, text in heads.items()
        ),
        trace=number(why.trace.trace),
        events=tuple(map(happened, why.history)),
    )


def cut(text: str) -> str:
    """Return a text, cut to the maximum length."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def number(value: float) -> float:
    """Return a number rounded for an agent."""
    return round(value, DIGITS)


def shown(tool: Tool[Any], result: Record) -> CallToolResult:
    """Return the result of a tool as data and as text in which no character is hidden."""
    data = result.model_dump(mode="json", exclude_defaults=True)
    text = tool.text(result) if tool.text else compact(data)
    return CallToolResult(content=[TextContent(text=text)], structured_content=data)


def compact(data: object) -> str:
    """Return data as one line of JSON."""
    return escape_json(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
