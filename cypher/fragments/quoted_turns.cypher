// Collect the turns that `sources` quote, the neighbours of `n` if it is a turn, or the first turns of `n` if it is an
// episode; and their episodes. Needs `n` and `sources`, a list of events and turns, $scopes, $around and $turns; leaves
// `turns` and `episodes`, lists of maps in order.
// needs: n, sources
// leaves: turns, episodes

CALL (n, sources) {
  CALL (n, sources) {
    UNWIND sources AS e
    MATCH (e)-[:QUOTES]->(t:Turn {tenant: $tenant})
    RETURN t, t.occurred_at AS at
  UNION
    UNWIND CASE WHEN n:Turn THEN [[n.episode_id, n.position - $around, n.position + $around]]
                WHEN n:Episode THEN [[n.id, 0, $turns - 1]] END AS stretch
    MATCH (t:Turn)
    WHERE t.tenant = $tenant AND t.episode_id = stretch[0] AND stretch[1] <= t.position <= stretch[2] AND t <> n
    RETURN t, n.occurred_at AS at
  }
  WITH t, at
  ORDER BY at, t.episode_id, t.position
  WHERE t.scope IN $scopes
  RETURN collect(t {.id, .episode_id, .position, .role, .name, .text, .occurred_at, .time_zone, .recorded_at}) AS turns
}
CALL (sources) {
  UNWIND sources AS e
  MATCH (e)-[:OCCURRED_IN]->(x:Episode {tenant: $tenant})
  WITH DISTINCT x
  ORDER BY x.occurred_at, x.id
  WHERE x.scope IN $scopes
  RETURN collect(x {.id, .session_id, .summary, .occurred_at}) AS episodes
}
