// Return the supersession chain of a memory as of (valid, known). Includes nodes at any distance over the edges visible
// then, and these edges.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $id         string    id of any node of the chain
//   $valid      datetime  upper bound of valid time
//   $known      datetime  upper bound of known time
// columns:
//   - memories  list      maps: card and links, see fragments/memory_card_as_of.cypher and fragments/links_as_of.cypher; head_ids is empty
//   - now       datetime  server clock

CALL () {
  MATCH (start:Memory {tenant: $tenant, id: $id})
  WHERE start.scope IN $scopes
  MATCH (start)-[path:SUPERSEDES*0..]-(m)
  WHERE m.tenant = $tenant AND m.scope IN $scopes
    AND all(s IN path WHERE s.occurred_at <= $valid AND s.recorded_at <= $known)
  // DISTINCT lets the server visit each memory once, regardless of the number of paths to it.
  WITH DISTINCT m
  // include: fragments/memory_dates_as_of.cypher
  CALL (m) {
    WITH m AS node
    // include: fragments/status_as_of.cypher
    // include: fragments/links_as_of.cypher
    RETURN status, links
  }
  // Walking from each node to its ends takes quadratic time: rules/claims.py computes them from the links.
  LET head_ids = []
  // include: fragments/memory_card_as_of.cypher
  WITH card, links
  ORDER BY card.created_at, card.id
  RETURN collect({card: card, links: links}) AS memories
}
RETURN memories, datetime.realtime('Z') AS now
