// A page of the ratings of a scope, the lowest first, each with what decides whether its item is pruned.
// mode: read
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant      string    whose
//   $scope       string    which part
//   $kinds       list      of Memory, Belief and Episode
//   $valid       datetime  time of the read
//   $known       datetime  null: everything
//   $fade        map       floor, and days, the time constant of fading
//   $after_elo   float     the last page ended at this rating, not faded
//   $after_kind  string    of this kind; '' for the first page
//   $after_id    string    and this id; '' for the first page
//   $limit       integer   rows of a page
// columns:
//   - kind      string  Memory, Belief or Episode
//   - id        string  of the item
//   - elo       float   faded
//   - from_elo  float   not faded, by which pages go
//   - item      map     text, summary, content (of an episode), written_at, opened_at, compressed_at; null: gone, or hidden already

MATCH (g:Rating)
USING INDEX g:Rating(tenant, elo)
WHERE g.tenant = $tenant AND g.elo >= $after_elo AND (g.elo > $after_elo OR g.kind > $after_kind OR (g.kind = $after_kind AND g.id > $after_id))
  AND g.scope = $scope AND g.kind IN $kinds
WITH g
ORDER BY g.elo, g.kind, g.id
LIMIT $limit
// include: fragments/faded.cypher
OPTIONAL CALL (g) {
  MATCH (n:Memory|Belief|Episode {tenant: $tenant, id: g.id})
  WHERE g.kind IN labels(n) AND (n:Episode OR n.status = 'current')
  LET p = n
  // include: fragments/put_away.cypher
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
