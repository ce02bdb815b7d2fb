// What consolidation walks along: episodes by meaning, what was said by when it was recorded; one reply a cluster, one
// lease a scope. And the archive of an episode that was compressed.
// mode: schema
// params:
//   $vector_options  map  similarity, quantisation and the model's dimension

CREATE CONSTRAINT reply_id_unique IF NOT EXISTS
FOR (n:Reply) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT consolidation_scope_unique IF NOT EXISTS
FOR (n:Consolidation) REQUIRE (n.tenant, n.scope) IS UNIQUE;

CREATE CONSTRAINT archive_id_unique IF NOT EXISTS
FOR (n:Archive) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE INDEX episode_recorded_at_range IF NOT EXISTS
FOR (n:Episode) ON (n.tenant, n.scope, n.recorded_at);

CREATE INDEX turn_recorded_at_range IF NOT EXISTS
FOR (n:Turn) ON (n.tenant, n.scope, n.recorded_at);

CREATE VECTOR INDEX episode_embedding_vector IF NOT EXISTS
FOR (n:Episode) ON n.embedding
WITH [n.tenant, n.scope, n.recorded_at, n.occurred_at]
OPTIONS $vector_options;
