// Rate the searches of ended sessions, in the order in which the sessions ended. Each opened result wins against each
// unopened one. A result counts as opened by the last search of the session that returned it before the access. Entries
// logged after the end of the session are ignored. No row: nothing is left to rate. Twin: oracles/rating.py
// mode: write
// rows: many
// plan: NodeIndexSeek
// params:
//   $sessions  integer  maximum number of sessions to rate, >= 1
//   $by        map      rating constants: initial, k_new, k_established, established, scale, gate_similarity, gate_factor, by_search
// columns:
//   - sessions  integer  number of sessions rated
//   - searches  integer  number of their searches that changed ratings
//   - updates   integer  number of ratings changed

MERGE (r:Rater {tenant: $tenant})
// Writing before reading takes the write lock, so concurrent raters are serialised.
SET r.rated = coalesce(r.rated, 0)
WITH r, r.rated AS rated
CALL (rated) {
  MATCH (end:Event)
  WHERE end.tenant = $tenant AND end.position > rated
  // Sorting by the whole index key reads no more entries than are rated.
  ORDER BY end.tenant, end.position
  LIMIT $sessions
  MATCH (end)-[:WITHIN]->(start:Event {tenant: $tenant})
  RETURN end.position AS position, start, end.recorded_at AS ended
}
CALL (start, ended) {
  CALL (start, ended) {
    MATCH (start)<-[:WITHIN]-(look:Event {type: 'ACCESS'})-[:ACCESSED]->(seen)
    // Accesses after the end do not count, neither now nor when ratings are recomputed.
    WHERE look.recorded_at <= ended
    OPTIONAL MATCH (seen)-[:OCCURRED_IN]->(of:Episode {tenant: $tenant})
    WITH start, look, CASE WHEN seen:Turn THEN of ELSE seen END AS n
    WHERE n IS NOT NULL
    OPTIONAL CALL (start, look, n) {
      MATCH (start)<-[:WITHIN]-(s:Event {type: 'SEARCH'})-[:RETURNED]->(hit {tenant: $tenant})
      WHERE s.occurred_at <= look.occurred_at
        AND (hit = n OR (hit:Turn AND EXISTS { (hit)-[:OCCURRED_IN]->(n) }))
      RETURN s.id AS search
      ORDER BY s.occurred_at DESC, s.id DESC
      LIMIT 1
    }
    RETURN collect({kind: labels(n)[0], id: n.id, at: look.occurred_at, search: search}) AS looks
  }
  CALL (start, ended, looks) {
    MATCH (start)<-[:WITHIN]-(s:Event {type: 'SEARCH'})
    WHERE s.recorded_at <= ended
    WITH s, looks
    ORDER BY s.occurred_at, s.id
    CALL (s, looks) {
      // include: fragments/rate_search.cypher
      RETURN count(g) AS changed
    }
    RETURN count(CASE WHEN changed > 0 THEN 1 END) AS searches, sum(changed) AS updates
  }
  CALL (looks) {
    UNWIND looks AS look
    MATCH (g:Rating {tenant: $tenant, kind: look.kind, id: look.id})
    SET g.touched_at = CASE WHEN g.touched_at > look.at THEN g.touched_at ELSE look.at END
  }
  RETURN searches, updates
}
WITH r, count(*) AS sessions, sum(searches) AS searches, sum(updates) AS updates, max(position) AS last
SET r.rated = last
RETURN sessions, searches, updates
