"""Node classes of the graph with their indexes and keys; those of internal state come last."""

from __future__ import annotations

from typing import ClassVar

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    One,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
    ZeroOrOne,
)

from graphmem.adapters.neomodel_nodes.declarations import (
    ID,
    EvidenceEdge,
    Index,
    RatedEdge,
    RatedNode,
    RetrievedEdge,
    ReturnedEdge,
    ScopedNode,
    Supersedes,
    TenantNode,
    at,
    fulltext,
    vector,
)


class Tenant(StructuredNode):
    """The owner of a part of the graph; writers lock its node."""

    tenant = StringProperty(unique_index=True)
    locked_at = DateTimeNeo4jFormatProperty()

    unsealed = RelationshipTo(at("Event"), "UNSEALED")
    unsealed_memories = RelationshipTo(at("Memory"), "UNSEALED")
    unsealed_beliefs = RelationshipTo(at("Belief"), "UNSEALED")
    unsealed_turns = RelationshipTo(at("Turn"), "UNSEALED")
    unsealed_episodes = RelationshipTo(at("Episode"), "UNSEALED")
    unsealed_names = RelationshipTo(at("Name"), "UNSEALED")
    unsealed_predicates = RelationshipTo(at("Predicate"), "UNSEALED")
    unsealed_rejections = RelationshipTo(at("Rejection", "state_nodes"), "UNSEALED")


class Memory(RatedNode):
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

    tenant_key = StringProperty(required=True)
    scope_key = StringProperty(required=True)
    content = StringProperty(required=True)
    content_hash = StringProperty(required=True)
    tags = ArrayProperty(StringProperty())
    # Caches that `admin rebuild` recomputes: sources of its own scope's events; digests of both.
    sources = ArrayProperty(StringProperty())
    facet_keys = ArrayProperty(StringProperty())
    status = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    created_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    # Cache that `admin rebuild` recomputes: TraceRank after the last event in its own scope.
    trace = FloatProperty()
    trace_at = DateTimeNeo4jFormatProperty()
    trace_full_at = DateTimeNeo4jFormatProperty()
    trace_burst = IntegerProperty()
    trace_foreign = BooleanProperty()
    # Caches that `admin rebuild` recomputes: key of what it states, and the rulings about it.
    value_key = StringProperty()
    rulings = ArrayProperty(BooleanProperty())
    ruled_at = ArrayProperty(DateTimeNeo4jFormatProperty())
    ruled_known = ArrayProperty(DateTimeNeo4jFormatProperty())
    ruled_scopes = ArrayProperty(StringProperty())
    ruled_paths = ArrayProperty(StringProperty())
    rejected = BooleanProperty()

    supersedes = RelationshipTo(at("Memory"), "SUPERSEDES", model=Supersedes)
    superseded_by = RelationshipFrom(at("Memory"), "SUPERSEDES", model=Supersedes)
    reinforced_by = RelationshipFrom(at("Event"), "REINFORCES")
    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")
    claims = RelationshipTo(at("Belief"), "CLAIMS")
    sealed_by = RelationshipFrom(at("Seal"), "SEALS")
    unsealed_by = RelationshipFrom(at("Tenant"), "UNSEALED")


class Belief(RatedNode):
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

    tenant_key = StringProperty(required=True)
    scope_key = StringProperty(required=True)
    slot_id = StringProperty(required=True)
    statement = StringProperty(required=True)
    subject = StringProperty()
    predicate = StringProperty()
    object = StringProperty()
    subject_key = StringProperty()
    predicate_key = StringProperty()
    object_key = StringProperty()
    status = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    unembedded = BooleanProperty()
    created_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    worded_at = DateTimeNeo4jFormatProperty(required=True)
    first_id = StringProperty(required=True)
    depth = IntegerProperty(default=0)
    locked_at = DateTimeNeo4jFormatProperty()
    # Caches that `admin rebuild` recomputes: key of what it states, and the rulings about it.
    value_key = StringProperty()
    statement_key = StringProperty()
    rulings = ArrayProperty(BooleanProperty())
    ruled_at = ArrayProperty(DateTimeNeo4jFormatProperty())
    ruled_known = ArrayProperty(DateTimeNeo4jFormatProperty())
    ruled_scopes = ArrayProperty(StringProperty())
    ruled_paths = ArrayProperty(StringProperty())
    rejected = BooleanProperty()

    supported_by = RelationshipFrom(at("Event"), "SUPPORTS", model=EvidenceEdge)
    refuted_by = RelationshipFrom(at("Event"), "REFUTES", model=EvidenceEdge)
    retrieved_by = RelationshipFrom(at("Event"), "RETRIEVED", model=RetrievedEdge)
    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")
    claimed_by = RelationshipFrom(at("Memory"), "CLAIMS")
    supersedes = RelationshipTo(at("Belief"), "SUPERSEDES", model=Supersedes)
    superseded_by = RelationshipFrom(at("Belief"), "SUPERSEDES", model=Supersedes)
    sealed_by = RelationshipFrom(at("Seal"), "SEALS")
    unsealed_by = RelationshipFrom(at("Tenant"), "UNSEALED")


class Predicate(ScopedNode):
    """A scope's policy for a predicate, from the newest of its POLICY events, a person's first."""

    indexes: ClassVar = (ID, Index("range", "key", ("tenant", "key", "scope")))

    key = StringProperty(required=True)
    trust = IntegerProperty(required=True)
    name = StringProperty(required=True)
    template = StringProperty()
    cardinality = StringProperty(required=True)
    kappa = FloatProperty(required=True)
    tau_days = FloatProperty(required=True)
    decay_per_day = FloatProperty(required=True)
    margin = FloatProperty(required=True)
    combine = StringProperty(required=True)
    valid_from = DateTimeNeo4jFormatProperty()
    event_id = StringProperty(required=True)
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")
    sealed_by = RelationshipFrom(at("Seal"), "SEALS")
    unsealed_by = RelationshipFrom(at("Tenant"), "UNSEALED")


class Name(ScopedNode):
    """A name in a scope; the newest of its SAME_AS events decides of which name it is an alias."""

    indexes: ClassVar = (ID, Index("range", "key", ("tenant", "key", "scope")))

    key = StringProperty(required=True)
    name = StringProperty(required=True)

    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")
    named_by = RelationshipFrom(at("Event"), "NAMES")
    sealed_by = RelationshipFrom(at("Seal"), "SEALS")
    unsealed_by = RelationshipFrom(at("Tenant"), "UNSEALED")


class Event(ScopedNode):
    """An append-only record."""

    indexes: ClassVar = (
        ID,
        Index("range", "target_id", ("tenant", "target_id")),
        Index("range", "position", ("tenant", "position")),
        Index("range", "type", ("tenant", "type", "recorded_at")),
    )

    type = StringProperty(required=True)
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    request_hash = StringProperty()
    content_hash = StringProperty()
    source = StringProperty()
    actor = StringProperty()
    artifact_ref = StringProperty()
    episode_id = StringProperty()
    polarity = IntegerProperty()
    confidence = FloatProperty()
    source_type = StringProperty()
    strength = FloatProperty()
    target_id = StringProperty()
    cardinality = StringProperty()
    kappa = FloatProperty()
    tau_days = FloatProperty()
    decay_per_day = FloatProperty()
    margin = FloatProperty()
    combine = StringProperty()
    valid_from = DateTimeNeo4jFormatProperty()
    same_as = StringProperty()
    value_digests = ArrayProperty(StringProperty())
    imported_path = StringProperty()
    position = IntegerProperty()
    trust = IntegerProperty()
    payload = StringProperty()

    reinforces = RelationshipTo(at("Memory"), "REINFORCES")
    supports = RelationshipTo(at("Belief"), "SUPPORTS", model=EvidenceEdge)
    refutes = RelationshipTo(at("Belief"), "REFUTES", model=EvidenceEdge)
    retracts = RelationshipTo(at("Event"), "RETRACTS")
    retracted_by = RelationshipFrom(at("Event"), "RETRACTS")
    concerns = RelationshipTo(at("Memory"), "CONCERNS")
    concerns_beliefs = RelationshipTo(at("Belief"), "CONCERNS")
    concerns_episodes = RelationshipTo(at("Episode"), "CONCERNS")
    concerns_predicates = RelationshipTo(at("Predicate"), "CONCERNS")
    concerns_names = RelationshipTo(at("Name"), "CONCERNS")
    concerns_rejections = RelationshipTo(at("Rejection", "state_nodes"), "CONCERNS")
    names = RelationshipTo(at("Name"), "NAMES", cardinality=ZeroOrOne)
    concerns_proposals = RelationshipTo(at("Event"), "CONCERNS")
    decided_by = RelationshipFrom(at("Event"), "CONCERNS")
    occurred_in = RelationshipTo(at("Episode"), "OCCURRED_IN", cardinality=ZeroOrOne)
    quotes = RelationshipTo(at("Turn"), "QUOTES")
    sealed_by = RelationshipFrom(at("Seal"), "SEALS", cardinality=ZeroOrOne)
    waits_for = RelationshipFrom(at("Tenant"), "UNSEALED", cardinality=ZeroOrOne)
    accessed_memories = RelationshipTo(at("Memory"), "ACCESSED")
    accessed_beliefs = RelationshipTo(at("Belief"), "ACCESSED")
    accessed_turns = RelationshipTo(at("Turn"), "ACCESSED")
    accessed_episodes = RelationshipTo(at("Episode"), "ACCESSED")
    accessed_artifacts = RelationshipTo(at("Artifact"), "ACCESSED")
    returned_memories = RelationshipTo(at("Memory"), "RETURNED", model=ReturnedEdge)
    returned_beliefs = RelationshipTo(at("Belief"), "RETURNED", model=ReturnedEdge)
    returned_turns = RelationshipTo(at("Turn"), "RETURNED", model=ReturnedEdge)
    returned_episodes = RelationshipTo(at("Episode"), "RETURNED", model=ReturnedEdge)
    returned_artifacts = RelationshipTo(at("Artifact"), "RETURNED", model=ReturnedEdge)
    retrieved_beliefs = RelationshipTo(at("Belief"), "RETRIEVED", model=RetrievedEdge)
    rated_memories = RelationshipTo(at("Memory"), "RATED", model=RatedEdge)
    rated_beliefs = RelationshipTo(at("Belief"), "RATED", model=RatedEdge)
    rated_episodes = RelationshipTo(at("Episode"), "RATED", model=RatedEdge)
    rated_artifacts = RelationshipTo(at("Artifact"), "RATED", model=RatedEdge)
    within = RelationshipTo(at("Event"), "WITHIN", cardinality=ZeroOrOne)
    logged = RelationshipFrom(at("Event"), "WITHIN")


class Episode(RatedNode):
    """One stretch of experience: a session, a conversation or a document."""

    indexes: ClassVar = (
        ID,
        Index("range", "occurred_at", ("tenant", "scope", "occurred_at")),
        Index("range", "recorded_at", ("tenant", "scope", "recorded_at")),
        fulltext("summary", "content", "gist", "entities", "tenant_key", "scope_key"),
        vector("tenant", "scope", "recorded_at", "occurred_at"),
    )

    tenant_key = StringProperty()
    scope_key = StringProperty()
    session_id = StringProperty()
    summary = StringProperty()
    content = StringProperty()
    gist = StringProperty()
    entities = ArrayProperty(StringProperty())
    importance = FloatProperty()
    stated = ArrayProperty(StringProperty())
    summarised_turns = IntegerProperty()
    summarised_by = StringProperty()
    turns_compressed = BooleanProperty()
    trust = IntegerProperty()
    embedding = ArrayProperty(FloatProperty())
    request_hash = StringProperty()
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    locked_at = DateTimeNeo4jFormatProperty()

    turns = RelationshipFrom(at("Turn"), "OCCURRED_IN")
    events = RelationshipFrom(at("Event"), "OCCURRED_IN")
    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")
    replies = RelationshipFrom(at("Reply"), "RESTS_ON")
    archived_as = RelationshipTo(at("Archive"), "ARCHIVED_AS", cardinality=ZeroOrOne)
    sealed_by = RelationshipFrom(at("Seal"), "SEALS")
    unsealed_by = RelationshipFrom(at("Tenant"), "UNSEALED")


class Turn(ScopedNode):
    """One message of an episode, verbatim, with its position."""

    indexes: ClassVar = (
        ID,
        Index("unique", "position", ("tenant", "episode_id", "position")),
        Index("range", "recorded_at", ("tenant", "scope", "recorded_at")),
        fulltext("text", "name", "tenant_key", "scope_key"),
        vector("tenant", "scope", "recorded_at", "occurred_at"),
    )

    tenant_key = StringProperty()
    scope_key = StringProperty()
    compressed = BooleanProperty()
    episode_id = StringProperty(required=True)
    position = IntegerProperty(required=True)
    role = StringProperty(required=True)
    name = StringProperty()
    text = StringProperty(required=True)
    trust = IntegerProperty()
    embedding = ArrayProperty(FloatProperty())
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    time_zone = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    occurred_in = RelationshipTo(at("Episode"), "OCCURRED_IN", cardinality=ZeroOrOne)
    next = RelationshipTo(at("Turn"), "NEXT", cardinality=ZeroOrOne)
    previous = RelationshipFrom(at("Turn"), "NEXT", cardinality=ZeroOrOne)
    quoted_by = RelationshipFrom(at("Event"), "QUOTES")
    accessed_by = RelationshipFrom(at("Event"), "ACCESSED")
    returned_by = RelationshipFrom(at("Event"), "RETURNED", model=ReturnedEdge)
    replies = RelationshipFrom(at("Reply"), "RESTS_ON")
    sealed_by = RelationshipFrom(at("Seal"), "SEALS")
    unsealed_by = RelationshipFrom(at("Tenant"), "UNSEALED")


class Artifact(RatedNode):
    """A file, symbol or document that agents access."""

    indexes: ClassVar = (ID,)

    kind = StringProperty(required=True)
    ref = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


class Reply(ScopedNode):
    """Decision about a cluster of passages or about turns read together, with the model's reply."""

    indexes: ClassVar = (ID,)

    kind = StringProperty()  # "extraction" or "summary"; null for consolidation
    done = BooleanProperty()
    attempts = IntegerProperty()
    synthesiser = StringProperty()
    known = DateTimeNeo4jFormatProperty()
    decided = StringProperty()
    raw = StringProperty()
    problem = StringProperty()
    # Totals of all attempts that got a reply.
    calls = IntegerProperty()
    tokens_in = IntegerProperty()
    tokens_out = IntegerProperty()
    cost_usd = FloatProperty()
    recorded_at = DateTimeNeo4jFormatProperty()
    locked_at = DateTimeNeo4jFormatProperty()

    turns = RelationshipTo(at("Turn"), "RESTS_ON")
    episodes = RelationshipTo(at("Episode"), "RESTS_ON")


class Archive(ScopedNode):
    """The full text of an episode that was compressed."""

    indexes: ClassVar = (ID,)

    episode_id = StringProperty(required=True)
    content = StringProperty(required=True)
    sha256 = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    episode = RelationshipFrom(at("Episode"), "ARCHIVED_AS")


class Rating(ScopedNode):
    """Usage rating of an item: a cache that can be recomputed from the search log.

    The `base_…` properties are its state when the earlier log was rolled up; null if it never was.
    """

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "kind", "id")),
        Index("range", "elo", ("tenant", "elo")),
    )

    kind = StringProperty(required=True)
    elo = FloatProperty(required=True)
    games = IntegerProperty(required=True)
    touched_at = DateTimeNeo4jFormatProperty(required=True)
    base_elo = FloatProperty()
    base_games = IntegerProperty()
    base_touched_at = DateTimeNeo4jFormatProperty()


class Namespace(ScopedNode):
    """A namespace of items; it exists as long as it has an item."""

    indexes: ClassVar = (
        ID,
        Index("range", "path", ("tenant", "scope", "path")),
        Index("range", "reversed", ("tenant", "scope", "reversed")),
    )

    parts = ArrayProperty(StringProperty(), required=True)
    depth = IntegerProperty(required=True)
    # Its labels, each followed by a dot, in order and in reverse order.
    path = StringProperty(required=True)
    reversed = StringProperty(required=True)
    # Creation time by the server's clock in microseconds, and the position in a batch.
    creation_order = ArrayProperty(IntegerProperty())
    locked_at = DateTimeNeo4jFormatProperty()

    items = RelationshipFrom(at("Item"), "STANDS_IN")


class Item(ScopedNode):
    """A JSON value that an agent stores under a key; a new value replaces it."""

    indexes: ClassVar = (ID, Index("range", "expires_at", ("tenant", "scope", "expires_at")))

    key = StringProperty(required=True)
    value = StringProperty(required=True)
    facets = ArrayProperty(StringProperty())
    created_at = DateTimeNeo4jFormatProperty(required=True)
    updated_at = DateTimeNeo4jFormatProperty(required=True)
    creation_order = ArrayProperty(IntegerProperty())
    ttl_minutes = FloatProperty()
    expires_at = DateTimeNeo4jFormatProperty()
    locked_at = DateTimeNeo4jFormatProperty()

    namespace = RelationshipTo(at("Namespace"), "STANDS_IN", cardinality=One)
    found_by = RelationshipTo(at("ItemText"), "FOUND_BY")


class Seal(TenantNode):
    """Digests of events in a chain, by which a later change of one is found."""

    indexes: ClassVar = (ID,)

    uid = StringProperty(required=True, db_property="id")
    ids = ArrayProperty(StringProperty())
    salts = ArrayProperty(StringProperty())
    leaves = ArrayProperty(StringProperty())
    digest = StringProperty(required=True)
    sealed_until = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    seals = RelationshipTo(at("Event"), "SEALS")
    sealed_memories = RelationshipTo(at("Memory"), "SEALS")
    sealed_beliefs = RelationshipTo(at("Belief"), "SEALS")
    sealed_turns = RelationshipTo(at("Turn"), "SEALS")
    sealed_episodes = RelationshipTo(at("Episode"), "SEALS")
    sealed_names = RelationshipTo(at("Name"), "SEALS")
    sealed_predicates = RelationshipTo(at("Predicate"), "SEALS")
    sealed_rejections = RelationshipTo(at("Rejection", "state_nodes"), "SEALS")


class ItemText(TenantNode):
    """A text by which an item is found."""

    indexes: ClassVar = (vector("tenant", "scope", "path"),)

    scope = StringProperty(required=True)
    name = StringProperty(required=True)
    text = StringProperty(required=True)
    path = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())

    item = RelationshipFrom(at("Item"), "FOUND_BY", cardinality=One)
