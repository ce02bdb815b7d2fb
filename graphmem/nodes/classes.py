"""Classes of the nodes that answers are read from, with their indexes and relationships."""

from __future__ import annotations

from typing import ClassVar

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    FloatProperty,
    IntegerProperty,
    One,
    StringProperty,
    StructuredNode,
    ZeroOrMore,
    ZeroOrOne,
)

from graphmem.items.records import Key as ItemKey
from graphmem.model import EventType, Status
from graphmem.model import Name as ShortText
from graphmem.model.belief import Cardinality, Combine
from graphmem.model.episode import TimeZone
from graphmem.model.memory import COMMITTED, STATING
from graphmem.nodes import values
from graphmem.nodes.declarations import (
    ID,
    TO_ONE,
    EvidenceEdge,
    IdentifiedNode,
    Index,
    InstantProperty,
    RatedEdge,
    RetrievedEdge,
    ReturnedEdge,
    ScopedNode,
    SearchedNode,
    StatedNode,
    Supersedes,
    TenantNode,
    fulltext,
    relate,
    vector,
)
from graphmem.nodes.values import Days, Digest, Id, ImportPath, Key, Rate, Recorded, TrustRank, Unit

LOGGED = [EventType.SESSION_END, EventType.SEARCH, EventType.ACCESS, EventType.ROLL_UP]
REJECTIONS = [EventType.REJECT, EventType.UNREJECT]
DECISIONS = [EventType.ACCEPT, EventType.DISMISS, EventType.PROPOSE_RETRACT]


class Tenant(StructuredNode):
    """The owner of a part of the graph; writers lock its node."""

    tenant = StringProperty(unique_index=True)
    locked_at = InstantProperty()
    last_lock = StringProperty()


class Memory(StatedNode):
    """One canonical claim."""

    indexes: ClassVar = (
        ID,
        Index("range", "created_at", ("tenant", "scope", "created_at")),
        Index("range", "status", ("tenant", "scope", "status")),
        Index("range", "trace_at", ("tenant", "scope", "status", "trace_at")),
        Index("range", "value_key", ("tenant", "value_key")),
        fulltext("content", "tenant_key", "scope_key", "status", "facet_keys"),
        vector("tenant", "scope", "status", "recorded_at", "created_at"),
    )

    content = StringProperty(required=True, sealed="fixed")
    content_hash = StringProperty(required=True, check=Id, immutable=True, sealed="fixed")
    tags = ArrayProperty(StringProperty(), required=True, sealed="changing")
    # The sources of the events in its own scope, and digests of these and of the tags.
    sources = ArrayProperty(StringProperty(), cached=True)
    facet_keys = ArrayProperty(StringProperty(), exported=False, cached=True)
    status = StringProperty(required=True, check=Status, cached=True)
    created_at = InstantProperty(required=True, sealed="changing")
    recorded_at = InstantProperty(required=True, check=Recorded, sealed="changing")
    # TraceRank after the last event in its own scope.
    trace = FloatProperty(cached=True)
    trace_at = InstantProperty(cached=True)
    trace_full_at = InstantProperty(cached=True)
    trace_burst = IntegerProperty(cached=True)
    trace_foreign = BooleanProperty(cached=True)


class Belief(StatedNode):
    """A hypothesis: a triple, a statement, or both."""

    indexes: ClassVar = (
        ID,
        Index("range", "subject_key", ("tenant", "scope", "subject_key", "predicate_key")),
        Index("range", "created_at", ("tenant", "scope", "created_at")),
        Index("range", "unembedded", ("tenant", "unembedded")),
        Index("range", "value_key", ("tenant", "value_key")),
        Index("range", "statement_key", ("tenant", "statement_key")),
        fulltext("statement", "tenant_key", "scope_key", "status"),
        vector("tenant", "scope", "status", "recorded_at", "created_at"),
    )

    slot_id = StringProperty(required=True, exported=False, cached=True)
    statement = StringProperty(required=True, sealed="changing")
    subject = StringProperty(sealed="changing")
    predicate = StringProperty(sealed="changing")
    object = StringProperty(sealed="changing")
    subject_key = StringProperty(check=Key, immutable=True, sealed="fixed")
    predicate_key = StringProperty(check=Key, immutable=True, sealed="fixed")
    object_key = StringProperty(immutable=True, sealed="fixed")
    status = StringProperty(required=True, check=values.BeliefStatus, cached=True)
    unembedded = BooleanProperty()
    created_at = InstantProperty(required=True, sealed="changing")
    recorded_at = InstantProperty(required=True, check=Recorded, sealed="changing")
    worded_at = InstantProperty(required=True, sealed="changing")
    first_id = StringProperty(required=True, check=Id, sealed="changing")
    depth = IntegerProperty(default=0, sealed="changing")
    locked_at = InstantProperty(exported=False)
    statement_key = StringProperty(exported=False, cached=True)


class Predicate(ScopedNode):
    """A scope's policy for a predicate, from the newest of its POLICY events, a person's first."""

    indexes: ClassVar = (ID, Index("range", "key", ("tenant", "key", "scope")))

    key = StringProperty(required=True, check=Key, sealed="fixed")
    trust = IntegerProperty(required=True, check=TrustRank, sealed="changing")
    name = StringProperty(required=True, sealed="changing")
    template = StringProperty(sealed="changing")
    cardinality = StringProperty(required=True, check=Cardinality, sealed="changing")
    kappa = FloatProperty(required=True, check=Rate, sealed="changing")
    tau_days = FloatProperty(required=True, check=Days, sealed="changing")
    decay_per_day = FloatProperty(required=True, check=Rate, sealed="changing")
    margin = FloatProperty(required=True, check=Unit, sealed="changing")
    combine = StringProperty(required=True, check=Combine, sealed="changing")
    valid_from = InstantProperty(sealed="changing")
    event_id = StringProperty(required=True, check=Id, sealed="changing")
    occurred_at = InstantProperty(required=True, sealed="changing")
    recorded_at = InstantProperty(required=True, check=Recorded, sealed="changing")


class Name(ScopedNode):
    """A name in a scope; the newest of its SAME_AS events decides of which name it is an alias."""

    indexes: ClassVar = (ID, Index("range", "key", ("tenant", "key", "scope")))

    key = StringProperty(required=True, check=Key, sealed="fixed")
    name = StringProperty(required=True, sealed="fixed")


class Rejection(ScopedNode):
    """Tombstone of a value that a person rejected, with every ruling about it, oldest first."""

    indexes: ClassVar = (ID, Index("range", "value_key", ("tenant", "value_key", "scope")))

    value_key = StringProperty(required=True, exported=False, cached=True)
    digest = StringProperty(required=True, check=Digest, sealed="fixed")
    recorded_at = InstantProperty(required=True, check=Recorded)
    rejects = ArrayProperty(BooleanProperty(), required=True, sealed="changing")
    at = ArrayProperty(InstantProperty(), required=True, sealed="changing")
    known_at = ArrayProperty(InstantProperty(check=Recorded), required=True, sealed="changing")
    event_ids = ArrayProperty(StringProperty(check=Id), required=True, sealed="changing")
    paths = ArrayProperty(StringProperty(check=ImportPath), required=True)


class Event(ScopedNode):
    """An append-only record."""

    indexes: ClassVar = (
        ID,
        Index("range", "target_id", ("tenant", "target_id")),
        Index("range", "position", ("tenant", "position")),
        Index("range", "type", ("tenant", "type", "recorded_at")),
    )
    immutable: ClassVar = True

    type = StringProperty(required=True, check=EventType)
    occurred_at = InstantProperty(required=True)
    recorded_at = InstantProperty(required=True, check=Recorded, immutable=False)
    request_hash = StringProperty(check=Id)
    content_hash = StringProperty(check=Id)
    source = StringProperty(check=ShortText)
    actor = StringProperty(check=ShortText)
    artifact_ref = StringProperty(check=values.Reference)
    episode_id = StringProperty(check=ShortText)
    polarity = IntegerProperty(check=values.Polarity)
    confidence = FloatProperty(check=Unit)
    source_type = StringProperty(check=ShortText)
    strength = FloatProperty(check=values.Strength)
    target_id = StringProperty(check=Id)
    cardinality = StringProperty(check=Cardinality)
    kappa = FloatProperty(check=Rate)
    tau_days = FloatProperty(check=Days)
    decay_per_day = FloatProperty(check=Rate)
    margin = FloatProperty(check=Unit)
    combine = StringProperty(check=Combine)
    valid_from = InstantProperty()
    same_as = StringProperty()
    value_digests = ArrayProperty(StringProperty(), check=values.Digests)
    # An import extends it.
    imported_path = StringProperty(check=ImportPath, immutable=False)
    position = IntegerProperty(check=values.Rank)
    trust = IntegerProperty(check=TrustRank, immutable=False)
    payload = StringProperty()


class Episode(SearchedNode):
    """One stretch of experience: a session, a conversation or a document."""

    indexes: ClassVar = (
        ID,
        Index("range", "occurred_at", ("tenant", "scope", "occurred_at")),
        Index("range", "recorded_at", ("tenant", "scope", "recorded_at")),
        fulltext("summary", "content", "gist", "entities", "tenant_key", "scope_key"),
        vector("tenant", "scope", "recorded_at", "occurred_at"),
    )

    session_id = StringProperty(check=Id, immutable=True, sealed="fixed")
    summary = StringProperty(sealed="given")
    content = StringProperty(sealed="changing")
    gist = StringProperty(sealed="changing")
    entities = ArrayProperty(StringProperty(), required=True, sealed="given")
    importance = FloatProperty(required=True, check=Unit, sealed="given")
    stated = ArrayProperty(StringProperty(), sealed="names of given")
    summarised_turns = IntegerProperty(cached=True)
    summarised_by = StringProperty(cached=True)
    turns_compressed = BooleanProperty(sealed="changing")
    erased_turns = ArrayProperty(StringProperty())
    trust = IntegerProperty(check=TrustRank, sealed="changing")
    request_hash = StringProperty(check=Id, immutable=True, sealed="fixed")
    occurred_at = InstantProperty(required=True, sealed="changing")
    recorded_at = InstantProperty(required=True, check=Recorded, sealed="fixed")
    locked_at = InstantProperty(exported=False)


class Turn(SearchedNode):
    """One message of an episode, verbatim, with its position."""

    indexes: ClassVar = (
        ID,
        Index("unique", "position", ("tenant", "episode_id", "position")),
        Index("range", "recorded_at", ("tenant", "scope", "recorded_at")),
        fulltext("text", "name", "tenant_key", "scope_key"),
        vector("tenant", "scope", "recorded_at", "occurred_at"),
    )

    compressed = BooleanProperty()
    episode_id = StringProperty(required=True, check=ShortText, immutable=True, sealed="fixed")
    position = IntegerProperty(required=True, immutable=True, sealed="fixed")
    role = StringProperty(required=True, immutable=True, sealed="fixed")
    name = StringProperty(immutable=True, sealed="fixed")
    text = StringProperty(required=True, immutable=True, sealed="fixed")
    trust = IntegerProperty(required=True, check=TrustRank, sealed="fixed")
    occurred_at = InstantProperty(required=True, sealed="fixed")
    time_zone = StringProperty(required=True, check=TimeZone, sealed="fixed")
    recorded_at = InstantProperty(required=True, check=Recorded, sealed="fixed")


class Artifact(ScopedNode):
    """A file, symbol or document that agents access."""

    indexes: ClassVar = (ID,)

    kind = StringProperty(required=True, immutable=True)
    ref = StringProperty(required=True, immutable=True)
    recorded_at = InstantProperty(required=True, check=Recorded)


class Reply(ScopedNode):
    """Decision about a cluster of passages or about turns read together, with the model's reply."""

    indexes: ClassVar = (ID,)

    kind = StringProperty(check=values.ReplyKind)  # None for consolidation
    done = BooleanProperty(required=True)
    attempts = IntegerProperty(required=True)
    synthesiser = StringProperty()
    known = InstantProperty()
    decided = StringProperty()
    raw = StringProperty()
    problem = StringProperty()
    # Totals of all attempts that got a reply.
    calls = IntegerProperty()
    tokens_in = IntegerProperty()
    tokens_out = IntegerProperty()
    cost_usd = FloatProperty()
    recorded_at = InstantProperty(check=Recorded)
    locked_at = InstantProperty(exported=False)


class Archive(ScopedNode):
    """The full text of an episode that was compressed."""

    indexes: ClassVar = (ID,)

    episode_id = StringProperty(required=True, check=ShortText, immutable=True)
    content = StringProperty(required=True)
    sha256 = StringProperty(required=True, check=Id, immutable=True)
    recorded_at = InstantProperty(required=True, check=Recorded)


class Rating(ScopedNode):
    """Usage rating of an item: a cache that can be recomputed from the search log.

    The `base_…` properties are its state when the earlier log was rolled up; null if it never was.
    """

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "kind", "id")),
        Index("range", "elo", ("tenant", "elo")),
    )

    kind = StringProperty(required=True, exported=False)
    elo = FloatProperty(required=True)
    games = IntegerProperty(required=True)
    touched_at = InstantProperty(required=True)
    base_elo = FloatProperty()
    base_games = IntegerProperty()
    base_touched_at = InstantProperty()


class Namespace(IdentifiedNode):
    """A namespace of items; it exists as long as it has an item, and is exported with each."""

    indexes: ClassVar = (
        ID,
        Index("range", "path", ("tenant", "scope", "path")),
        Index("range", "reversed", ("tenant", "scope", "reversed")),
    )

    scope = StringProperty(required=True, exported=False)
    parts = ArrayProperty(StringProperty(), required=True, check=values.NamespaceParts)
    depth = IntegerProperty(required=True, exported=False)
    # Its labels, each followed by a dot, in order and in reverse order.
    path = StringProperty(required=True, exported=False)
    reversed = StringProperty(required=True, exported=False)
    # Creation time by the server's clock in microseconds, and the position in a batch.
    creation_order = ArrayProperty(IntegerProperty(), required=True, check=values.CreationOrder)
    locked_at = InstantProperty(exported=False)


class Item(ScopedNode):
    """A JSON value that an agent stores under a key; a new value replaces it."""

    indexes: ClassVar = (ID, Index("range", "expires_at", ("tenant", "scope", "expires_at")))

    key = StringProperty(required=True, check=ItemKey, immutable=True)
    value = StringProperty(required=True)
    facets = ArrayProperty(StringProperty(), exported=False)
    created_at = InstantProperty(required=True)
    updated_at = InstantProperty(required=True)
    creation_order = ArrayProperty(IntegerProperty(), required=True, check=values.CreationOrder)
    ttl_minutes = FloatProperty(check=values.Minutes)
    expires_at = InstantProperty()
    locked_at = InstantProperty(exported=False)


class ItemText(TenantNode):
    """A text by which an item is found, exported with it."""

    indexes: ClassVar = (vector("tenant", "scope", "path"),)

    scope = StringProperty(required=True, exported=False)
    name = StringProperty(required=True)
    text = StringProperty(required=True)
    path = StringProperty(required=True, exported=False)
    embedding = ArrayProperty(FloatProperty(), check=values.Vector)


class Seal(IdentifiedNode):
    """Digests of events in a chain, by which a later change of one is found."""

    indexes: ClassVar = (ID,)

    ids = ArrayProperty(StringProperty(), required=True, check=values.SealEntries)
    salts = ArrayProperty(StringProperty(), required=True, check=values.SealEntries)
    leaves = ArrayProperty(StringProperty(), required=True, check=values.SealLeaves)
    digest = StringProperty(required=True, check=Digest)
    sealed_until = InstantProperty(required=True, check=Recorded)
    recorded_at = InstantProperty(required=True, check=Recorded)


SEALED = (Memory, Belief, Turn, Episode, Name, Predicate, Rejection)
RATED = (Memory, Belief, Episode, Artifact)

relate(Turn, "OCCURRED_IN", ("occurred_in", "turns"), Episode, cardinality=TO_ONE)
relate(Turn, "NEXT", ("next", "previous"), Turn, cardinality=(ZeroOrOne, ZeroOrOne))
relate(Episode, "ARCHIVED_AS", ("archived_as", "episode"), Archive, cardinality=TO_ONE)
relate(Reply, "RESTS_ON", ("turns", "replies"), Turn)
relate(Reply, "RESTS_ON", ("episodes", "replies"), Episode)
relate(Item, "STANDS_IN", ("namespace", "items"), Namespace, cardinality=(One, ZeroOrMore))
relate(Item, "FOUND_BY", ("found_by", "item"), ItemText, cardinality=(ZeroOrMore, One))
relate(Memory, "CLAIMS", ("claims", "claimed_by"), Belief)
relate(Memory, "SUPERSEDES", ("supersedes", "superseded_by"), Memory, model=Supersedes)
relate(Belief, "SUPERSEDES", ("supersedes", "superseded_by"), Belief, model=Supersedes)
relate(Event, "SUPPORTS", ("supports", "supported_by"), Belief, model=EvidenceEdge, of=STATING)
relate(Event, "REFUTES", ("refutes", "refuted_by"), Belief, model=EvidenceEdge, of=STATING)
relate(Event, "OCCURRED_IN", ("occurred_in", "events"), Episode, cardinality=TO_ONE)
relate(Event, "QUOTES", ("quotes", "quoted_by"), Turn)
relate(Event, "REINFORCES", ("reinforces", "reinforced_by"), Memory, of=COMMITTED)
relate(Event, "RETRACTS", ("retracts", "retracted_by"), Event, of=[EventType.RETRACT])
relate(Event, "CONCERNS", ("concerns", "concerned_by"), Memory)
relate(Event, "CONCERNS", ("concerns", "concerned_by"), Belief, Episode)
relate(Event, "CONCERNS", ("concerns_predicates", "concerned_by"), Predicate, of=[EventType.POLICY])
relate(Event, "CONCERNS", ("concerns_names", "concerned_by"), Name, of=[EventType.SAME_AS])
relate(Event, "CONCERNS", ("concerns_rejections", "concerned_by"), Rejection, of=REJECTIONS)
relate(Event, "CONCERNS", ("concerns_proposals", "decided_by"), Event, of=DECISIONS)
relate(Event, "NAMES", ("names", "named_by"), Name, of=[EventType.SAME_AS], cardinality=TO_ONE)
relate(Event, "WITHIN", ("within", "logged"), Event, of=LOGGED, cardinality=TO_ONE)
relate(Event, "ACCESSED", ("accessed", "accessed_by"), *RATED, Turn, of=[EventType.ACCESS])
relate(
    Event,
    "RETURNED",
    ("returned", "returned_by"),
    *RATED,
    Turn,
    model=ReturnedEdge,
    of=[EventType.SEARCH],
)
relate(
    Event,
    "RETRIEVED",
    ("retrieved_beliefs", "retrieved_by"),
    Belief,
    model=RetrievedEdge,
    of=[EventType.ROLL_UP],
)
relate(Event, "RATED", ("rated", "rated_by"), *RATED, model=RatedEdge, of=[EventType.SEARCH])
relate(Seal, "SEALS", ("seals", "sealed_by"), Event, cardinality=(ZeroOrMore, ZeroOrOne))
relate(Seal, "SEALS", ("sealed", "sealed_by"), *SEALED)
relate(Tenant, "UNSEALED", ("unsealed", "unsealed_by"), Event, cardinality=(ZeroOrMore, ZeroOrOne))
relate(Tenant, "UNSEALED", ("unsealed", "unsealed_by"), *SEALED)
