// Settle the searches of ended sessions, in the order in which the sessions ended: what was opened has won against what was not, pair by
// pair. A result counts as opened by the search of the session that returned it last before the look; what was logged after the end
// is left out. No row when none is left. Twin: oracles/rating.py
// mode: write
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant    string   whose
//   $sessions  integer  settled at most, >= 1
//   $by        map      the constants: initial, k_new, k_established, established, scale, gate_similarity, gate_factor
// columns:
//   - sessions  integer  that were settled
//   - searches  integer  of these, that were a game
//   - updates   integer  ratings that changed

MERGE (r:Rater {tenant: $tenant})
// Written before anything is looked for, so that of two raters one waits for the other.
SET r.rated = coalesce(r.rated, 0)
WITH r, r.rated AS rated
CALL (rated) {
  MATCH (end:Event)
  WHERE end.tenant = $tenant AND end.position > rated
  // In the order of the whole index, so that no more of it is read than is settled.
  ORDER BY end.tenant, end.position
  LIMIT $sessions
  MATCH (end)-[:WITHIN]->(start:Event {tenant: $tenant})
  RETURN end.position AS position, start, end.recorded_at AS ended
}
CALL (start, ended) {
  // include: fragments/opened.cypher
  CALL (start, ended, looks) {
    MATCH (start)<-[:WITHIN]-(s:Event {type: 'SEARCH'})
    WHERE s.recorded_at <= ended
    WITH s, looks
    ORDER BY s.occurred_at, s.id
    CALL (s, looks) {
      // include: fragments/play.cypher
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
