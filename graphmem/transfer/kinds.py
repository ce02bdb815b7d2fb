"""Kinds of nodes and relationships in an export, with the types of their properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import (
    ConfigDict,
    Field,
    TypeAdapter,
    with_config,
)
from typing_extensions import TypedDict

from graphmem.items.records import MAX_MINUTES, Label
from graphmem.items.records import Key as ItemKey
from graphmem.model import EventType, Name, Status, Text
from graphmem.model.belief import Cardinality, Combine
from graphmem.model.episode import TimeZone
from graphmem.rules import seals
from graphmem.transfer.fields import (
    MAX_SEALED,
    Count,
    CreationOrder,
    Days,
    Digest,
    Flag,
    Id,
    ImportPath,
    Key,
    Leaves,
    Number,
    Rate,
    Recorded,
    Scope,
    Strength,
    TokenStates,
    TrustRank,
    Unit,
    Vector,
    When,
)

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
    time_zone: TimeZone
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
    **_event_links("CONCERNS", _Plain, "Rejection", EventType.REJECT, EventType.UNREJECT),
    **_event_links("CONCERNS NAMES", _Plain, "Name", EventType.SAME_AS),
    **_event_links(
        "CONCERNS", _Plain, "Event", EventType.ACCEPT, EventType.DISMISS, EventType.PROPOSE_RETRACT
    ),
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
