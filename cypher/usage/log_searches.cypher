// Append SEARCH events, each linked to its existing results and to its session. Events that already exist, or whose
// results have all been deleted, are skipped.
// mode: write
// rows: one
// plan: NodeUniqueIndexSeek
// writes_ids: events.id Event, events.found.id label
// params:
//   $events  list  maps: within (id of the SESSION_START event, or null), found (label or null, id, rank, similarity, content_hash), the event properties
// columns:
//   - written  integer  number of events appended

UNWIND $events AS event
OPTIONAL MATCH (there:Event {tenant: $tenant, id: event.id})
FILTER there IS NULL
CALL (event) {
  UNWIND event.found AS hit
  MATCH (n:Memory|Belief|Turn|Episode|Artifact {tenant: $tenant, id: hit.id})
  WHERE hit.label IS NULL OR hit.label IN labels(n)
  RETURN collect({node: n, rank: hit.rank, similarity: hit.similarity, content_hash: hit.content_hash}) AS results
}
FILTER size(event.found) = 0 OR size(results) > 0
// include: fragments/append_event.cypher
CALL (e, event) {
  MATCH (start:Event {tenant: $tenant, id: event.within})
  CREATE (e)-[:WITHIN]->(start)
}
CALL (e, results) {
  UNWIND results AS hit
  LET n = hit.node
  CREATE (e)-[:RETURNED {rank: hit.rank, similarity: hit.similarity, content_hash: hit.content_hash}]->(n)
}
RETURN count(e) AS written
