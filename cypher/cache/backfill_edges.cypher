// List SUPERSEDES edges between memories that lack an event or a date. Covers the incoming edges of a page of memories,
// by id.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant    string    tenant name
//   $after     string    id of the last row of the previous page; '' for the first page
//   $limit     integer   maximum number of memories per page
//   $source    string    source of the events that a backfill created, and prefix of their ids
//   $earliest  datetime  lower bound of valid times
//   $latest    datetime  upper bound of valid times
// columns:
//   - looked  integer  number of memories on the page; 0: no more pages
//   - after   string   id of the last memory of the page
//   - edges   list     maps, one per pair of memories: the fields of UnbackedEdge in upkeep/backfill.py

CALL () {
  MATCH (older:Memory)
  WHERE older.tenant = $tenant AND older.id > $after
  WITH older
  ORDER BY older.tenant, older.id
  LIMIT $limit
  RETURN count(older) AS looked, max(older.id) AS after, collect(older) AS page
}
CALL (page) {
  UNWIND page AS older
  MATCH (older)<-[s:SUPERSEDES]-(newer:Memory)
  WHERE newer.tenant = $tenant AND NOT (
    s.event_id IS :: STRING NOT NULL AND s.occurred_at IS :: ZONED DATETIME NOT NULL
    AND s.recorded_at IS :: ZONED DATETIME NOT NULL
  )
  WITH older, newer, collect(s.occurred_at) AS times
  LET dated = all(t IN times WHERE t IS :: ZONED DATETIME AND coalesce($earliest <= t <= $latest, true))
  CALL (newer) {
    MATCH (newer)<-[:REINFORCES]-(e:Event)
    WHERE e.scope = newer.scope
    RETURN min(e.occurred_at) AS first_at
  }
  CALL (older) {
    CALL (older) {
      MATCH (older)<-[:REINFORCES]-(e:Event)
      WHERE e.source = $source
      RETURN e.occurred_at AS at
    UNION ALL
      MATCH (older)-[s:SUPERSEDES]->(:Memory)
      WHERE s.event_id STARTS WITH $source
      RETURN s.occurred_at AS at
    }
    RETURN max(at) AS back_at
  }
  RETURN collect({
    newer_id: toStringOrNull(newer.id), older_id: older.id, scope: older.scope, dated: dated, back_at: back_at,
    at: CASE WHEN dated THEN coalesce(coll.min(times), first_at) END,
    apart: coalesce(newer.scope <> older.scope, false),
    whole: first_at IS NOT NULL AND EXISTS { MATCH (older)<-[:REINFORCES]-(e:Event) WHERE e.scope = older.scope }
  }) AS edges
}
RETURN looked, after, edges
