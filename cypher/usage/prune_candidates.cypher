// List the ratings of a scope with the data that decides about pruning. Paged, lowest rating first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant        string    tenant name
//   $scope         string    scope name
//   $kinds         list      subset of Memory, Belief and Episode
//   $valid         datetime  time of the read
//   $known         datetime  upper bound of known time; null: no bound
//   $rating_decay  map       floor, and days, the time constant of decay
//   $after_elo     float     rating of the last row of the previous page, before decay
//   $after_kind    string    kind of the last row of the previous page; '' for the first page
//   $after_id      string    id of the last row of the previous page; '' for the first page
//   $limit         integer   maximum number of rows per page
// columns:
//   - kind      string  Memory, Belief or Episode
//   - id        string  id of the item
//   - elo       float   rating after decay
//   - from_elo  float   rating before decay, the sort key of pages
//   - item      map     text, summary, content (of an episode), written_at, opened_at, compressed_at; null: deleted or already hidden

MATCH (g:Rating)
USING INDEX g:Rating(tenant, elo)
WHERE g.tenant = $tenant AND g.elo >= $after_elo AND (g.elo > $after_elo OR g.kind > $after_kind OR (g.kind = $after_kind AND g.id > $after_id))
  AND g.scope = $scope AND g.kind IN $kinds
WITH g
ORDER BY g.elo, g.kind, g.id
LIMIT $limit
// include: fragments/rating_decayed.cypher
OPTIONAL CALL (g) {
  MATCH (n:Memory|Belief|Episode {tenant: $tenant, id: g.id})
  WHERE g.kind IN labels(n) AND (n:Episode OR n.status = 'current')
  LET p = n
  // include: fragments/episode_archived.cypher
  FILTER NOT put_away
  CALL (n) {
    MATCH (n)<-[:REINFORCES|SUPPORTS|REFUTES|CONCERNS]-(e:Event {tenant: $tenant})
    WHERE e.type <> 'COMPRESS'
    RETURN max(e.occurred_at) AS written_at
  }
  CALL (n) {
    MATCH (n)<-[:ACCESSED]-(e:Event {tenant: $tenant})
    RETURN max(e.occurred_at) AS opened_at
  }
  CALL (n) {
    MATCH (n)-[:ARCHIVED_AS]->(:Archive {tenant: $tenant})
    MATCH (n)<-[:CONCERNS]-(e:Event {tenant: $tenant, type: 'COMPRESS'})
    RETURN max(e.occurred_at) AS compressed_at
  }
  RETURN {
    text: coalesce(n.content, n.statement, n.summary, n.gist, ''),
    summary: n.summary,
    content: CASE WHEN n:Episode THEN n.content END,
    written_at: coalesce(written_at, n.occurred_at, n.created_at),
    opened_at: opened_at,
    compressed_at: compressed_at
  } AS item
}
RETURN g.kind AS kind, g.id AS id, elo, g.elo AS from_elo, item
ORDER BY from_elo, kind, id
