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
    KeyedNode,
    RatedEdge,
    RatedNode,
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


class Memory(RatedNode):
    """One canonical claim."""

    indexes: ClassVar = (
        ID,
        Index("range", "created_at", ("tenant", "scope", "created_at")),
        Index("range", "status", ("tenant", "scope", "status")),
        Index("range", "trace_at", ("tenant", "scope", "status", "trace_at")),
        fulltext("content", "tenant_key", "scope_key", "status", "facet_keys"),
        vector("tenant", "scope", "status", "recorded_at", "created_at"),
    )

    tenant_key = StringProperty(required=True)
    scope_key = StringProperty(required=True)
    content = StringProperty(required=True)
    content_hash = StringProperty(required=True)
    tags = ArrayProperty(StringProperty())
    # Caches that `admin rebuild` recomputes: the sources of the events in its own scope, and a
    # digest of each tag and source for full-text queries.
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

    supersedes = RelationshipTo(at("Memory"), "SUPERSEDES", model=Supersedes)
    superseded_by = RelationshipFrom(at("Memory"), "SUPERSEDES", model=Supersedes)
    reinforced_by = RelationshipFrom(at("Event"), "REINFORCES")
    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")
    claims = RelationshipTo(at("Belief"), "CLAIMS")


class Belief(RatedNode):
    """A hypothesis: a triple, a statement, or both."""

    indexes: ClassVar = (
        ID,
        Index("range", "subject_key", ("tenant", "scope", "subject_key", "predicate_key")),
        Index("range", "created_at", ("tenant", "scope", "created_at")),
        Index("range", "unembedded", ("tenant", "unembedded")),
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
    locked_at = DateTimeNeo4jFormatProperty()

    supported_by = RelationshipFrom(at("Event"), "SUPPORTS", model=EvidenceEdge)
    refuted_by = RelationshipFrom(at("Event"), "REFUTES", model=EvidenceEdge)
    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")
    claimed_by = RelationshipFrom(at("Memory"), "CLAIMS")
    supersedes = RelationshipTo(at("Belief"), "SUPERSEDES", model=Supersedes)
    superseded_by = RelationshipFrom(at("Belief"), "SUPERSEDES", model=Supersedes)


class Predicate(KeyedNode):
    """A tenant's policy for a predicate, from the newest of its POLICY events."""

    scope = StringProperty(required=True)
    name = StringProperty(required=True)
    template = StringProperty()
    cardinality = StringProperty(required=True)
    kappa = FloatProperty(required=True)
    tau_days = FloatProperty(required=True)
    decay_per_day = FloatProperty(required=True)
    margin = FloatProperty(required=True)
    combine = StringProperty(required=True)
    event_id = StringProperty(required=True)
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")


class Name(KeyedNode):
    """A name; the newest of its SAME_AS events decides of which name it is an alias."""

    scope = StringProperty(required=True)
    name = StringProperty(required=True)

    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")
    named_by = RelationshipFrom(at("Event"), "NAMES")


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
    same_as = StringProperty()
    position = IntegerProperty()
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
    names = RelationshipTo(at("Name"), "NAMES", cardinality=ZeroOrOne)
    concerns_proposals = RelationshipTo(at("Event"), "CONCERNS")
    decided_by = RelationshipFrom(at("Event"), "CONCERNS")
    occurred_in = RelationshipTo(at("Episode"), "OCCURRED_IN", cardinality=ZeroOrOne)
    quotes = RelationshipTo(at("Turn"), "QUOTES")
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
        vector("tenant", "scope", "recorded_at", "occurred_at"),
    )

    session_id = StringProperty()
    summary = StringProperty()
    content = StringProperty()
    gist = StringProperty()
    entities = ArrayProperty(StringProperty())
    importance = FloatProperty()
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


class Turn(ScopedNode):
    """One message of an episode, verbatim, with its position."""

    indexes: ClassVar = (
        ID,
        Index("unique", "position", ("tenant", "episode_id", "position")),
        Index("range", "recorded_at", ("tenant", "scope", "recorded_at")),
        fulltext("text", "name", "tenant_key", "scope_key"),
        vector("tenant", "scope", "recorded_at", "occurred_at"),
    )

    tenant_key = StringProperty(required=True)
    scope_key = StringProperty(required=True)
    episode_id = StringProperty(required=True)
    position = IntegerProperty(required=True)
    role = StringProperty(required=True)
    name = StringProperty()
    text = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    occurred_in = RelationshipTo(at("Episode"), "OCCURRED_IN", cardinality=ZeroOrOne)
    next = RelationshipTo(at("Turn"), "NEXT", cardinality=ZeroOrOne)
    previous = RelationshipFrom(at("Turn"), "NEXT", cardinality=ZeroOrOne)
    quoted_by = RelationshipFrom(at("Event"), "QUOTES")
    accessed_by = RelationshipFrom(at("Event"), "ACCESSED")
    returned_by = RelationshipFrom(at("Event"), "RETURNED", model=ReturnedEdge)
    replies = RelationshipFrom(at("Reply"), "RESTS_ON")


class Artifact(RatedNode):
    """A file, symbol or document that agents access."""

    indexes: ClassVar = (ID,)

    kind = StringProperty(required=True)
    ref = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


class Consolidation(TenantNode):
    """Progress of the consolidation of a scope, and the owner of its lock."""

    indexes: ClassVar = (Index("unique", "scope", ("tenant", "scope")),)

    scope = StringProperty(required=True)
    cursor = DateTimeNeo4jFormatProperty()
    known = DateTimeNeo4jFormatProperty()
    owner = StringProperty()
    until = DateTimeNeo4jFormatProperty()
    asked_at = DateTimeNeo4jFormatProperty()


class Reply(ScopedNode):
    """Decision about a cluster of passages or about turns read together, with the model's reply."""

    indexes: ClassVar = (ID,)

    # "extraction"; null for consolidation.
    kind = StringProperty()
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


class Rater(StructuredNode):
    """Number of ended sessions of a tenant, and up to which they were rated and rolled up."""

    tenant = StringProperty(unique_index=True)
    ended = IntegerProperty()
    rated = IntegerProperty()
    rolled = IntegerProperty()


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


class Checkpoint(TenantNode):
    """Aggregate of a slot's older evidence: a cache from which a read continues."""

    indexes: ClassVar = (Index("unique", "slot_id", ("tenant", "slot_id")),)

    slot_id = StringProperty(required=True)
    until = DateTimeNeo4jFormatProperty()
    known_at = DateTimeNeo4jFormatProperty()
    locked_at = DateTimeNeo4jFormatProperty()
    newest = ArrayProperty(StringProperty())
    weights_key = StringProperty()
    kappa = FloatProperty()
    tau_days = FloatProperty()
    ids = ArrayProperty(StringProperty())
    scores = ArrayProperty(FloatProperty())
    affirmed = ArrayProperty(IntegerProperty())
    last_at = ArrayProperty(DateTimeNeo4jFormatProperty())
    last_id = ArrayProperty(StringProperty())
    l_for = ArrayProperty(FloatProperty())
    l_against = ArrayProperty(FloatProperty())
    events_for = ArrayProperty(IntegerProperty())
    events_against = ArrayProperty(IntegerProperty())
    episodes_for = ArrayProperty(IntegerProperty())
    episodes_against = ArrayProperty(IntegerProperty())


class NameLock(KeyedNode):
    """Lock on an event id; the node never outlives its transaction."""


class Tombstone(KeyedNode):
    """Marker of erased data, which is rejected if it is submitted again.

    Its `tenant` is a digest, because no node may contain the name of an erased tenant.
    """

    erased_at = DateTimeNeo4jFormatProperty(required=True)


class EmbeddingModel(StructuredNode):
    """An embedding model whose vectors are, or will be, in the graph."""

    key = StringProperty(unique_index=True)
    generation = IntegerProperty()
    name = StringProperty(required=True)
    dimension = IntegerProperty(required=True)
    mu_document = FloatProperty(required=True)
    mu_query = FloatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


class Migration(StructuredNode):
    """One applied migration of the schema or of the data."""

    number = IntegerProperty(unique_index=True)
    name = StringProperty(required=True)
    sha256 = StringProperty(required=True)
    language = StringProperty()
    applied_at = DateTimeNeo4jFormatProperty(required=True)

    followed_by = RelationshipTo(at("Migration"), "FOLLOWED_BY", cardinality=ZeroOrOne)
    follows = RelationshipFrom(at("Migration"), "FOLLOWED_BY", cardinality=ZeroOrOne)


class MigrationLock(StructuredNode):
    """Lock for migrations, with its owner."""

    key = StringProperty(unique_index=True)
    owner = StringProperty()
    asked_at = DateTimeNeo4jFormatProperty()
    expires_at = DateTimeNeo4jFormatProperty()


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


class ItemText(TenantNode):
    """A text by which an item is found."""

    indexes: ClassVar = (vector("tenant", "scope", "path"),)

    scope = StringProperty(required=True)
    name = StringProperty(required=True)
    text = StringProperty(required=True)
    # Path of the namespace.
    path = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())

    item = RelationshipFrom(at("Item"), "FOUND_BY", cardinality=One)
