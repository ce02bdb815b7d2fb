"""Node classes of internal state: checkpoints, locks, migrations, archives."""

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
    Index,
    KeyedNode,
    ScopedNode,
    TenantNode,
    at,
    vector,
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
