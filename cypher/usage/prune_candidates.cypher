// List the ratings of a scope with the data that decides about pruning. Paged, lowest rating first.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $scope         string    scope name
//   $valid         datetime  time of the read
//   $known         datetime  upper bound of known time; null: no bound
//   $rating_decay  map       floor, and days, the time constant of decay
//   $after_elo     float     rating of the last row of the previous page, before decay
//   $after_kind    string    kind of the last row of the previous page; '' for the first page
// columns:
//   - kind      string  Episode: memories and beliefs are never pruned
//   - id        string  id of the item
//   - elo       float   rating after decay
//   - from_elo  float   rating before decay, the sort key of pages
//   - item      map     text, summary, content, written_at, opened_at, returned_at, compressed_at, pinned; null: deleted or already hidden

MATCH (g:Rating)
USING INDEX g:Rating(tenant, elo)
WHERE g.tenant = $tenant AND g.elo >= $after_elo AND (g.elo > $after_elo OR g.kind > $after_kind OR (g.kind = $after_kind AND g.id > $after_id))
  AND g.scope = $scope AND g.kind = 'Episode'
WITH g
ORDER BY g.elo, g.kind, g.id
LIMIT $limit
LET valid = $valid
// include: fragments/rating_decayed.cypher
OPTIONAL CALL (g) {
  MATCH (n:Episode {tenant: $tenant, id: g.id})
  LET p = n
  // include: fragments/episode_archived.cypher
  FILTER NOT put_away
  CALL (n) {
    MATCH (n)<-[:CONCERNS]-(e:Event {tenant: $tenant})
    WHERE e.type <> 'COMPRESS'
    RETURN max(e.occurred_at) AS written_at
  }
  CALL (n) {
    MATCH (n)<-[:ACCESSED]-(e:Event {tenant: $tenant})
    RETURN max(e.occurred_at) AS opened_at
  }
  CALL (n) {
    UNWIND [n] + COLLECT { MATCH (t:Turn {tenant: $tenant})-[:OCCURRED_IN]->(n) RETURN t } AS found
    MATCH (found)<-[:RETURNED]-(e:Event {tenant: $tenant})
    RETURN max(e.occurred_at) AS returned_at
  }
  CALL (n) {
    MATCH (n)-[:ARCHIVED_AS]->(:Archive {tenant: $tenant})
    MATCH (n)<-[:CONCERNS]-(e:Event {tenant: $tenant, type: 'COMPRESS'})
    RETURN max(e.occurred_at) AS compressed_at
  }
  CALL (n) {
    OPTIONAL MATCH (n)<-[:CONCERNS]-(e:Event {tenant: $tenant})
    WHERE e.type IN ['PIN', 'UNPIN']
    RETURN coalesce(e.type = 'PIN', false) AS pinned
    ORDER BY e.occurred_at DESC, e.id DESC
    LIMIT 1
  }
  RETURN {
    text: coalesce(n.content, n.summary, n.gist, ''),
    summary: n.summary,
    content: n.content,
    written_at: coalesce(written_at, n.occurred_at),
    opened_at: opened_at,
    returned_at: returned_at,
    compressed_at: compressed_at,
    pinned: pinned
  } AS item
}
RETURN g.kind AS kind, g.id AS id, elo, g.elo AS from_elo, item
ORDER BY from_elo, kind, id
