// Every belief that took the place of one or was replaced by it, at any remove, as it was at a pair of times, with the edges
// between them.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant  string    tenant name
//   $scopes  list      read scopes
//   $id      string    where to begin
//   $valid   datetime  what happened later is not seen
//   $known   datetime  what was recorded later is not seen
// columns:
//   - beliefs  list      maps: card and links, see fragments/belief_card.cypher and fragments/standing_as_of.cypher, head_ids left empty
//   - now      datetime  by the server's clock

CALL () {
  MATCH (start:Belief {tenant: $tenant, id: $id})
  WHERE start.scope IN $scopes
  MATCH (start)-[path:SUPERSEDES*0..]-(m:Belief)
  WHERE m.tenant = $tenant AND m.scope IN $scopes
    AND all(s IN path WHERE s.occurred_at <= $valid AND s.recorded_at <= $known)
  // DISTINCT here lets the server walk each belief once, however many ways lead to it.
  WITH DISTINCT m
  // include: fragments/belief_seen.cypher
  CALL (m) {
    WITH m AS node
    // include: fragments/standing_as_of.cypher
    RETURN status, links
  }
  // A walk from each to its ends takes time quadratic in the chain: rules/lineage.py finds them from the links.
  LET head_ids = []
  // include: fragments/belief_card.cypher
  WITH card, links
  ORDER BY card.created_at, card.id
  RETURN collect({card: card, links: links}) AS beliefs
}
RETURN beliefs, datetime.realtime('Z') AS now
