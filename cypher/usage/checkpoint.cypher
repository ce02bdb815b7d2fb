// Advance the ratings checkpoint over the next rated sessions. Covers sessions that ended before a given time, in the
// order in which they ended. Ratings recomputed from scratch continue from this checkpoint. Each rating stores its
// value at the checkpoint. The caller must remove the covered searches, and accesses to artifacts, in the same transaction.
// mode: write
// rows: many
// plan: NodeIndexSeek
// params:
//   $before     datetime  exclusive upper bound of the recorded_at of session ends
//   $sessions   integer   maximum number of sessions, >= 1
//   $by_search  boolean   whether a search is one game; otherwise each pair of an opened and an unopened result is
// columns:
//   - id        string   id of the event that started a session
//   - scope     string   scope of the session
//   - agent     string   agent of the session; null: unknown
//   - payload   string   JSON with the session's name
//   - searches  integer  number of searches in the session
//   - results   integer  number of results returned by these searches
//   - games     integer  number of these searches that were rated
//   - accesses  integer  number of accesses to artifacts in the session

MERGE (r:Rater {tenant: $tenant})
// Writing before reading takes the write lock, so this query waits for concurrent rating and roll-up.
SET r.rolled = coalesce(r.rolled, 0)
WITH r, r.rolled AS rolled, coalesce(r.rated, 0) AS rated
CALL (rolled, rated) {
  MATCH (end:Event)
  WHERE end.tenant = $tenant AND end.position > rolled AND end.position <= rated
  WITH end
  ORDER BY end.tenant, end.position
  LIMIT $sessions
  RETURN collect(end) AS ends
}
LET late = [end IN ends WHERE end.recorded_at >= $before | end.position]
UNWIND [end IN ends WHERE late = [] OR end.position < late[0]] AS end
MATCH (end)-[:WITHIN]->(start:Event {tenant: $tenant})
CALL (start, end) {
  CALL (start) {
    MATCH (start)<-[:WITHIN]-(s:Event {type: 'SEARCH'})
    WITH s
    ORDER BY s.occurred_at, s.id
    CALL (s) {
      MATCH (s)-[game:RATED]->(n)
      // The winners are the results that were opened when the search was rated.
      WITH s, collect({kind: labels(n)[0], id: n.id, elo: game.after, won: game.after > game.before}) AS players
      UNWIND players AS own
      MATCH (g:Rating {tenant: $tenant, kind: own.kind, id: own.id})
      SET g.base_elo = own.elo,
          g.base_games = coalesce(g.base_games, 0) + CASE WHEN $by_search THEN 1 ELSE size([x IN players WHERE x.won <> own.won]) END,
          g.base_touched_at = coalesce(g.base_touched_at, s.occurred_at)
      RETURN count(g) AS played
    }
    RETURN count(s) AS searches, sum(COUNT { (s)-[:RETURNED]->() }) AS results, count(CASE WHEN played > 0 THEN 1 END) AS games
  }
  CALL (start, end) {
    MATCH (start)<-[:WITHIN]-(look:Event {type: 'ACCESS'})-[:ACCESSED]->(x)
    WHERE look.recorded_at <= end.recorded_at
    // A turn counts for its episode, as in usage/rate.
    OPTIONAL MATCH (x)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
    WHERE x:Turn
    LET n = coalesce(p, x)
    MATCH (g:Rating {tenant: $tenant, kind: labels(n)[0], id: n.id})
    WHERE g.base_elo IS NOT NULL
    SET g.base_touched_at = CASE WHEN g.base_touched_at > look.occurred_at THEN g.base_touched_at ELSE look.occurred_at END
  }
  RETURN searches, results, games
}
LET accesses = COUNT { (start)<-[:WITHIN]-(:Event {tenant: $tenant, type: 'ACCESS'})-[:ACCESSED]->(:Artifact {tenant: $tenant}) }
SET r.rolled = CASE WHEN r.rolled > end.position THEN r.rolled ELSE end.position END
RETURN start.id AS id, start.scope AS scope, start.actor AS agent, start.payload AS payload, searches, results, games, accesses
