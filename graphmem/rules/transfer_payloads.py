"""The JSON texts inside an export: what events and replies tell beside their properties.

Readers of the graph take these texts apart, so what they read of each is checked here. What else
such a text holds is kept, and read by nothing.
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
    loaded,
)

_open = with_config(ConfigDict(extra="allow", hide_input_in_errors=True))
_closed = with_config(ConfigDict(extra="forbid", hide_input_in_errors=True))


@_open
class _AnyPayload(TypedDict):
    """What any event may tell."""

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
class TheClaim(TypedDict):
    """A `Claim`, field by field."""

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
    claim: TheClaim
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
PRUNING = "attention"
"""The source of events by which pruning put something away."""


@_open
class _Decided(TypedDict):
    beliefs: list[TheClaim]
    said: list[tuple[Id, Id, Id, EvidenceKind, Number]]
    marks: list[tuple[Id, Id, Annotated[Text, Field(max_length=200)]]]


def payload(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what an event tells, None when it tells nothing.

    Args:
        event: its properties, of which each is as it should be.

    Raises:
        ValueError: a reader could not read it; a `ValidationError` names the field.
    """
    kind: EventType = event["type"]
    pruned = kind in (EventType.ARCHIVE, EventType.COMPRESS) and event.get("source") == PRUNING
    shape = _Pruned if pruned else _PAYLOADS.get(kind)
    if (text := event.get("payload")) is None:
        if shape is not None:
            raise ValueError(f"must be there in an event of the type {kind}")
        return None
    found: dict[str, Any] = adapter(shape or _AnyPayload).validate_python(loaded(text))
    if kind is EventType.PROPOSE:
        whole(found["claim"])
    if kind in COMMITTED and "request_hash" in event and "outcome" not in found:
        raise ValueError("must tell the outcome")
    return found


def decided(text: str) -> dict[str, Any]:
    """Return what was decided of passages or turns.

    Raises:
        ValueError: it could not be done again from it; a `ValidationError` names the field.
    """
    found: dict[str, Any] = adapter(_Decided).validate_python(loaded(text))
    for claim in found["beliefs"]:
        whole(claim)
    return found


def whole(claim: Mapping[str, Any]) -> None:
    """Accept the claim of a whole triple, or of a statement alone, that is in its own slot.

    Raises:
        ValueError: a part of its triple is missing, or its slot is another one.
    """
    if claim["slot_id"] != slot_id(claim, claim["id"]):
        raise ValueError("claim.slot_id: must be that of its subject and predicate")


def slot_id(belief: Mapping[str, Any], belief_id: str) -> str:
    """Return the slot that follows from what a belief says.

    Raises:
        ValueError: a part of its triple is missing.
    """
    parts = [belief.get(f"{part}{end}") for part in _TRIPLE for end in ("", "_key")]
    if all(part is None for part in parts):
        return belief_id
    if any(part is None for part in parts):
        raise ValueError("must have subject, predicate and object with their keys, or none of them")
    return claims.slot_of_keys(belief["scope"], belief["subject_key"], belief["predicate_key"])
