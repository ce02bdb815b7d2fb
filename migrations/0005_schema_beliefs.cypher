// Beliefs, the policies of predicates, and what finds a slot's evidence by when it was recorded.
// mode: schema
// params:
//   $vector_options  map  similarity, quantisation and the model's dimension

CREATE CONSTRAINT belief_id_unique IF NOT EXISTS
FOR (n:Belief) REQUIRE (n.tenant, n.id) IS UNIQUE;

CREATE CONSTRAINT predicate_key_unique IF NOT EXISTS
FOR (n:Predicate) REQUIRE (n.tenant, n.key) IS UNIQUE;

CREATE CONSTRAINT checkpoint_slot_id_unique IF NOT EXISTS
FOR (n:Checkpoint) REQUIRE (n.tenant, n.slot_id) IS UNIQUE;

CREATE CONSTRAINT name_lock_key_unique IF NOT EXISTS
FOR (n:NameLock) REQUIRE (n.tenant, n.key) IS UNIQUE;

CREATE INDEX belief_subject_key_range IF NOT EXISTS
FOR (n:Belief) ON (n.tenant, n.scope, n.subject_key, n.predicate_key);

CREATE INDEX belief_created_at_range IF NOT EXISTS
FOR (n:Belief) ON (n.tenant, n.scope, n.created_at);

CREATE INDEX belief_unembedded_range IF NOT EXISTS
FOR (n:Belief) ON (n.tenant, n.unembedded);

CREATE INDEX event_target_id_range IF NOT EXISTS
FOR (n:Event) ON (n.tenant, n.target_id);

CREATE INDEX supports_recorded_at_range IF NOT EXISTS
FOR ()-[r:SUPPORTS]-() ON (r.tenant, r.slot_id, r.recorded_at);

CREATE INDEX refutes_recorded_at_range IF NOT EXISTS
FOR ()-[r:REFUTES]-() ON (r.tenant, r.slot_id, r.recorded_at);

CREATE FULLTEXT INDEX belief_statement_fulltext IF NOT EXISTS
FOR (n:Belief) ON EACH [n.statement, n.tenant_key, n.scope_key, n.status]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};

CREATE VECTOR INDEX belief_embedding_vector IF NOT EXISTS
FOR (n:Belief) ON n.embedding
WITH [n.tenant, n.scope, n.status, n.recorded_at, n.created_at]
OPTIONS $vector_options;
