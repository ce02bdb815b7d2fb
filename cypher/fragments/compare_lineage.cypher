// Compare the cached lineage of `m` with its events.
// needs: m, unruled, superseding
// leaves: cached, found, wrong

CALL (m, superseding) {
  LET edges = [x IN superseding WHERE x.in_force | x.edge]
  MATCH (m)<-[s:SUPERSEDES]-()
  RETURN count(CASE WHEN coalesce(s.in_force <> (s IN edges), true) THEN 1 END) AS stale
}
// include: fragments/rejected_anywhere.cypher
LET status = CASE WHEN rejected_for_all THEN 'rejected' ELSE unruled END
LET cached = coalesce(m.status, 'unknown') + CASE WHEN m.rejected THEN ', rejected here' ELSE '' END
      + CASE stale WHEN 0 THEN '' ELSE ', ' + stale + ' edges otherwise' END,
    found = status + CASE WHEN rejected_here THEN ', rejected here' ELSE '' END,
    wrong = stale > 0 OR coalesce(m.status <> status, true) OR coalesce(m.rejected, false) <> rejected_here
