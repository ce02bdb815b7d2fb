// Return the supersession chain of a belief as of (valid, known). Includes predecessors and successors at any distance,
// and the edges between them.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $id     string    id of any node of the chain
//   $valid  datetime  upper bound of valid time
//   $known  datetime  upper bound of known time
// columns:
//   - beliefs  list      maps: card and links, see fragments/belief_card.cypher and fragments/links_as_of.cypher; head_ids is empty
//   - now      datetime  server clock

CALL () {
  MATCH (start:Belief {tenant: $tenant, id: $id})
  WHERE start.scope IN $scopes
  MATCH (start)-[path:SUPERSEDES*0..]-(m:Belief)
  WHERE m.tenant = $tenant AND m.scope IN $scopes
    AND all(s IN path WHERE s.occurred_at <= $valid AND s.recorded_at <= $known)
  // DISTINCT lets the server visit each belief once, regardless of the number of paths to it.
  WITH DISTINCT m
  // include: fragments/belief_created_as_of.cypher
  CALL (m) {
    WITH m AS node
    // include: fragments/status_as_of.cypher
    // include: fragments/links_as_of.cypher
    RETURN status, links
  }
  // Walking from each node to its ends takes quadratic time: rules/claims.py computes them from the links.
  LET head_ids = []
  // include: fragments/belief_card.cypher
  WITH card, links
  ORDER BY card.created_at, card.id
  RETURN collect({card: card, links: links}) AS beliefs
}
RETURN beliefs, datetime.realtime('Z') AS now
