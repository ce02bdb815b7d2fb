"""Node classes of the graph with their indexes and keys."""

from __future__ import annotations

from typing import ClassVar

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
    ZeroOrOne,
)

from graphmem.adapters.neomodel_nodes.declarations import (
    ID,
    WORDS,
    EvidenceEdge,
    Index,
    KeyedNode,
    RatedEdge,
    RatedNode,
    ReturnedEdge,
    ScopedNode,
    Supersedes,
    at,
    vector,
)
from graphmem.adapters.neomodel_nodes.internal_nodes import (
    Archive,
    Checkpoint,
    Consolidation,
    EmbeddingModel,
    Item,
    ItemText,
    Migration,
    MigrationLock,
    NameLock,
    Namespace,
    Rater,
    Rating,
    Reply,
    Tombstone,
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
        Index(
            "fulltext",
            "content",
            ("content", "tenant_key", "scope_key", "status", "facet_keys"),
            WORDS,
        ),
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
        Index("fulltext", "statement", ("statement", "tenant_key", "scope_key", "status"), WORDS),
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
    replies = RelationshipFrom(Reply, "RESTS_ON")
    archived_as = RelationshipTo(Archive, "ARCHIVED_AS", cardinality=ZeroOrOne)


class Turn(ScopedNode):
    """One message of an episode, verbatim, with its position."""

    indexes: ClassVar = (
        ID,
        Index("unique", "position", ("tenant", "episode_id", "position")),
        Index("range", "recorded_at", ("tenant", "scope", "recorded_at")),
        Index("fulltext", "text", ("text", "name", "tenant_key", "scope_key"), WORDS),
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
    replies = RelationshipFrom(Reply, "RESTS_ON")


class Artifact(RatedNode):
    """A file, symbol or document that agents access."""

    indexes: ClassVar = (ID,)

    kind = StringProperty(required=True)
    ref = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


NODES: tuple[type[StructuredNode], ...] = (
    Tenant,
    Memory,
    Belief,
    Name,
    Predicate,
    Checkpoint,
    NameLock,
    Event,
    Episode,
    Turn,
    Artifact,
    Rater,
    Rating,
    Consolidation,
    Reply,
    Archive,
    Namespace,
    Item,
    ItemText,
    Tombstone,
    EmbeddingModel,
    Migration,
    MigrationLock,
)
