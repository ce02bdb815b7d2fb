// Look up existing data for each text of a batch. Returns its committed event, the memory with exactly this content, the
// rejection of the text, or the nearest current memories. Texts without a match have no row. Run it after commit/lock; or
// after commit/await_lock, and again if commit/lock then returns another id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $scope       string   write scope
//   $scopes      list     read scopes of the writer
//   $rows        list     maps: event_id, exact_ids (in order of preference), value_key (of the text in the write scope), embedding or null
//   $candidates  integer  maximum number of nearest memories per row, >= 1
//   $min_score   float    minimum score of a nearest memory
// columns:
//   - event_id  string  event id of the row
//   - event     map     event already committed under this id, or null
//   - exact     map     memory with this content, or null: id, status, tags, scope, head_ids, corrected_at (of the newest correction about it)
//   - rejection  map    rejection in force of the text, or null: see fragments/rejection.cypher
//   - near      list    maps: id, scope, content, tags, stated_at (newest, microseconds since 1970), score (Neo4j's, in [0, 1]), best first

UNWIND $rows AS row
OPTIONAL MATCH (e:Event {tenant: $tenant, id: row.event_id})
CALL (row) {
  OPTIONAL MATCH (m:Memory {tenant: $tenant})
  // A writer must not restore a hidden memory of another scope.
  WHERE m.id IN row.exact_ids AND (m.scope = $scope OR m.status = 'current')
  WITH m
  ORDER BY coll.indexOf(row.exact_ids, m.id)
  LIMIT 1
  RETURN m
}
CALL (row, e, m) {
  // The search is skipped if the event or the memory exists.
  UNWIND CASE WHEN e IS NULL AND m IS NULL AND row.embedding IS NOT NULL THEN [row.embedding] ELSE [] END AS embedding
  MATCH (n:Memory)
  SEARCH n IN (
    VECTOR INDEX memory_embedding_vector
    FOR embedding
    WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.status = 'current'
    LIMIT $candidates
  ) SCORE AS score
  FILTER score >= $min_score
  // A text must not be merged into a memory that is hidden from its writer.
  LET value_keys = CASE WHEN n.rulings IS NULL THEN [] ELSE [n.value_key] END, until = null, recorded = null
  // include: fragments/rejection.cypher
  FILTER rejection IS NULL
  LET stated_at = coalesce(n.trace_at, n.created_at)
  ORDER BY score DESC, n.id
  RETURN collect({
    id: n.id, scope: n.scope, content: n.content, tags: n.tags, score: score,
    stated_at: stated_at.epochSeconds * 1000000 + stated_at.microsecond
  }) AS near
}
LET value_keys = [row.value_key], until = null, recorded = null
// include: fragments/rejection.cypher
FILTER e IS NOT NULL OR m IS NOT NULL OR rejection IS NOT NULL OR size(near) > 0
// include: fragments/chain_heads.cypher
RETURN row.event_id AS event_id,
       e {.request_hash, .occurred_at, .payload} AS event,
       m {
         .id, .status, .tags, .scope, head_ids: head_ids,
         corrected_at: COLLECT { MATCH (m)<-[:CONCERNS]-(x:Event {tenant: $tenant}) RETURN max(x.occurred_at) }[0]
       } AS exact,
       rejection, near
