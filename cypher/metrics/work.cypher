// Count the pending work of a tenant over all its scopes, and the cost of its consolidation.
// mode: read
// rows: one
// plan: NodeIndexSeek
// columns:
//   - unrated     integer  number of ended sessions that are not rated
//   - unembedded  integer  number of beliefs that lack an embedding
//   - fresh       integer  number of episodes of consolidated scopes recorded after the snapshot of the last finished run
//   - decided     integer  number of completed clusters
//   - undecided   integer  number of clusters with failed attempts only
//   - failures    integer  number of failed attempts
//   - calls       integer  number of requests to the language model that were stored with their replies
//   - tokens_in   integer  number of input tokens
//   - tokens_out  integer  number of output tokens
//   - cost_usd    float    cost in US dollars, as far as prices are known

OPTIONAL MATCH (r:Rater {tenant: $tenant})
LET unrated = coalesce(r.ended, 0) - coalesce(r.rated, 0)
// Each subquery imports a variable of the row, which prevents the planner from joining them by a product.
CALL (unrated) {
  MATCH (c:Consolidation)
  WHERE c.tenant = $tenant AND c.scope IS NOT NULL
  LET since = coalesce(c.cursor, datetime({epochSeconds: 0}))
  RETURN sum(COUNT {
    MATCH (p:Episode)
    WHERE p.tenant = $tenant AND p.scope = c.scope AND p.recorded_at > since
  }) AS fresh
}
CALL (unrated) {
  MATCH (y:Reply)
  WHERE y.tenant = $tenant AND y.id IS NOT NULL AND y.kind IS NULL
  RETURN count(CASE WHEN y.done THEN 1 END) AS decided, count(CASE WHEN NOT y.done THEN 1 END) AS undecided,
         coalesce(sum(y.attempts), 0) AS failures, coalesce(sum(y.calls), 0) AS calls,
         coalesce(sum(y.tokens_in), 0) AS tokens_in, coalesce(sum(y.tokens_out), 0) AS tokens_out,
         coalesce(sum(y.cost_usd), 0.0) AS cost_usd
}
RETURN unrated,
  COUNT {
    MATCH (b:Belief)
    WHERE b.tenant = $tenant AND b.unembedded = true
  } AS unembedded,
  fresh, decided, undecided, failures, calls, tokens_in, tokens_out, cost_usd
