// Properties by which nodes and the evidence of slots are listed, in the order of the lists.
// mode: schema

CREATE INDEX memory_created_at_range IF NOT EXISTS
FOR (n:Memory) ON (n.tenant, n.scope, n.created_at);

CREATE INDEX memory_status_range IF NOT EXISTS
FOR (n:Memory) ON (n.tenant, n.scope, n.status);

CREATE INDEX episode_occurred_at_range IF NOT EXISTS
FOR (n:Episode) ON (n.tenant, n.scope, n.occurred_at);

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

CREATE INDEX memory_trace_at_range IF NOT EXISTS
FOR (n:Memory) ON (n.tenant, n.scope, n.status, n.trace_at);

CREATE INDEX episode_recorded_at_range IF NOT EXISTS
FOR (n:Episode) ON (n.tenant, n.scope, n.recorded_at);

CREATE INDEX turn_recorded_at_range IF NOT EXISTS
FOR (n:Turn) ON (n.tenant, n.scope, n.recorded_at);

CREATE INDEX rating_elo_range IF NOT EXISTS
FOR (n:Rating) ON (n.tenant, n.elo);

CREATE INDEX event_position_range IF NOT EXISTS
FOR (n:Event) ON (n.tenant, n.position);

CREATE INDEX event_type_range IF NOT EXISTS
FOR (n:Event) ON (n.tenant, n.type, n.recorded_at);

CREATE INDEX namespace_path_range IF NOT EXISTS
FOR (n:Namespace) ON (n.tenant, n.scope, n.path);

CREATE INDEX namespace_reversed_range IF NOT EXISTS
FOR (n:Namespace) ON (n.tenant, n.scope, n.reversed);

CREATE INDEX item_expires_at_range IF NOT EXISTS
FOR (n:Item) ON (n.tenant, n.scope, n.expires_at);

CREATE INDEX rejection_value_key_range IF NOT EXISTS
FOR (n:Rejection) ON (n.tenant, n.value_key, n.scope);

CREATE INDEX memory_value_key_range IF NOT EXISTS
FOR (n:Memory) ON (n.tenant, n.value_key);

CREATE INDEX belief_value_key_range IF NOT EXISTS
FOR (n:Belief) ON (n.tenant, n.value_key);

CREATE INDEX belief_statement_key_range IF NOT EXISTS
FOR (n:Belief) ON (n.tenant, n.statement_key);

CREATE INDEX predicate_key_range IF NOT EXISTS
FOR (n:Predicate) ON (n.tenant, n.key, n.scope);

CREATE INDEX name_key_range IF NOT EXISTS
FOR (n:Name) ON (n.tenant, n.key, n.scope);
