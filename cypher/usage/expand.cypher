// Return everything stored about one item that recall can return. Includes its card, its newest events, the turns and
// episodes they rest on, neighbours in its chain or conversation, and its access count. No row: no visible node has
// this id.
// mode: read
// rows: many
// plan: NodeUniqueIndexSeek
// params:
//   $scopes  list      read scopes
//   $id      string    id of a memory, a belief, a turn or an episode
//   $valid   datetime  time of the read
//   $known   datetime  upper bound of known time; null: no bound
//   $limit   integer   maximum number of newest events, and of SUPERSEDES edges
//   $around  integer   number of turns to return before and after a turn
//   $turns   integer   number of first turns to return of an episode
// columns:
//   - label           string    Memory, Belief, Turn or Episode
//   - item            map       a memory's card, a turn or an episode; null for a belief: see belief/states
//   - trust           integer   its rank, see rules/trust.py; null for a belief: see belief/states
//   - events          list      maps, oldest first, see fragments/belief_event.cypher; for a belief only statements and evidence that counts
//   - turns           list      maps, in conversation order: turns quoted by these events, neighbours of a turn, or first turns of an episode
//   - episodes        list      maps of the episodes of these turns and events, oldest first: id, session_id, summary, occurred_at
//   - links           list      maps of its SUPERSEDES edges, oldest first: newer (whether the other node is the newer one), id, text, status, event_id, occurred_at, in_force
//   - accesses        integer   number of accesses in $scopes
//   - last_access_at  datetime  time of the last access; null: never accessed

MATCH (n:Memory|Belief|Turn|Episode {tenant: $tenant, id: $id})
WHERE n.scope IN $scopes
WITH n, labels(n)[0] AS label, $valid AS valid
// An id is unique only among nodes of one label.
ORDER BY coll.indexOf(['Memory', 'Belief', 'Turn', 'Episode'], label)
LIMIT 1
CALL (n) {
  WITH n AS m
  FILTER m:Memory
  // include: fragments/chain_heads.cypher
  // include: fragments/memory_card.cypher
  LET valid = $valid
  // include: fragments/memory_trust.cypher
  RETURN card AS item, trust
UNION ALL
  FILTER n:Belief
  RETURN null AS item, null AS trust
UNION ALL
  FILTER n:Turn
  RETURN n {.id, .episode_id, .position, .role, .name, .text, .occurred_at, .time_zone, .recorded_at} AS item, n.trust AS trust
UNION ALL
  FILTER n:Episode
  WITH n, n AS p
  // include: fragments/episode_trust.cypher
  // include: fragments/episode_turns.cypher
  RETURN n {.id, .scope, .session_id, .summary, .content, .gist, .entities, .importance, .summarised_by, .occurred_at, .recorded_at,
            compressed: n.turns_compressed IS NOT NULL OR EXISTS { (n)-[:ARCHIVED_AS]->(:Archive {tenant: $tenant}) },
            turns: turns, ended_at: ended_at} AS item, trust
}
CALL (n, valid) {
  CALL (n, valid) {
    FILTER n:Memory
    MATCH (n)<-[:REINFORCES|CONCERNS]-(e:Event)
    WHERE e.scope IN $scopes
    RETURN e ORDER BY e.occurred_at DESC, e.recorded_at DESC, e.id DESC LIMIT $limit
  UNION ALL
    FILTER n:Belief
    MATCH (n)<-[edge:SUPPORTS|REFUTES|CONCERNS]-(e:Event)
    WHERE type(edge) <> 'CONCERNS' OR e.type = 'BELIEVE'
    // include: fragments/not_retracted.cypher
    RETURN e ORDER BY e.occurred_at DESC, e.recorded_at DESC, e.id DESC LIMIT $limit
  }
  WITH e, true AS speaks, true AS counts
  ORDER BY e.occurred_at, e.recorded_at, e.id
  // include: fragments/belief_event.cypher
  RETURN collect(line) AS events, collect(e) AS newest
}
LET sources = newest + n
// include: fragments/quoted_turns.cypher
CALL (n) {
  MATCH (n)-[s:SUPERSEDES]-(other:Memory|Belief)
  WHERE other.tenant = $tenant AND other.scope IN $scopes
  WITH n, s, other
  ORDER BY s.occurred_at DESC, s.event_id DESC, other.id
  LIMIT $limit
  RETURN reverse(collect(s {.event_id, .occurred_at, .in_force, newer: startNode(s) = other, id: other.id,
                            text: coalesce(other.content, other.statement), status: other.status})) AS links
}
CALL (n) {
  MATCH (n)<-[:ACCESSED]-(e:Event)
  WHERE e.scope IN $scopes
  RETURN count(e) AS accesses, max(e.occurred_at) AS last_access_at
}
RETURN label, item, trust, events, turns, episodes, links, accesses, last_access_at
