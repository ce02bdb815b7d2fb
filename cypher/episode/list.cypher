// List episodes as of (valid, known), newest first. Paged. Texts and compression are the current ones.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $tenant            string    tenant name
//   $scopes            list      read scopes
//   $session_id        string    name of their session; null: any
//   $since             datetime  inclusive lower bound of occurred_at; null: none
//   $until             datetime  exclusive upper bound of occurred_at; null: none
//   $include_archived  boolean   true: return archived episodes too; null: false
//   $before_at         datetime  occurred_at of the last row of the previous page; null: the first page
//   $before_id         string    id of the last row of the previous page
//   $limit             integer   maximum number of rows per page
//   $valid             datetime  upper bound of valid time
//   $known             datetime  upper bound of known time
// columns:
//   - episodes  list      maps, as in episode/get; turns are counted as of the read
//   - now       datetime  server clock

CALL () {
  MATCH (p:Episode)
  WHERE p.tenant = $tenant AND p.scope IN $scopes AND p.occurred_at <= $valid AND p.recorded_at <= $known
    AND ($session_id IS NULL OR p.session_id = $session_id)
    AND ($since IS NULL OR p.occurred_at >= $since)
    AND ($until IS NULL OR p.occurred_at < $until)
    AND ($before_at IS NULL OR p.occurred_at < $before_at OR (p.occurred_at = $before_at AND p.id < $before_id))
  // Sorting before put_away is computed limits that work to the episodes of the page.
  WITH p
  ORDER BY p.occurred_at DESC, p.id DESC
  // include: fragments/episode_archived.cypher
  FILTER $include_archived OR NOT put_away
  WITH p
  ORDER BY p.occurred_at DESC, p.id DESC
  LIMIT $limit
  WITH p, p {.id, .scope, .session_id, .summary, .content, .gist, .entities, .importance, .occurred_at, .recorded_at,
             compressed: EXISTS { (p)-[:ARCHIVED_AS]->(:Archive {tenant: $tenant}) },
             turns: COUNT {
               MATCH (t:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p)
               WHERE t.occurred_at <= $valid AND t.recorded_at <= $known
             }} AS episode
  ORDER BY p.occurred_at DESC, p.id DESC
  RETURN collect(episode) AS episodes
}
RETURN episodes, datetime.realtime('Z') AS now
