// List the slots of a tenant that have many evidence events.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $min_events  integer  minimum number of evidence events, including retracted ones
// columns:
//   - place  map  slot_id, scope, subject_key, predicate_key

MATCH (b:Belief)
WHERE b.tenant = $tenant AND b.id IS NOT NULL AND b.subject_key IS NOT NULL
WITH b.slot_id AS slot_id, min(b.scope) AS scope, min(b.subject_key) AS subject_key,
     min(b.predicate_key) AS predicate_key, sum(COUNT { (b)<-[:SUPPORTS|REFUTES]-() }) AS pieces
WHERE pieces >= $min_events
RETURN {slot_id: slot_id, scope: scope, subject_key: subject_key, predicate_key: predicate_key} AS place
ORDER BY slot_id
