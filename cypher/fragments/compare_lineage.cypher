// Compare the cached lineage of `m` with its events.
// needs: m, status, superseding
// leaves: cached, found, wrong

CALL (m, superseding) {
  LET edges = [x IN superseding WHERE x.in_force | x.edge]
  MATCH (m)<-[s:SUPERSEDES]-()
  RETURN count(CASE WHEN coalesce(s.in_force <> (s IN edges), true) THEN 1 END) AS stale
}
LET cached = coalesce(m.status, 'unknown') + CASE stale WHEN 0 THEN '' ELSE ', ' + stale + ' edges otherwise' END,
    found = status,
    wrong = stale > 0 OR coalesce(m.status <> status, true)
