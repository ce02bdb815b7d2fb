// List memories, newest first. Paged.
// mode: read
// rows: many
// plan: NodeIndexSeek PartialTop
// params:
//   $statuses   list      statuses to return
//   $tags       list      required tags; all must match
//   $source     string    required source of at least one event; null: any
//   $since      datetime  inclusive lower bound of created_at; null: none
//   $until      datetime  exclusive upper bound of created_at; null: none
//   $before_at  datetime  created_at of the last row of the previous page; null: the first page
//   $before_id  string    id of the last row of the previous page
//   $limit      integer   maximum number of rows per page
//   $valid      datetime  upper bound of valid time
//   $known      datetime  upper bound of known time
// columns:
//   - card  map  see fragments/memory_card.cypher; and trust, its rank: see rules/trust.py

// Each scope is read in the order of the index, and only as far as the page. A status outside of CASE, or a date that may
// be null, would make the server read and sort all memories.
UNWIND $scopes AS one
CALL (one) {
  MATCH (m:Memory)
  WHERE m.tenant = $tenant AND m.scope = one
    AND m.created_at >= coalesce($since, datetime('0001-01-01T00:00:00Z'))
    AND m.created_at <= coalesce($before_at, $until, datetime('9999-12-31T23:59:59Z'))
    AND ($until IS NULL OR m.created_at < $until)
    AND ($before_at IS NULL OR m.created_at < $before_at OR m.id < $before_id)
    AND CASE WHEN m.rulings IS NULL THEN m.status IN $statuses ELSE EXISTS {
      LET node = m
      // include: fragments/rejected_for_reader.cypher
      FILTER CASE WHEN reader_rejects THEN 'rejected' ELSE node.status END IN $statuses
      RETURN node
    } END
    AND all(tag IN $tags WHERE tag IN m.tags)
    AND ($source IS NULL OR EXISTS {
      MATCH (m)<-[:REINFORCES]-(e:Event)
      WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.source = $source AND e.scope IN $scopes
    })
  RETURN m
  ORDER BY m.tenant DESC, m.scope DESC, m.created_at DESC, m.id DESC
  LIMIT $limit
}
WITH m
ORDER BY m.created_at DESC, m.id DESC
LIMIT $limit
// include: fragments/chain_heads.cypher
// include: fragments/memory_card.cypher
LET valid = $valid
// include: fragments/memory_trust.cypher
RETURN card {.*, trust: trust} AS card
ORDER BY card.created_at DESC, card.id DESC
