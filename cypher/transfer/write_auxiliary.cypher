// Create auxiliary nodes of one kind from an export. Existing nodes are not changed, except an older policy.
// mode: write
// rows: one
// plan: MergeUniqueNode
// writes_ids: nodes.key part
// params:
//   $kind   string  Name, Predicate, Consolidation, Rating or Rater
//   $part   string  label of the rated items, for ratings; else ''
//   $nodes  list    maps: key and has (properties); of a rejection also value_key, and path, to be put before its paths
// columns:
//   - written  integer  number of nodes created

UNWIND $nodes AS row
LET has = row.has
CALL (row, has) {
  FILTER $kind = 'Name'
  MERGE (n:Name {tenant: $tenant, id: row.key})
  WITH n, has
  FILTER n.name IS NULL
  SET n.scope = has.scope, n.key = has.key, n.name = has.name
  RETURN n
UNION ALL
  FILTER $kind = 'Predicate'
  MERGE (n:Predicate {tenant: $tenant, id: row.key})
  WITH n, has
  // As in predicate/declare: a person's declaration precedes, then the newest.
  FILTER coalesce(CASE
    WHEN (has.trust = 4) <> (n.trust = 4) THEN has.trust = 4
    ELSE has.occurred_at > n.occurred_at OR (has.occurred_at = n.occurred_at AND has.event_id > n.event_id)
  END, true)
  SET n.scope = has.scope, n.key = has.key, n.trust = has.trust, n.name = has.name, n.template = has.template, n.cardinality = has.cardinality, n.kappa = has.kappa,
      n.tau_days = has.tau_days, n.decay_per_day = has.decay_per_day, n.margin = has.margin, n.combine = has.combine,
      n.valid_from = has.valid_from, n.event_id = has.event_id, n.occurred_at = has.occurred_at, n.recorded_at = has.recorded_at
  RETURN n
UNION ALL
  FILTER $kind = 'Rejection'
  MERGE (r:Rejection {tenant: $tenant, id: row.key})
  ON CREATE SET r.scope = has.scope, r.digest = has.digest, r.value_key = row.value_key, r.recorded_at = has.recorded_at
  WITH r, has, coalesce(size(r.rejects), 0) AS before
  LET given = [i IN range(0, size(has.rejects) - 1) |
    {id: has.event_ids[i], at: has.at[i], known_at: has.known_at[i], rejects: has.rejects[i], path: row.path + has.paths[i]}
  ]
  // include: fragments/merge_rulings.cypher
  FILTER size(r.rejects) > before
  RETURN r AS n
UNION ALL
  FILTER $kind = 'Consolidation'
  MERGE (n:Consolidation {tenant: $tenant, scope: row.key})
  WITH n, has
  FILTER n.known IS NULL AND n.cursor IS NULL
  SET n.cursor = has.cursor, n.known = has.known, n.outages = has.outages, n.failed = has.failed, n.away_since = has.away_since,
      n.retry_at = has.retry_at
  RETURN n
UNION ALL
  FILTER $kind = 'Rating'
  MERGE (n:Rating {tenant: $tenant, kind: $part, id: row.key})
  WITH n, has
  FILTER n.elo IS NULL
  SET n.scope = has.scope, n.elo = has.elo, n.games = has.games, n.touched_at = has.touched_at, n.base_elo = has.base_elo,
      n.base_games = has.base_games, n.base_touched_at = has.base_touched_at
  RETURN n
UNION ALL
  FILTER $kind = 'Rater'
  MERGE (n:Rater {tenant: $tenant})
  WITH n, has
  FILTER n.ended IS NULL
  SET n.ended = has.ended, n.rated = has.rated, n.rolled = has.rolled
  RETURN n
}
RETURN count(n) AS written
