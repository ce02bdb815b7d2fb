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
