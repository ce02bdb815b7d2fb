"""Types of the values in an export, and their conversion for the graph."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

import numpy as np
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    TypeAdapter,
    ValidationInfo,
    with_config,
)
from typing_extensions import TypedDict

from graphmem.items import rules
from graphmem.items.records import MAX_MINUTES, Label
from graphmem.items.records import Key as ItemKey
from graphmem.model import EventType, Name, Status, Text
from graphmem.model.belief import Cardinality, Combine
from graphmem.rules import seals

MAX_NORM = 1e6
"""Maximum norm of an embedding. Models give about 1; squares of much larger ones overflow."""
MAX_STATES_BYTES = 1_000_000
"""Maximum size of the token states of a node."""
MAX_SEALED = 10_000
"""Maximum number of entries of a seal: events and the nodes that they state."""
MAX_KEY_BYTES = 6_500
"""Bytes of UTF-8: an index accepts about 8,000, of which tenant and scope need up to 1,600."""


def _single_entry(value: object, name: str) -> Any:
    """Return the value of a map with one entry, which encodes a type that JSON lacks."""
    if not isinstance(value, dict) or list(value) != [name]:
        raise ValueError(f'must be a map with the one entry "{name}"')
    return value[name]


def _parse_instant(value: object) -> datetime:
    text = _single_entry(value, "instant")
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError("must be an ISO 8601 timestamp with a time zone, in the years 1 to 9999")


def _check_recorded(at: datetime) -> datetime:
    # Readers add and subtract durations.
    if not 1970 <= at.year < 9999:
        raise ValueError("must be in the years 1970 to 9998")
    return at


def _parse_days(value: object) -> object:
    if value == {"float": "inf"}:
        return math.inf
    if isinstance(value, float | int) and not isinstance(value, bool) and 0 < value < math.inf:
        return float(value)
    raise ValueError('must be a number greater than 0 or {"float": "inf"}')


def _parse_vector(value: object, info: ValidationInfo) -> Any:
    dimension = (info.context or {})["dimension"]
    try:
        data = base64.b64decode(_single_entry(value, "vector"), validate=True)
    except (TypeError, binascii.Error):
        raise ValueError("must be 32-bit floats in base64") from None
    if len(data) != 4 * dimension:
        raise ValueError(f"must have {dimension} dimensions, as in the header")
    found = np.frombuffer(data, dtype="<f4").astype(np.float32)
    # The server refuses to compare a vector of norm 0; NaN fails this check, too.
    if not 0 < float(np.linalg.norm(found.astype(np.float64))) <= MAX_NORM:
        raise ValueError("must be finite numbers, not all of them 0")
    return found


def _parse_bytes(value: object) -> bytes:
    try:
        data = base64.b64decode(_single_entry(value, "bytes"), validate=True)
    except (TypeError, binascii.Error):
        raise ValueError("must be bytes in base64") from None
    if len(data) > MAX_STATES_BYTES:
        raise ValueError(f"must have at most {MAX_STATES_BYTES:,} bytes")
    return data


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object in a text.

    Raises:
        ValueError: the text is not a JSON object, or is nested too deeply.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("must be JSON") from None
    if not isinstance(found, dict) or rules.is_too_deep(found):
        raise ValueError(f"must be a JSON object of at most {rules.MAX_LEVELS} levels")
    return found


def _check_key_length(text: str) -> str:
    if len(text.encode()) > MAX_KEY_BYTES:
        raise ValueError(f"must have at most {MAX_KEY_BYTES:,} bytes")
    return text


When: TypeAlias = Annotated[datetime, PlainValidator(_parse_instant)]
Recorded: TypeAlias = Annotated[When, AfterValidator(_check_recorded)]
Days: TypeAlias = Annotated[float, PlainValidator(_parse_days)]
"""Time constant in days; inf for no decay."""
TokenStates: TypeAlias = Annotated[bytes, PlainValidator(_parse_bytes)]
Vector: TypeAlias = Annotated[Any, PlainValidator(_parse_vector)]
"""float32[n]; n is `dimension` of the validation's context."""
Id: TypeAlias = Annotated[Text, Field(min_length=1, max_length=500)]
"""Ids given by callers have at most 200 characters; some ids are derived from these."""
Key: TypeAlias = Annotated[Text, Field(min_length=1), AfterValidator(_check_key_length)]
"""Folded name, short enough for an index."""
Digest: TypeAlias = Annotated[str, Strict(), Field(pattern=r"^[0-9a-f]{64}$")]
ImportPath: TypeAlias = Annotated[str, Strict(), Field(pattern=r"^([0-9a-f]{16}/){0,50}$")]
Leaves: TypeAlias = Annotated[str, Strict(), Field(pattern=r"^([0-9a-f]{64}){1,2}$")]
"""Salted digests of an entry of a seal."""
Scope: TypeAlias = Name
Count: TypeAlias = Annotated[int, Strict(), Field(ge=0, le=2**53)]
Number: TypeAlias = Annotated[float, Strict(), Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Unit: TypeAlias = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
Strength: TypeAlias = Annotated[float, Strict(), Field(ge=0.1, le=0.9, allow_inf_nan=False)]
"""Strength as used by the sequential test, so that its logarithm is finite."""
Rate: TypeAlias = Annotated[float, Strict(), Field(ge=0, le=1_000, allow_inf_nan=False)]
TrustRank: TypeAlias = Annotated[int, Strict(), Field(ge=0, le=4)]
"""Rank of a trust class: see rules/trust.py."""
Flag: TypeAlias = Annotated[bool, Strict()]
CreationOrder: TypeAlias = Annotated[list[Count], Field(min_length=2, max_length=2)]
"""Time of creation, and position in a batch."""
Texts: TypeAlias = list[Text]
closed = with_config(ConfigDict(extra="forbid", hide_input_in_errors=True))


@closed
class _Episode(TypedDict):
    scope: Scope
    session_id: NotRequired[Id]
    summary: NotRequired[Text]
    content: NotRequired[Text]
    gist: NotRequired[Text]
    entities: Texts
    importance: Unit
    stated: NotRequired[Texts]
    summarised_turns: NotRequired[Count]
    summarised_by: NotRequired[Text]
    turns_compressed: NotRequired[Flag]
    trust: NotRequired[TrustRank]
    embedding: NotRequired[Vector]
    token_states: NotRequired[TokenStates]
    request_hash: NotRequired[Id]
    occurred_at: When
    recorded_at: Recorded


@closed
class _Turn(TypedDict):
    scope: Scope
    episode_id: Name
    position: Count
    role: Text
    name: NotRequired[Text]
    text: Text
    compressed: NotRequired[Flag]
    trust: TrustRank
    embedding: NotRequired[Vector]
    token_states: NotRequired[TokenStates]
    occurred_at: When
    recorded_at: Recorded


@closed
class _Archive(TypedDict):
    scope: Scope
    episode_id: Name
    content: Text
    sha256: Id
    recorded_at: Recorded


@closed
class _Reply(TypedDict):
    scope: Scope
    kind: NotRequired[Literal["extraction", "summary"]]
    done: Flag
    attempts: Count
    synthesiser: NotRequired[Text]
    known: NotRequired[When]
    decided: NotRequired[Text]
    raw: NotRequired[Text]
    problem: NotRequired[Text]
    calls: NotRequired[Count]
    tokens_in: NotRequired[Count]
    tokens_out: NotRequired[Count]
    cost_usd: NotRequired[Number]
    recorded_at: NotRequired[Recorded]


@closed
class _Artifact(TypedDict):
    scope: Scope
    kind: Text
    ref: Text
    recorded_at: Recorded


@closed
class _Item(TypedDict):
    scope: Scope
    key: ItemKey
    value: Text
    created_at: When
    updated_at: When
    creation_order: CreationOrder
    ttl_minutes: NotRequired[Annotated[Number, Field(gt=0, le=MAX_MINUTES)]]
    expires_at: NotRequired[When]


@closed
class _Namespace(TypedDict):
    parts: Annotated[list[Label], Field(max_length=100)]
    creation_order: CreationOrder


@closed
class _ItemText(TypedDict):
    name: Text
    text: Text
    embedding: NotRequired[Vector]


@closed
class _Name(TypedDict):
    scope: Scope
    key: Key
    name: Text


@closed
class _Predicate(TypedDict):
    scope: Scope
    key: Key
    name: Text
    trust: TrustRank
    template: NotRequired[Text]
    cardinality: Cardinality
    kappa: Rate
    tau_days: Days
    decay_per_day: Rate
    margin: Unit
    combine: Combine
    valid_from: NotRequired[When]
    event_id: Id
    occurred_at: When
    recorded_at: Recorded


@closed
class _Rejection(TypedDict):
    scope: Scope
    digest: Digest
    rejects: list[Flag]
    at: list[When]
    known_at: list[Recorded]
    event_ids: list[Id]
    paths: list[ImportPath]
    recorded_at: Recorded


@closed
class _Belief(TypedDict):
    scope: Scope
    statement: Text
    subject: NotRequired[Text]
    predicate: NotRequired[Text]
    object: NotRequired[Text]
    subject_key: NotRequired[Key]
    predicate_key: NotRequired[Key]
    object_key: NotRequired[Text]
    status: Literal[Status.CURRENT, Status.SUPERSEDED, Status.ARCHIVED, Status.REJECTED]
    embedding: NotRequired[Vector]
    token_states: NotRequired[TokenStates]
    unembedded: NotRequired[Flag]
    created_at: When
    recorded_at: Recorded
    worded_at: When
    first_id: Id
    depth: NotRequired[Count]


@closed
class _Memory(TypedDict):
    scope: Scope
    content: Text
    content_hash: Id
    tags: Texts
    sources: NotRequired[Texts]
    status: Status
    embedding: NotRequired[Vector]
    token_states: NotRequired[TokenStates]
    created_at: When
    recorded_at: Recorded
    trace: NotRequired[Number]
    trace_at: NotRequired[When]
    trace_full_at: NotRequired[When]
    trace_burst: NotRequired[Count]
    trace_foreign: NotRequired[Flag]


@closed
class _Event(TypedDict):
    scope: Scope
    type: EventType
    occurred_at: When
    recorded_at: Recorded
    request_hash: NotRequired[Id]
    content_hash: NotRequired[Id]
    source: NotRequired[Name]
    actor: NotRequired[Name]
    artifact_ref: NotRequired[Annotated[Text, Field(max_length=2_000)]]
    episode_id: NotRequired[Name]
    polarity: NotRequired[Literal[-1, 1]]
    confidence: NotRequired[Unit]
    source_type: NotRequired[Name]
    strength: NotRequired[Strength]
    target_id: NotRequired[Id]
    cardinality: NotRequired[Cardinality]
    kappa: NotRequired[Rate]
    tau_days: NotRequired[Days]
    decay_per_day: NotRequired[Rate]
    margin: NotRequired[Unit]
    combine: NotRequired[Combine]
    valid_from: NotRequired[When]
    same_as: NotRequired[Text]
    imported_path: NotRequired[ImportPath]
    value_digests: NotRequired[Annotated[list[Digest], Field(min_length=1, max_length=100)]]
    position: NotRequired[Annotated[Count, Field(ge=1)]]
    trust: NotRequired[TrustRank]
    payload: NotRequired[Text]


_Entries: TypeAlias = Annotated[list[Text], Field(min_length=1, max_length=MAX_SEALED)]


@closed
class _Seal(TypedDict):
    ids: _Entries
    salts: _Entries
    leaves: Annotated[list[Leaves], Field(min_length=1, max_length=MAX_SEALED)]
    digest: Digest
    sealed_until: Recorded
    recorded_at: Recorded


@closed
class _Consolidation(TypedDict):
    cursor: NotRequired[When]
    known: NotRequired[When]
    outages: NotRequired[Count]
    failed: NotRequired[Count]
    away_since: NotRequired[When]
    retry_at: NotRequired[When]


@closed
class _Rating(TypedDict):
    scope: Scope
    elo: Number
    games: Count
    touched_at: When
    base_elo: NotRequired[Number]
    base_games: NotRequired[Count]
    base_touched_at: NotRequired[When]


@closed
class _Rater(TypedDict):
    ended: NotRequired[Count]
    rated: NotRequired[Count]
    rolled: NotRequired[Count]


NODES: Mapping[str, Any] = {
    kind.__name__.removeprefix("_"): kind
    for kind in (
        *(_Episode, _Archive, _Turn, _Reply, _Artifact, _Item, _Namespace, _ItemText, _Name),
        *(_Predicate, _Rejection, _Belief, _Memory, _Event, _Seal, _Consolidation, _Rating),
        _Rater,
    )
}
"""Types of the properties by label."""
TEXTS: Any = list[_ItemText]
"""Searchable texts of an item."""


@closed
class _Plain(TypedDict):
    """A relationship without properties."""


@closed
class _Supersedes(TypedDict):
    event_id: Id
    occurred_at: When
    recorded_at: Recorded
    in_force: NotRequired[Flag]


@closed
class _Returned(TypedDict):
    rank: Annotated[Count, Field(ge=1)]
    similarity: NotRequired[Number]
    content_hash: NotRequired[Id]


@closed
class _Retrieved(TypedDict):
    occurred_at: When


@closed
class _Rated(TypedDict):
    before: Number
    after: Number


@dataclass(frozen=True, slots=True)
class LinkKind:
    """Relationships of one type between two kinds of nodes."""

    properties: Any
    of: frozenset[EventType] | None = None
    """Types of the events it starts from; None if the type does not matter."""


_LOGGED = frozenset({EventType.SESSION_END, EventType.SEARCH, EventType.ACCESS, EventType.ROLL_UP})


def _event_links(types: str, properties: Any, labels: str, *of: EventType) -> dict[Any, LinkKind]:
    """Return the kinds of relationships that start from events."""
    link = LinkKind(properties, frozenset(of) or None)
    return {
        ("Event", type_name, label): link for type_name in types.split() for label in labels.split()
    }


LINKS: Mapping[tuple[str, str, str], LinkKind] = {
    ("Turn", "OCCURRED_IN", "Episode"): LinkKind(_Plain),
    ("Turn", "NEXT", "Turn"): LinkKind(_Plain),
    ("Episode", "ARCHIVED_AS", "Archive"): LinkKind(_Plain),
    ("Reply", "RESTS_ON", "Turn"): LinkKind(_Plain),
    ("Reply", "RESTS_ON", "Episode"): LinkKind(_Plain),
    ("Memory", "CLAIMS", "Belief"): LinkKind(_Plain),
    ("Memory", "SUPERSEDES", "Memory"): LinkKind(_Supersedes),
    ("Belief", "SUPERSEDES", "Belief"): LinkKind(_Supersedes),
    ("Seal", "SEALS", "Event"): LinkKind(_Plain),
    **{("Seal", "SEALS", label): LinkKind(_Plain) for label in seals.CONTENT},
    **_event_links("CONCERNS", _Plain, "Memory Belief Episode"),
    **_event_links("OCCURRED_IN", _Plain, "Episode"),
    **_event_links("QUOTES", _Plain, "Turn"),
    **_event_links("REINFORCES", _Plain, "Memory", *seals.COMMITTED),
    # Their properties are those of the event and of the belief.
    **_event_links("SUPPORTS REFUTES", _Plain, "Belief", *seals.STATING),
    **_event_links("CONCERNS", _Plain, "Predicate", EventType.POLICY),
    **_event_links("CONCERNS NAMES", _Plain, "Name", EventType.SAME_AS),
    **_event_links("CONCERNS", _Plain, "Event", EventType.ACCEPT, EventType.DISMISS),
    **_event_links("RETRACTS", _Plain, "Event", EventType.RETRACT),
    **_event_links("WITHIN", _Plain, "Event", *_LOGGED),
    **_event_links("ACCESSED", _Plain, "Memory Belief Turn Episode Artifact", EventType.ACCESS),
    **_event_links("RETURNED", _Returned, "Memory Belief Turn Episode Artifact", EventType.SEARCH),
    **_event_links("RETRIEVED", _Retrieved, "Belief", EventType.ROLL_UP),
    **_event_links("RATED", _Rated, "Memory Belief Episode Artifact", EventType.SEARCH),
}
"""Kinds of relationships by start label, type and end label."""


@cache
def adapter(shape: Any) -> TypeAdapter[Any]:
    """Return the validator of a type; created on first use."""
    return TypeAdapter(shape)
