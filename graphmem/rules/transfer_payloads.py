"""JSON texts in an export: payloads of events, and decisions of replies.

Readers of the graph parse these texts, so the fields that they use are checked here. Other fields
are kept unread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from graphmem.model import EventType, EvidenceKind, Name, Outcome, Text
from graphmem.rules import claims
from graphmem.rules.transfer_kinds import (
    COMMITTED,
    Count,
    Flag,
    Id,
    Key,
    Number,
    Scope,
    adapter,
    parse_object,
)

_open = with_config(ConfigDict(extra="allow", hide_input_in_errors=True))
_closed = with_config(ConfigDict(extra="forbid", hide_input_in_errors=True))


@_open
class _AnyPayload(TypedDict):
    """Optional fields of every payload."""

    note: NotRequired[Text | None]
    reason: NotRequired[Text | None]


@_open
class _Committed(_AnyPayload):
    outcome: NotRequired[Outcome]
    memory_id: NotRequired[Id]
    matched_memory_id: NotRequired[Id]
    possible_update_of: NotRequired[Id]
    query_score: NotRequired[Number]
    thresholds: NotRequired[dict[str, Number]]
    belief_ids: NotRequired[list[Id]]


@_open
class _Superseded(_AnyPayload):
    newer_id: Id
    older_id: Id
    event_id: Id


@_closed
class ClaimFields(TypedDict):
    """The fields of a `Claim`."""

    id: Id
    scope: Scope
    slot_id: Id
    statement: Text
    subject: NotRequired[Text | None]
    predicate: NotRequired[Text | None]
    object: NotRequired[Text | None]
    subject_key: NotRequired[Key | None]
    predicate_key: NotRequired[Key | None]
    object_key: NotRequired[Text | None]
    worded: NotRequired[Flag]


@_open
class _ProposedPayload(_AnyPayload):
    claim: ClaimFields
    turn_id: Name
    quote: Text
    when: NotRequired[Text | None]


@_open
class _Searched(_AnyPayload):
    tool: Text
    query: Text


@_open
class _Begun(_AnyPayload):
    session_id: Text


@_open
class _Ended(_Begun):
    logged: NotRequired[Count]
    abandoned: NotRequired[Flag]


@_open
class _RolledUp(_AnyPayload):
    searches: Count
    results: Count
    games: NotRequired[Count]


@_open
class _Pruned(TypedDict):
    elo: Number
    reason: Text
    sha256: Text


_PAYLOADS: Mapping[EventType, Any] = {
    **dict.fromkeys(COMMITTED, _Committed),
    EventType.SUPERSEDE: _Superseded,
    EventType.PROPOSE: _ProposedPayload,
    EventType.SEARCH: _Searched,
    EventType.SESSION_START: _Begun,
    EventType.SESSION_END: _Ended,
    EventType.ROLL_UP: _RolledUp,
}
_TRIPLE = ("subject", "predicate", "object")
PRUNING_SOURCE = "attention"
"""Source of events written by pruning."""


@_open
class _Decided(TypedDict):
    beliefs: list[ClaimFields]
    said: list[tuple[Id, Id, Id, EvidenceKind, Number]]
    marks: list[tuple[Id, Id, Annotated[Text, Field(max_length=200)]]]


def parse_payload(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the payload of an event with valid properties; None if it has none.

    Raises:
        ValueError: a reader could not parse it; a `ValidationError` names the field.
    """
    kind: EventType = event["type"]
    pruned = (
        kind in (EventType.ARCHIVE, EventType.COMPRESS) and event.get("source") == PRUNING_SOURCE
    )
    shape = _Pruned if pruned else _PAYLOADS.get(kind)
    if (text := event.get("payload")) is None:
        if shape is not None:
            raise ValueError(f"is required in an event of the type {kind}")
        return None
    payload: dict[str, Any] = adapter(shape or _AnyPayload).validate_python(parse_object(text))
    if kind is EventType.PROPOSE:
        check_claim(payload["claim"])
    if kind in COMMITTED and "request_hash" in event and "outcome" not in payload:
        raise ValueError("must contain the outcome")
    return payload


def parse_decision(text: str) -> dict[str, Any]:
    """Return the decision about passages or turns.

    Raises:
        ValueError: it cannot be applied again; a `ValidationError` names the field.
    """
    decision: dict[str, Any] = adapter(_Decided).validate_python(parse_object(text))
    for claim in decision["beliefs"]:
        check_claim(claim)
    return decision


def check_claim(claim: Mapping[str, Any]) -> None:
    """Check that a claim is a complete triple or a statement alone, and has the matching slot.

    Raises:
        ValueError: part of its triple is missing, or its slot does not match.
    """
    if claim["slot_id"] != slot_id(claim, claim["id"]):
        raise ValueError("claim.slot_id: must match its subject and predicate")


def slot_id(belief: Mapping[str, Any], belief_id: str) -> str:
    """Return the slot id that follows from the content of a belief.

    Raises:
        ValueError: part of its triple is missing.
    """
    parts = [belief.get(f"{part}{end}") for part in _TRIPLE for end in ("", "_key")]
    if all(part is None for part in parts):
        return belief_id
    if any(part is None for part in parts):
        raise ValueError("must have subject, predicate and object with their keys, or none of them")
    return claims.slot_id_of_keys(belief["scope"], belief["subject_key"], belief["predicate_key"])
