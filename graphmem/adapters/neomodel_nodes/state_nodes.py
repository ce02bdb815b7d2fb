"""Node classes of internal state: progress, leases, locks and marks of what was erased."""

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
    Index,
    KeyedNode,
    ScopedNode,
    TenantNode,
    at,
)


class Consolidation(TenantNode):
    """Progress of the consolidation of a scope, and the owner of its lock."""

    indexes: ClassVar = (Index("unique", "scope", ("tenant", "scope")),)

    scope = StringProperty(required=True)
    cursor = DateTimeNeo4jFormatProperty()
    known = DateTimeNeo4jFormatProperty()
    owner = StringProperty()
    until = DateTimeNeo4jFormatProperty()
    asked_at = DateTimeNeo4jFormatProperty()
    # Consecutive runs that a model was unavailable in.
    outages = IntegerProperty()
    failed = IntegerProperty()
    away_since = DateTimeNeo4jFormatProperty()
    retry_at = DateTimeNeo4jFormatProperty()


class Job(TenantNode):
    """A background job of a tenant: the owner of its lease, and when it is due again."""

    indexes: ClassVar = (Index("unique", "name", ("tenant", "name")),)

    name = StringProperty(required=True)
    owner = StringProperty()
    until = DateTimeNeo4jFormatProperty()
    due_at = DateTimeNeo4jFormatProperty()
    finished_at = DateTimeNeo4jFormatProperty()
    failures = IntegerProperty()
    error = StringProperty()
    asked_at = DateTimeNeo4jFormatProperty()
    served_at = DateTimeNeo4jFormatProperty()


class JobUnit(ScopedNode):
    """A scope that a background job served, or a session or item of it that failed."""

    indexes: ClassVar = (ID,)

    job = StringProperty(required=True)
    unit = StringProperty(required=True)
    served_at = DateTimeNeo4jFormatProperty()
    due_at = DateTimeNeo4jFormatProperty()
    failures = IntegerProperty()
    error = StringProperty()
    reason = StringProperty()


class Rater(StructuredNode):
    """Number of ended sessions of a tenant, and up to which they were rated and rolled up."""

    tenant = StringProperty(unique_index=True)
    ended = IntegerProperty()
    rated = IntegerProperty()
    rolled = IntegerProperty()


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

    Its `tenant` is a digest, because no node may contain the name of an erased tenant. One whose
    key starts with `erasure_` is the record of an erasure.
    """

    erased_at = DateTimeNeo4jFormatProperty(required=True)
    what = StringProperty()
    digest = StringProperty()
    actor = StringProperty()
    reason = StringProperty()
    counts = StringProperty()


class EmbeddingModel(StructuredNode):
    """An embedding model whose vectors are, or will be, in the graph."""

    key = StringProperty(unique_index=True)
    generation = IntegerProperty(required=True)
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

    followed_by = RelationshipTo(
        at("Migration", "state_nodes"), "FOLLOWED_BY", cardinality=ZeroOrOne
    )
    follows = RelationshipFrom(at("Migration", "state_nodes"), "FOLLOWED_BY", cardinality=ZeroOrOne)


class MigrationLock(StructuredNode):
    """Lease of the process that migrates the graph."""

    key = StringProperty(unique_index=True)
    owner = StringProperty()
    since = DateTimeNeo4jFormatProperty()
    asked_at = DateTimeNeo4jFormatProperty()
    expires_at = DateTimeNeo4jFormatProperty()


class Rejection(ScopedNode):
    """Tombstone of a value that a person rejected, with every ruling about it, oldest first."""

    indexes: ClassVar = (ID, Index("range", "value_key", ("tenant", "value_key", "scope")))

    concerned_by = RelationshipFrom(at("Event"), "CONCERNS")
    sealed_by = RelationshipFrom(at("Seal"), "SEALS")
    unsealed_by = RelationshipFrom(at("Tenant"), "UNSEALED")

    value_key = StringProperty(required=True)
    digest = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    rejects = ArrayProperty(BooleanProperty())
    at = ArrayProperty(DateTimeNeo4jFormatProperty())
    known_at = ArrayProperty(DateTimeNeo4jFormatProperty())
    event_ids = ArrayProperty(StringProperty())
    paths = ArrayProperty(StringProperty())
