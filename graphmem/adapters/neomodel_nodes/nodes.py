"""The node classes of the graph, with the indexes and keys that each needs."""

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
    StructuredRel,
    ZeroOrOne,
)

from graphmem.adapters.neomodel_nodes.indexes import COSINE, WORDS, Index
from graphmem.adapters.neomodel_nodes.workings import (
    Archive,
    Checkpoint,
    Consolidation,
    EmbeddingModel,
    Migration,
    MigrationLock,
    NameLock,
    Rater,
    Rating,
    Reply,
)


class Supersedes(StructuredRel):
    """When a memory took the place of another, and the event that says so."""

    event_id = StringProperty(required=True)
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


class Speaks(StructuredRel):
    """Which slot a piece of evidence speaks of, and since when."""

    indexes: ClassVar = (Index("range", "recorded_at", ("tenant", "slot_id", "recorded_at")),)

    tenant = StringProperty(required=True)
    slot_id = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


class Returned(StructuredRel):
    """In which place a search returned a result, and how near it was to the question."""

    rank = IntegerProperty(required=True)
    similarity = FloatProperty()
    content_hash = StringProperty()


class Rated(StructuredRel):
    """What the games of a search made of a rating."""

    before = FloatProperty(required=True)
    after = FloatProperty(required=True)


class Tenant(StructuredNode):
    """The owner of a part of the graph; its node is what writers lock."""

    tenant = StringProperty(unique_index=True)
    locked_at = DateTimeNeo4jFormatProperty()


class Memory(StructuredNode):
    """One canonical claim."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("range", "created_at", ("tenant", "scope", "created_at")),
        Index("range", "status", ("tenant", "scope", "status")),
        Index("range", "trace_at", ("tenant", "scope", "status", "trace_at")),
        Index(
            "fulltext",
            "content",
            ("content", "tenant_key", "scope_key", "status", "facet_keys"),
            WORDS,
        ),
        Index(
            "vector",
            "embedding",
            ("embedding", "tenant", "scope", "status", "recorded_at", "created_at"),
            COSINE,
        ),
    )

    tenant = StringProperty(required=True)
    tenant_key = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    scope_key = StringProperty(required=True)
    content = StringProperty(required=True)
    content_hash = StringProperty(required=True)
    tags = ArrayProperty(StringProperty())
    # Caches, made anew by `admin rebuild`: where the events of its own scope came from, and a
    # digest of each tag and source, which a full-text query can ask for.
    sources = ArrayProperty(StringProperty())
    facet_keys = ArrayProperty(StringProperty())
    status = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    created_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    # A cache: TraceRank after the last event of its own scope, made anew by `admin rebuild`.
    trace = FloatProperty()
    trace_at = DateTimeNeo4jFormatProperty()
    trace_full_at = DateTimeNeo4jFormatProperty()
    trace_burst = IntegerProperty()
    trace_foreign = BooleanProperty()

    supersedes = RelationshipTo("Memory", "SUPERSEDES", model=Supersedes)
    superseded_by = RelationshipFrom("Memory", "SUPERSEDES", model=Supersedes)
    reinforced_by = RelationshipFrom("Event", "REINFORCES")
    concerned_by = RelationshipFrom("Event", "CONCERNS")
    claims = RelationshipTo("Belief", "CLAIMS")
    accessed_by = RelationshipFrom("Event", "ACCESSED")


class Belief(StructuredNode):
    """A hypothesis: a triple, a statement, or both."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("range", "subject_key", ("tenant", "scope", "subject_key", "predicate_key")),
        Index("range", "created_at", ("tenant", "scope", "created_at")),
        Index("range", "unembedded", ("tenant", "unembedded")),
        Index("fulltext", "statement", ("statement", "tenant_key", "scope_key", "status"), WORDS),
        Index(
            "vector",
            "embedding",
            ("embedding", "tenant", "scope", "status", "recorded_at", "created_at"),
            COSINE,
        ),
    )

    tenant = StringProperty(required=True)
    tenant_key = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    scope_key = StringProperty(required=True)
    slot_id = StringProperty(required=True)
    statement = StringProperty(required=True)
    subject = StringProperty()
    predicate = StringProperty()
    object = StringProperty()
    subject_key = StringProperty()
    predicate_key = StringProperty()
    status = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    unembedded = BooleanProperty()
    created_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    worded_at = DateTimeNeo4jFormatProperty(required=True)
    first_id = StringProperty(required=True)
    locked_at = DateTimeNeo4jFormatProperty()

    supported_by = RelationshipFrom("Event", "SUPPORTS", model=Speaks)
    refuted_by = RelationshipFrom("Event", "REFUTES", model=Speaks)
    concerned_by = RelationshipFrom("Event", "CONCERNS")
    claimed_by = RelationshipFrom("Memory", "CLAIMS")
    supersedes = RelationshipTo("Belief", "SUPERSEDES", model=Supersedes)
    superseded_by = RelationshipFrom("Belief", "SUPERSEDES", model=Supersedes)
    accessed_by = RelationshipFrom("Event", "ACCESSED")


class Predicate(StructuredNode):
    """A tenant's policy for a predicate: the newest of its POLICY events."""

    indexes: ClassVar = (Index("unique", "key", ("tenant", "key")),)

    tenant = StringProperty(required=True)
    key = StringProperty(required=True)
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

    concerned_by = RelationshipFrom("Event", "CONCERNS")


class Event(StructuredNode):
    """An append-only record that something happened."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("range", "target_id", ("tenant", "target_id")),
        Index("range", "position", ("tenant", "position")),
        Index("range", "type", ("tenant", "type", "recorded_at")),
    )

    tenant = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
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
    position = IntegerProperty()
    payload = StringProperty()

    reinforces = RelationshipTo("Memory", "REINFORCES")
    supports = RelationshipTo("Belief", "SUPPORTS", model=Speaks)
    refutes = RelationshipTo("Belief", "REFUTES", model=Speaks)
    retracts = RelationshipTo("Event", "RETRACTS")
    retracted_by = RelationshipFrom("Event", "RETRACTS")
    concerns = RelationshipTo("Memory", "CONCERNS")
    concerns_beliefs = RelationshipTo("Belief", "CONCERNS")
    concerns_episodes = RelationshipTo("Episode", "CONCERNS")
    occurred_in = RelationshipTo("Episode", "OCCURRED_IN", cardinality=ZeroOrOne)
    quotes = RelationshipTo("Turn", "QUOTES")
    accessed_memories = RelationshipTo("Memory", "ACCESSED")
    accessed_beliefs = RelationshipTo("Belief", "ACCESSED")
    accessed_turns = RelationshipTo("Turn", "ACCESSED")
    accessed_episodes = RelationshipTo("Episode", "ACCESSED")
    accessed_artifacts = RelationshipTo("Artifact", "ACCESSED")
    returned_memories = RelationshipTo("Memory", "RETURNED", model=Returned)
    returned_beliefs = RelationshipTo("Belief", "RETURNED", model=Returned)
    returned_turns = RelationshipTo("Turn", "RETURNED", model=Returned)
    returned_episodes = RelationshipTo("Episode", "RETURNED", model=Returned)
    returned_artifacts = RelationshipTo("Artifact", "RETURNED", model=Returned)
    rated_memories = RelationshipTo("Memory", "RATED", model=Rated)
    rated_beliefs = RelationshipTo("Belief", "RATED", model=Rated)
    rated_episodes = RelationshipTo("Episode", "RATED", model=Rated)
    rated_artifacts = RelationshipTo("Artifact", "RATED", model=Rated)
    within = RelationshipTo("Event", "WITHIN", cardinality=ZeroOrOne)
    logged = RelationshipFrom("Event", "WITHIN")


class Episode(StructuredNode):
    """One stretch of experience: a session, a conversation, a document."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("range", "occurred_at", ("tenant", "scope", "occurred_at")),
        Index("range", "recorded_at", ("tenant", "scope", "recorded_at")),
        Index(
            "vector",
            "embedding",
            ("embedding", "tenant", "scope", "recorded_at", "occurred_at"),
            COSINE,
        ),
    )

    tenant = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
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

    turns = RelationshipFrom("Turn", "OCCURRED_IN")
    events = RelationshipFrom("Event", "OCCURRED_IN")
    accessed_by = RelationshipFrom("Event", "ACCESSED")
    concerned_by = RelationshipFrom("Event", "CONCERNS")
    archived_as = RelationshipTo(Archive, "ARCHIVED_AS", cardinality=ZeroOrOne)


class Turn(StructuredNode):
    """One message of a conversation, verbatim and in its place."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("unique", "position", ("tenant", "episode_id", "position")),
        Index("range", "recorded_at", ("tenant", "scope", "recorded_at")),
        Index("fulltext", "text", ("text", "name", "tenant_key", "scope_key"), WORDS),
        Index(
            "vector",
            "embedding",
            ("embedding", "tenant", "scope", "recorded_at", "occurred_at"),
            COSINE,
        ),
    )

    tenant = StringProperty(required=True)
    tenant_key = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    scope_key = StringProperty(required=True)
    episode_id = StringProperty(required=True)
    position = IntegerProperty(required=True)
    role = StringProperty(required=True)
    name = StringProperty()
    text = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    occurred_in = RelationshipTo("Episode", "OCCURRED_IN", cardinality=ZeroOrOne)
    next = RelationshipTo("Turn", "NEXT", cardinality=ZeroOrOne)
    previous = RelationshipFrom("Turn", "NEXT", cardinality=ZeroOrOne)
    quoted_by = RelationshipFrom("Event", "QUOTES")
    accessed_by = RelationshipFrom("Event", "ACCESSED")


class Artifact(StructuredNode):
    """A file, symbol or document that agents touch."""

    indexes: ClassVar = (Index("unique", "id", ("tenant", "id")),)

    tenant = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    kind = StringProperty(required=True)
    ref = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    accessed_by = RelationshipFrom("Event", "ACCESSED")
    returned_by = RelationshipFrom("Event", "RETURNED", model=Returned)


NODES: tuple[type[StructuredNode], ...] = (
    Tenant,
    Memory,
    Belief,
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
    EmbeddingModel,
    Migration,
    MigrationLock,
)

EDGES: dict[str, type[Speaks]] = {"SUPPORTS": Speaks, "REFUTES": Speaks}
"""Relationships that have indexes."""
