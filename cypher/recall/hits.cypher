// Return the results of a recall, best first. Combines the candidates of recall/current or recall/filtered with belief
// values, computed from the evidence of the shortlist. A separate query, because both need it and the server plans a
// short query faster. Twin: oracles/blending.py
// mode: read
// rows: one
// source: Vestig M3, TraceRank; ESPER, blended retrieval; Engram, recall fusion
// plan: NodeUniqueIndexSeek NodeIndexSeek
// params:
//   $tenant              string    tenant name
//   $scopes              list      read scopes
//   $found               map       one row of recall/current or recall/filtered
//   $statuses            list      statuses to return; outvoted: a candidate of a slot with another leader
//   $limit               integer   maximum number of hits
//   $scoring             map       scoring parameters: see rules/scoring.py score_params
//   $valid               datetime  upper bound of valid time
//   $known               datetime  upper bound of known time; null: no bound
//   $policy              map       null: the declared policies
//   $present_policy      boolean   true: use the policy declared now; false: the policy as of $valid and $known
//   $default_policy      map       policy of undeclared predicates
//   $weights             map       reliability of each source type, in (0, 1]
//   $test                map       upper, lower, promote_step, demote_step, max_confidence, min_confidence
//   $vitality_constants  map       vitality constants: see rules/vitality.py sent
//   $rating_decay        map       floor of ratings, and days, the time constant of their decay
// columns:
//   - hits           list      maps, best first: kind, item (a card), score, parts, vector_score (Neo4j's, in [0, 1]) or null, vector_rank or null, bm25 or null, bm25_rank or null, reasons; trace of a memory; belief values of a belief; times as ISO text, which a driver decodes much faster
//   - lost           list      ids of lost beliefs that memories among the hits claim
//   - hidden_counts  list      if there are no hits: pairs of a status and the number of items it hides
//   - now            datetime  server clock

CALL () {
  UNWIND $found.shortlist AS x
  MATCH (n:Belief {tenant: $tenant, id: x.id})
  WHERE n.scope IN $scopes
  RETURN collect(x {.*, n: n}) AS shortlist
}
LET asked = [x IN shortlist | x.n] + COLLECT {
  UNWIND $found.claimed AS id
  MATCH (b:Belief {tenant: $tenant, id: id})
  WHERE b.scope IN $scopes
  RETURN b
}
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
LET lost = [j IN judged WHERE j.lost | j.b.id]
UNWIND $found.found + believed AS hit
// The lists are dropped from the rows, because a sort measures the memory of their contents repeatedly.
WITH hit, lost
ORDER BY hit.score DESC, hit.item.id
LIMIT $limit
OPTIONAL CALL (hit) {
  FILTER hit.kind = 'belief'
  WITH hit.n AS b, $valid AS valid, hit.initial AS initial, hit.evidence AS evidence
  CALL (b) {
    OPTIONAL MATCH (b)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event)
    WHERE $known IS NOT NULL AND x.occurred_at <= $valid AND x.recorded_at <= $known
    RETURN coalesce(min(x.occurred_at), b.created_at) AS created_at
  }
  // include: fragments/vitality.cypher
  RETURN vitality {.*, last_access_at: toString(vitality.last_access_at), flagged_at: toString(vitality.flagged_at)} AS vitality
}
CALL (hit) {
  OPTIONAL MATCH (g:Rating {tenant: $tenant, kind: CASE hit.kind WHEN 'memory' THEN 'Memory' ELSE 'Belief' END, id: hit.item.id})
  // include: fragments/rating_decayed.cypher
  RETURN g {.games, elo: elo, touched_at: toString(g.touched_at)} AS rating
}
WITH hit, lost, vitality, rating
ORDER BY hit.score DESC, hit.item.id
WITH collect(hit {
  .kind, .item, .score, .parts, .vector_score, .vector_rank, .bm25, .bm25_rank, .reasons, .trace, .initial, .projected, .verdict,
  .belief, .ambiguous, .last_at, .lost, .head_ids, .other_candidates, .found_by, vitality: vitality, rating: rating
}) AS hits, coalesce(collect(lost)[0], []) AS lost
RETURN hits, lost, CASE hits WHEN [] THEN $found.hidden_counts ELSE [] END AS hidden_counts, datetime.realtime('Z') AS now
