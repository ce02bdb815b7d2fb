// All labels, types of relationships and keys of properties. Otherwise the first node or relationship with a name makes the
// server plan again each query that has the name, which takes two seconds for a recall.
// mode: write

UNWIND [
  'Archive', 'Artifact', 'Belief', 'Checkpoint', 'Consolidation', 'EmbeddingModel', 'Episode', 'Event', 'Item',
  'ItemText', 'Job', 'JobUnit', 'Memory', 'Migration', 'MigrationLock', 'Name', 'NameLock', 'Namespace', 'Predicate',
  'Rater', 'Rating', 'Rejection', 'Reply', 'Seal', 'Tenant', 'Tombstone', 'Turn'
] AS name
CALL db.createLabel(name)
RETURN count(*) AS labels;

UNWIND [
  'ACCESSED', 'ARCHIVED_AS', 'CLAIMS', 'CONCERNS', 'FOLLOWED_BY', 'FOUND_BY', 'NAMES', 'NEXT', 'OCCURRED_IN',
  'QUOTES', 'RATED', 'REFUTES', 'REINFORCES', 'RESTS_ON', 'RETRACTS', 'RETRIEVED', 'RETURNED', 'SEALS', 'STANDS_IN',
  'SUPERSEDES', 'SUPPORTS', 'UNSEALED', 'WITHIN'
] AS name
CALL db.createRelationshipType(name)
RETURN count(*) AS types;

UNWIND [
  'actor', 'address', 'affirmed', 'after', 'applied_at', 'arguments', 'artifact_ref', 'asked_at', 'at', 'attempts', 'away_since',
  'base_elo', 'base_games', 'base_touched_at', 'before', 'calls', 'cancelled_at', 'cardinality', 'combine',
  'compressed', 'confidence', 'content', 'content_hash', 'cost_usd', 'counts', 'created_at', 'creation_order',
  'cursor', 'decay_per_day', 'decided', 'depth', 'digest', 'dimension', 'done', 'due_at', 'elo', 'embedding', 'ended',
  'entities', 'episode_id', 'episodes_against', 'episodes_for', 'erased_at', 'erased_turns', 'error', 'event_id',
  'event_ids', 'events_against', 'events_for', 'expires_at', 'facet_keys', 'facets', 'failed', 'failures',
  'finished_at', 'first_id', 'games', 'generation', 'gist', 'id', 'ids', 'importance', 'imported_path', 'in_force',
  'job', 'kappa', 'key', 'key_id', 'kind', 'known', 'known_at', 'l_against', 'l_for', 'language', 'last_at',
  'last_id', 'last_lock', 'leaves', 'locked_at', 'margin', 'mu_document', 'mu_query', 'name', 'newest', 'number', 'object',
  'object_key', 'occurred_at', 'outages', 'outcome', 'owner', 'parts', 'path', 'paths', 'payload', 'polarity',
  'position', 'predicate', 'predicate_key', 'problem', 'progress', 'rank', 'rated', 'raw', 'reason', 'recorded_at',
  'ref', 'rejected', 'rejects', 'request_hash', 'result', 'retry_at', 'reversed', 'role', 'rolled', 'ruled_at',
  'ruled_known', 'ruled_paths', 'ruled_scopes', 'rulings', 'salts', 'same_as', 'scope', 'scope_key', 'scopes',
  'scores', 'sealed_until', 'served_at', 'session_id', 'sha256', 'similarity', 'since', 'slot_id', 'source',
  'source_type', 'sources', 'stated', 'statement', 'statement_key', 'status', 'strength', 'subject', 'subject_key',
  'summarised_by', 'summarised_turns', 'summary', 'synthesiser', 'tags', 'target_id', 'tau_days', 'template',
  'tenant', 'tenant_key', 'text', 'time_zone', 'token_states', 'tokens_in', 'tokens_out', 'touched_at', 'trace',
  'trace_at', 'trace_burst', 'trace_foreign', 'trace_full_at', 'trust', 'ttl_minutes', 'turns_compressed', 'type',
  'unembedded', 'unit', 'until', 'updated_at', 'valid_from', 'value', 'value_digests', 'value_key', 'weights_key',
  'what', 'worded_at'
] AS name
CALL db.createProperty(name)
RETURN count(*) AS keys;
