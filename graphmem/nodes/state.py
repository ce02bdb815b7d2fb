"""Node classes of internal state: progress, leases, locks and marks of what was erased."""

from __future__ import annotations

from typing import ClassVar

from neomodel import (
    ArrayProperty,
    FloatProperty,
    IntegerProperty,
    StringProperty,
    StructuredNode,
    ZeroOrOne,
)

from graphmem.nodes.declarations import (
    ID,
    Index,
    InstantProperty,
    KeyedNode,
    ScopedNode,
    TenantNode,
    relate,
)


class Consolidation(TenantNode):
    """Progress of the consolidation of a scope, and the owner of its lock."""

    indexes: ClassVar = (Index("unique", "scope", ("tenant", "scope")),)

    scope = StringProperty(required=True, exported=False)
    cursor = InstantProperty()
    known = InstantProperty()
    owner = StringProperty(exported=False)
    until = InstantProperty(exported=False)
    asked_at = InstantProperty(exported=False)
    # Consecutive runs that a model was unavailable in.
    outages = IntegerProperty()
    failed = IntegerProperty()
    away_since = InstantProperty()
    retry_at = InstantProperty()


class Job(TenantNode):
    """A background job of a tenant: the owner of its lease, and when it is due again."""

    indexes: ClassVar = (Index("unique", "name", ("tenant", "name")),)

    name = StringProperty(required=True)
    owner = StringProperty()
    until = InstantProperty()
    due_at = InstantProperty()
    finished_at = InstantProperty()
    failures = IntegerProperty()
    error = StringProperty()
    asked_at = InstantProperty()
    served_at = InstantProperty()


class JobUnit(ScopedNode):
    """A scope that a background job served, a session or item of it that failed, or a long call.

    A long call that a client of `graphmem serve` asked for has the job `operation` and an id that
    begins with `op_`; its unit is the method.
    """

    indexes: ClassVar = (ID,)

    job = StringProperty(required=True)
    unit = StringProperty(required=True)
    scopes = ArrayProperty(StringProperty())
    trust = StringProperty()
    key_id = StringProperty()
    digest = StringProperty()
    arguments = StringProperty()
    owner = StringProperty()
    asked_at = InstantProperty()
    cancelled_at = InstantProperty()
    finished_at = InstantProperty()
    progress = StringProperty()
    outcome = StringProperty()
    result = StringProperty()
    served_at = InstantProperty()
    due_at = InstantProperty()
    failures = IntegerProperty()
    error = StringProperty()
    reason = StringProperty()


class Rater(StructuredNode):
    """Number of ended sessions of a tenant, and up to which they were rated and rolled up."""

    tenant = StringProperty(unique_index=True, exported=False)
    ended = IntegerProperty()
    rated = IntegerProperty()
    rolled = IntegerProperty()


class Checkpoint(TenantNode):
    """Aggregate of a slot's older evidence: a cache from which a read continues."""

    indexes: ClassVar = (Index("unique", "slot_id", ("tenant", "slot_id")),)

    slot_id = StringProperty(required=True)
    until = InstantProperty()
    known_at = InstantProperty()
    locked_at = InstantProperty()
    newest = ArrayProperty(StringProperty())
    weights_key = StringProperty()
    kappa = FloatProperty()
    tau_days = FloatProperty()
    ids = ArrayProperty(StringProperty())
    scores = ArrayProperty(FloatProperty())
    affirmed = ArrayProperty(IntegerProperty())
    last_at = ArrayProperty(InstantProperty())
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
    key starts with `erasure_` is the record of an erasure. The key `move` marks a tenant that moved
    to another graph or arrives from one: `what` is moved or arriving.
    """

    erased_at = InstantProperty(required=True)
    what = StringProperty()
    digest = StringProperty()
    actor = StringProperty()
    reason = StringProperty()
    counts = StringProperty()
    address = StringProperty()


class EmbeddingModel(StructuredNode):
    """An embedding model whose vectors are, or will be, in the graph."""

    key = StringProperty(unique_index=True)
    generation = IntegerProperty(required=True)
    name = StringProperty(required=True)
    dimension = IntegerProperty(required=True)
    mu_document = FloatProperty(required=True)
    mu_query = FloatProperty(required=True)
    recorded_at = InstantProperty(required=True)


class Migration(StructuredNode):
    """One applied migration of the schema or of the data."""

    number = IntegerProperty(unique_index=True)
    name = StringProperty(required=True)
    sha256 = StringProperty(required=True)
    language = StringProperty()
    applied_at = InstantProperty(required=True)


class MigrationLock(StructuredNode):
    """Lease of the process that migrates the graph."""

    key = StringProperty(unique_index=True)
    owner = StringProperty()
    since = InstantProperty()
    asked_at = InstantProperty()
    expires_at = InstantProperty()


relate(
    Migration,
    "FOLLOWED_BY",
    ("followed_by", "follows"),
    Migration,
    cardinality=(ZeroOrOne, ZeroOrOne),
)
