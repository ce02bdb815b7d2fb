// What waits to be done for a tenant, in all its scopes, and what consolidating it has taken.
// mode: read
// rows: one
// plan: NodeIndexSeek
// params:
//   $tenant  string  tenant name
// columns:
//   - unrated     integer  sessions that have ended and are not rated yet
//   - unembedded  integer  beliefs that wait for an embedding
//   - fresh       integer  episodes of consolidated scopes, recorded after what the last finished run there had seen
//   - decided     integer  clusters that were seen to
//   - undecided   integer  clusters that only went wrong so far
//   - failures    integer  attempts that went wrong
//   - calls       integer  requests to the language model that were kept with their replies
//   - tokens_in   integer  sent in them
//   - tokens_out  integer  received
//   - cost_usd    float    as far as prices are known

OPTIONAL MATCH (r:Rater {tenant: $tenant})
LET unrated = coalesce(r.ended, 0) - coalesce(r.rated, 0)
// Each part is told of the row, which keeps the planner from joining them by a product.
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
