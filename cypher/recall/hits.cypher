// Return the results of a recall, best first: reads the best candidates of recall/current or recall/filtered, and computes
// the belief of beliefs among them from their evidence. The client ranks the candidates first, see rules/ranking.py; without
// their scores, as in a CALL, they are ranked by similarity alone. Twins: oracles/blending.py, oracles/lineage.py,
// oracles/trust.py
// mode: read
// rows: one
// source: ESPER, blended retrieval
// plan: NodeUniqueIndexSeek NodeIndexSeek
// params:
//   $found           map       one row of recall/current or recall/filtered; of its candidates, which are lists, the first four are read: element id, id, kind, and the score, null: 0
//   $statuses        list      statuses to return; outvoted: a candidate of a slot with another leader
//   $kinds           list      subset of 'memory', 'belief', 'turn', 'episode'
//   $min_trust       integer   lowest rank of trust, see rules/trust.py; 0: any
//   $limit           integer   maximum number of hits
//   $scoring         map       scoring parameters: see rules/scoring.py score_params
//   $valid           datetime  upper bound of valid time
//   $known           datetime  upper bound of known time; null: no bound
//   $policy          map       null: the declared policies
//   $default_policy  map       policy of undeclared predicates
//   $weights         map       reliability of each source type, in (0, 1]
//   $test            map       upper, lower, promote_step, demote_step, max_confidence, min_confidence
//   $rating_decay    map       floor of ratings, and days, the time constant of their decay
// columns:
//   - hits           list      maps, best first: node (of the candidate that found it), kind, item (a card), score, reasons, trust (its rank), is_rejected (of a turn: whether all that quotes it is rejected); belief values of a belief; times as ISO text, which a driver decodes much faster
//   - lost           list      ids of lost beliefs that memories among the hits claim
//   - hidden_counts  list      if there are no hits: pairs of a status and the number of items it hides
//   - now            datetime  server clock
//   - ruled          boolean   whether a person ruled about a value for the reader

UNWIND $found.candidates AS c
MATCH (n)
WHERE elementId(n) = c[0] AND n.tenant = $tenant AND n.scope IN $scopes
WITH n, c, coalesce(c[3], 0.0) AS score
ORDER BY score DESC, n.id
WITH collect({n: n, node: c[0], kind: c[2], score: score}) AS best
LET others = [x IN best WHERE x.kind <> 'belief'][..$limit], shortlist = [x IN best WHERE x.kind = 'belief'][..$scoring.beliefs]
CALL (others) {
  UNWIND others AS x
  WITH x.n AS n
  MATCH (n)-[:CLAIMS]->(b:Belief)
  WHERE b.scope IN $scopes
  RETURN collect(DISTINCT b) AS claimed
}
CALL (others) {
  UNWIND [x IN others WHERE x.kind = 'turn' | x.n] AS t
  MATCH (t)<-[:QUOTES]-(e:Event {tenant: $tenant, type: 'EVIDENCE'})-[:SUPPORTS]->(b:Belief {tenant: $tenant})
  WHERE b.scope IN $scopes
  LET valid = $valid
  // include: fragments/not_retracted.cypher
  WITH t, collect(DISTINCT b) AS held
  RETURN collect({t: t, held: held}) AS stating
}
// The lineage of memories is computed with that of beliefs: a second copy of it would be a tenth of the text to plan.
LET asked = [x IN shortlist | x.n] + claimed + coll.flatten([x IN stating | x.held]) + [x IN others WHERE $found.filtered AND x.kind = 'memory' | x.n]
// include: fragments/slot_standings.cypher
// A candidate that lost its slot is replaced by those that outrank it, or returned with them.
CALL (shortlist, judged) {
  UNWIND shortlist AS x
  WITH x, [j IN judged WHERE j.b = x.n][0] AS j
  UNWIND CASE
    WHEN j.status <> 'current' AND NOT j.status IN $statuses THEN []
    WHEN j.lost AND 'outvoted' IN $statuses THEN [j.value] + j.contenders
    WHEN j.lost THEN j.contenders
    ELSE [j.value]
  END AS value
  WITH x, j, value
  ORDER BY value.b = x.n DESC, x.score DESC, x.n.id
  WITH value.b AS b, collect({x: x, j: j, value: value})[0] AS best
  RETURN collect({b: b, x: best.x, j: best.j, value: best.value}) AS places
}
// include: fragments/recall_beliefs.cypher
LET lost = [j IN judged WHERE j.lost AND j.b:Belief | j.b.id], lineages = [j IN judged WHERE j.b:Memory | j {.b, .status, .head_ids}], rejected = [x IN stating WHERE all(j IN judged WHERE NOT j.b IN x.held OR j.status = 'rejected') | x.t]
// A turn is outdated if all that it states lost its slots to values that a person or a tool stated.
CALL (stating, judged) {
  UNWIND stating AS x
  LET standing = [j IN judged WHERE j.b IN x.held]
  FILTER all(j IN standing WHERE j.lost AND size(j.contenders) = 1)
  UNWIND [j IN standing | j.contenders[0].b] AS leader
  WITH x, collect(DISTINCT leader) AS leaders
  FILTER all(b IN leaders WHERE EXISTS { (b)<-[:SUPPORTS]-(e:Event {tenant: $tenant}) WHERE e.trust >= 3 })
  RETURN collect({t: x.t, heads: [b IN leaders | b.id] + coll.distinct(coll.flatten([b IN leaders | [(b)<-[:SUPPORTS]-(e:Event {tenant: $tenant})-[:QUOTES]->(t:Turn {tenant: $tenant}) WHERE e.type = 'EVIDENCE' | t.id]]))}) AS outvoted
}
UNWIND others + [x IN believed WHERE x.trust >= $min_trust] AS hit
// Grouped rows no longer contain the lists above; a sort would measure the memory of all of them for each row.
WITH hit.n AS n, head(collect(hit)) AS hit, head(collect(lost)) AS lost, head(collect(outvoted)) AS outvoted, head(collect(rejected)) AS rejected, head(collect(lineages)) AS lineages
ORDER BY hit.score DESC, n.id
LIMIT $limit
CALL (hit, outvoted, lineages) {
  FILTER hit.kind = 'memory'
  WITH hit.n AS m, $valid AS valid, [x IN lineages WHERE x.b = hit.n][0] AS lineage
  CALL (m, lineage) {
    FILTER NOT $found.filtered
    // include: fragments/chain_heads.cypher
    // include: fragments/memory_card.cypher
    RETURN card
  UNION ALL
    FILTER $found.filtered
    // include: fragments/memory_dates_as_of.cypher
    LET status = lineage.status, head_ids = lineage.head_ids
    // include: fragments/memory_card_as_of.cypher
    RETURN card
  }
  // include: fragments/memory_reasons.cypher
  // include: fragments/memory_trust.cypher
  RETURN card {
    .*, created_at: toString(card.created_at), recorded_at: toString(card.recorded_at), last_seen_at: toString(card.last_seen_at)
  } AS item, reasons, stated, trust, [] AS heads, null AS reply
UNION ALL
  FILTER hit.kind = 'turn'
  WITH hit.n AS n
  RETURN n {
    .id, .episode_id, .position, .role, .name, .text, .time_zone, occurred_at: toString(n.occurred_at), recorded_at: toString(n.recorded_at)
  } AS item, null AS reasons, null AS stated, n.trust AS trust, coalesce([x IN outvoted WHERE x.t = n | x.heads][0], []) AS heads,
    [(n)-[:NEXT]->(x:Turn {tenant: $tenant}) WHERE x.occurred_at <= $valid AND ($known IS NULL OR x.recorded_at <= $known) | x {.id, .role, .text}][0] AS reply
UNION ALL
  FILTER hit.kind = 'episode'
  WITH hit.n AS p
  // include: fragments/episode_trust.cypher
  // include: fragments/episode_turns.cypher
  RETURN p {
    .id, .scope, .session_id, .summary, .gist, .entities, .importance, .summarised_by,
    content: left(p.content, 2000), occurred_at: toString(p.occurred_at), recorded_at: toString(p.recorded_at),
    compressed: p.turns_compressed IS NOT NULL OR EXISTS { (p)-[:ARCHIVED_AS]->(:Archive {tenant: $tenant}) },
    turns: turns, ended_at: toString(ended_at)
  } AS item, null AS reasons, null AS stated, trust, [] AS heads, null AS reply
UNION ALL
  FILTER hit.kind = 'belief'
  RETURN hit.item AS item, hit.reasons AS reasons, hit.stated AS stated, hit.trust AS trust, coalesce(hit.head_ids, []) AS heads, null AS reply
}
FILTER trust >= $min_trust
CALL (hit) {
  OPTIONAL MATCH (g:Rating {tenant: $tenant, kind: CASE hit.kind WHEN 'memory' THEN 'Memory' WHEN 'episode' THEN 'Episode' ELSE 'Belief' END, id: hit.n.id})
  LET valid = $valid
  // include: fragments/rating_decayed.cypher
  RETURN g {.games, elo: elo, touched_at: toString(g.touched_at)} AS rating
}
WITH hit, lost, hit.n IN rejected AS is_rejected, item, reasons, stated, trust, rating, heads, reply
ORDER BY hit.score DESC, item.id
WITH collect(hit {
  .node, .kind, .score, .initial, .projected, .verdict, .belief, .ambiguous, .assumed_many, .last_at, .lost, .other_candidates, .found_by,
  item: item, reasons: reasons, stated: stated, trust: trust, rating: rating, head_ids: heads, reply: reply, is_rejected: is_rejected
}) AS hits, coalesce(collect(lost)[0], []) AS lost
CALL (hits) {
  UNWIND CASE WHEN hits = [] AND NOT $found.filtered AND 'memory' IN $kinds THEN [1] ELSE [] END AS once
  MATCH (m:Memory)
  USING INDEX m:Memory(tenant, scope, status)
  WHERE m.tenant = $tenant AND m.scope IN $scopes AND m.status IS NOT NULL AND (NOT m.status IN $statuses OR m.rulings IS NOT NULL)
  LET node = m
  // include: fragments/rejected_for_reader.cypher
  WITH CASE WHEN reader_rejects THEN 'rejected' ELSE m.status END AS status, count(*) AS n
  FILTER NOT status IN $statuses
  RETURN collect([status, n]) AS hidden_counts
}
RETURN hits, lost, hidden_counts, datetime.realtime('Z') AS now, EXISTS { MATCH (r:Rejection) WHERE r.tenant = $tenant AND r.id IS NOT NULL AND r.scope IN $scopes + 'global' } AS ruled
