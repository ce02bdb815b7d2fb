// List episodes as of (valid, known), newest first. Paged. Texts of callers and compression are the current ones; what is derived
// from turns is left out if one of them is invisible then.
// mode: read
// rows: one
// plan: NodeIndexSeek PartialTop
// params:
//   $session_id        string    name of their session; null: any
//   $sessions_only     boolean   true: leave out episodes without a session; null: false
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
  // Each scope is read in the order of the index, and only as far as the page: see memory/list.
  UNWIND $scopes AS one
  CALL (one) {
    MATCH (p:Episode)
    USING INDEX p:Episode(tenant, scope, occurred_at)
    WHERE p.tenant = $tenant AND p.scope = one
      AND p.occurred_at >= coalesce($since, datetime('0001-01-01T00:00:00Z'))
      AND p.occurred_at <= coalesce($before_at, $until, $valid)
      AND p.occurred_at <= $valid AND p.recorded_at <= $known
      AND ($until IS NULL OR p.occurred_at < $until)
      AND ($before_at IS NULL OR p.occurred_at < $before_at OR p.id < $before_id)
      AND ($session_id IS NULL OR p.session_id = $session_id)
      AND (p.session_id IS NOT NULL OR NOT coalesce($sessions_only, false))
      AND CASE WHEN $include_archived THEN true ELSE NOT EXISTS {
        // include: fragments/episode_archived.cypher
        FILTER put_away
        RETURN p
      } END
    RETURN p
    ORDER BY p.tenant DESC, p.scope DESC, p.occurred_at DESC, p.id DESC
    LIMIT $limit
  }
  WITH p
  ORDER BY p.occurred_at DESC, p.id DESC
  LIMIT $limit
  // include: fragments/stated_fields.cypher
  WITH p, stated, EXISTS {
    MATCH (t:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p)
    WHERE t.occurred_at > $valid OR t.recorded_at > $known
  } AS later
  WITH p, [name IN ['summary', 'entities', 'importance'] WHERE NOT later OR name IN stated] AS shown
  CALL (p) {
    OPTIONAL MATCH (t:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p)
    WHERE t.occurred_at <= $valid AND t.recorded_at <= $known
    RETURN count(t) AS turns, max(t.occurred_at) AS ended_at
  }
  WITH p, p {.id, .scope, .session_id, .content, .gist, .occurred_at, .recorded_at,
             summary: CASE WHEN 'summary' IN shown THEN p.summary END,
             entities: CASE WHEN 'entities' IN shown THEN p.entities ELSE [] END,
             importance: CASE WHEN 'importance' IN shown THEN p.importance ELSE 0.5 END,
             summarised_by: CASE WHEN 'summary' IN shown THEN p.summarised_by END,
             compressed: p.turns_compressed IS NOT NULL OR EXISTS { (p)-[:ARCHIVED_AS]->(:Archive {tenant: $tenant}) },
             turns: turns, ended_at: ended_at} AS episode
  ORDER BY p.occurred_at DESC, p.id DESC
  RETURN collect(episode) AS episodes
}
RETURN episodes, datetime.realtime('Z') AS now
