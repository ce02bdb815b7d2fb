// Count the turns of an episode, and give the time of its last one; null without turns.
// needs: p
// leaves: turns, ended_at

CALL (p) {
  OPTIONAL MATCH (t:Turn {tenant: $tenant})-[:OCCURRED_IN]->(p)
  RETURN count(t) AS turns, max(t.occurred_at) AS ended_at
}
