// Build the output of a found episode. Needs `hit`, a map of kind and n; leaves `of`, a map.
// needs: hit
// leaves: of

FILTER hit.kind = 'episode'
WITH hit.n AS n
RETURN {item: n {
  .id, .scope, .session_id, .summary, .gist, .entities, .importance, .summarised_by,
  content: left(n.content, 2000), occurred_at: toString(n.occurred_at), recorded_at: toString(n.recorded_at),
  compressed: n.turns_compressed IS NOT NULL OR EXISTS { (n)-[:ARCHIVED_AS]->(:Archive {tenant: $tenant}) },
  turns: COUNT { (:Turn {tenant: $tenant})-[:OCCURRED_IN]->(n) }
}} AS of
