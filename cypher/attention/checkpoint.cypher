// Move the checkpoint of ratings over the next settled sessions that ended before an instant, in the order in which they ended: from it a
// rating from the beginning goes on. Each rating keeps beside itself what it was then. What follows must be removed in the same transaction.
// mode: write
// rows: many
// plan: NodeIndexSeek
// params:
//   $tenant    string    whose
//   $before    datetime  their ends were recorded before
//   $sessions  integer   at most, >= 1
// columns:
//   - id        string   of the event that began a session
//   - scope     string   of the session
//   - agent     string   who worked in it; null: not known
//   - payload   string   JSON with the session's name
//   - searches  integer  made in it
//   - results   integer  that these returned
//   - games     integer  of these searches

MERGE (r:Rater {tenant: $tenant})
// Written before anything is looked for, so that it waits for whoever rates or rolls up.
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
      // Who won is what was opened when it was settled.
      WITH s, collect({kind: labels(n)[0], id: n.id, elo: game.after, won: game.after > game.before}) AS players
      UNWIND players AS own
      MATCH (g:Rating {tenant: $tenant, kind: own.kind, id: own.id})
      SET g.base_elo = own.elo,
          g.base_games = coalesce(g.base_games, 0) + size([x IN players WHERE x.won <> own.won]),
          g.base_touched_at = coalesce(g.base_touched_at, s.occurred_at)
      RETURN count(g) AS played
    }
    RETURN count(s) AS searches, sum(COUNT { (s)-[:RETURNED]->() }) AS results, count(CASE WHEN played > 0 THEN 1 END) AS games
  }
  CALL (start, end) {
    MATCH (start)<-[:WITHIN]-(look:Event {type: 'ACCESS'})-[:ACCESSED]->(n)
    WHERE look.recorded_at <= end.recorded_at
    MATCH (g:Rating {tenant: $tenant, kind: labels(n)[0], id: n.id})
    WHERE g.base_elo IS NOT NULL
    SET g.base_touched_at = CASE WHEN g.base_touched_at > look.occurred_at THEN g.base_touched_at ELSE look.occurred_at END
  }
  RETURN searches, results, games
}
SET r.rolled = CASE WHEN r.rolled > end.position THEN r.rolled ELSE end.position END
RETURN start.id AS id, start.scope AS scope, start.actor AS agent, start.payload AS payload, searches, results, games
