// SUPERSEDES edges between memories that say not by which event, or since when: those onto a page of memories, by id.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// params:
//   $tenant    string    tenant name
//   $after     string    the last page ended at this id; '' for the first
//   $limit     integer   memories of a page
//   $source    string    of events that a backfill made; their ids begin with it
//   $earliest  datetime  no instant lies before it
//   $latest    datetime  no instant lies after it
// columns:
//   - looked  integer  memories of the page; 0: there are no more
//   - after   string   id of its last one
//   - edges   list     maps, one for each pair of memories: the fields of Edge in rules/backfill.py

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
