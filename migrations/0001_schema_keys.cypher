// One node per key. Key parts are never null: a uniqueness constraint skips rows that hold a null.
// mode: schema

CREATE CONSTRAINT tenant_tenant_unique IF NOT EXISTS
FOR (n:Tenant) REQUIRE n.tenant IS UNIQUE;

CREATE CONSTRAINT memory_id_unique IF NOT EXISTS
FOR (n:Memory) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT event_id_unique IF NOT EXISTS
FOR (n:Event) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT episode_id_unique IF NOT EXISTS
FOR (n:Episode) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT turn_id_unique IF NOT EXISTS
FOR (n:Turn) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT turn_position_unique IF NOT EXISTS
FOR (n:Turn) REQUIRE (n.tenant, n.episode_id, n.position) IS UNIQUE;

CREATE CONSTRAINT embedding_model_key_unique IF NOT EXISTS
FOR (n:EmbeddingModel) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT belief_id_unique IF NOT EXISTS
FOR (n:Belief) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT predicate_id_unique IF NOT EXISTS
FOR (n:Predicate) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT checkpoint_slot_id_unique IF NOT EXISTS
FOR (n:Checkpoint) REQUIRE (n.tenant, n.slot_id) IS UNIQUE;

CREATE CONSTRAINT name_lock_key_unique IF NOT EXISTS
FOR (n:NameLock) REQUIRE (n.tenant, n.key) IS UNIQUE;

CREATE CONSTRAINT reply_id_unique IF NOT EXISTS
FOR (n:Reply) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT consolidation_scope_unique IF NOT EXISTS
FOR (n:Consolidation) REQUIRE (n.tenant, n.scope) IS UNIQUE;

CREATE CONSTRAINT archive_id_unique IF NOT EXISTS
FOR (n:Archive) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT artifact_id_unique IF NOT EXISTS
FOR (n:Artifact) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT rater_tenant_unique IF NOT EXISTS
FOR (n:Rater) REQUIRE n.tenant IS UNIQUE;

CREATE CONSTRAINT rating_id_unique IF NOT EXISTS
FOR (n:Rating) REQUIRE (n.tenant, n.kind, n.id) IS UNIQUE;

CREATE CONSTRAINT item_id_unique IF NOT EXISTS
FOR (n:Item) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT namespace_id_unique IF NOT EXISTS
FOR (n:Namespace) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT name_id_unique IF NOT EXISTS
FOR (n:Name) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT tombstone_key_unique IF NOT EXISTS
FOR (n:Tombstone) REQUIRE (n.tenant, n.key) IS UNIQUE;

CREATE CONSTRAINT job_name_unique IF NOT EXISTS
FOR (n:Job) REQUIRE (n.tenant, n.name) IS UNIQUE;

CREATE CONSTRAINT job_unit_id_unique IF NOT EXISTS
FOR (n:JobUnit) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT rejection_id_unique IF NOT EXISTS
FOR (n:Rejection) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT seal_id_unique IF NOT EXISTS
FOR (n:Seal) REQUIRE (n.tenant, n.id) IS UNIQUE;
