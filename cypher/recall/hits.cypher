// Return the results of a recall, best first: scores the candidates of recall/current or recall/filtered, reads the best
// ones, and computes the belief of beliefs among them from their evidence. Twins: oracles/fusion.py, oracles/blending.py,
// oracles/tracerank.py, oracles/lineage.py, oracles/trust.py
// mode: read
// rows: one
// source: Vestig M3, TraceRank; ESPER, blended retrieval; Engram, recall fusion
// plan: NodeUniqueIndexSeek NodeIndexSeek
// params:
//   $tenant              string    tenant name
//   $scopes              list      read scopes
//   $found               map       one row of recall/current or recall/filtered; a candidate may have late and late_context: max-sim of its own tokens, and also with the previous turn's
//   $statuses            list      statuses to return; outvoted: a candidate of a slot with another leader
//   $kinds               list      subset of 'memory', 'belief', 'turn', 'episode'
//   $query_words         list      words of the question, lower case
//   $dates               list      pairs of times: the spans that the question names
//   $human_roles         list      roles of people, lower case
//   $min_trust           integer   lowest rank of trust, see rules/trust.py; 0: any
//   $pool                integer   number of candidates per list
//   $limit               integer   maximum number of hits
//   $scoring             map       scoring parameters: see rules/scoring.py score_params
//   $mu                  float     mean cosine of a query and unrelated texts, used to calibrate similarity
//   $trace               map       TraceRank: see model/recall.py; kept: whether cached traces use these values
//   $valid               datetime  upper bound of valid time
//   $known               datetime  upper bound of known time; null: no bound
//   $policy              map       null: the declared policies
//   $default_policy      map       policy of undeclared predicates
//   $weights             map       reliability of each source type, in (0, 1]
//   $test                map       upper, lower, promote_step, demote_step, max_confidence, min_confidence
//   $vitality_constants  map       vitality constants: see rules/formulas.py VitalityConstants
//   $rating_decay        map       floor of ratings, and days, the time constant of their decay
// columns:
//   - hits           list      maps, best first: kind, item (a card), score, parts, vector_score (Neo4j's, in [0, 1]) or null, vector_rank or null, bm25 or null, bm25_rank or null, reasons, trust (its rank); trace of a memory; belief values of a belief; times as ISO text, which a driver decodes much faster
//   - lost           list      ids of lost beliefs that memories among the hits claim
//   - hidden_counts  list      if there are no hits: pairs of a status and the number of items it hides
//   - now            datetime  server clock

UNWIND $found.candidates AS c
MATCH (n)
WHERE elementId(n) = c.node AND n.tenant = $tenant AND n.scope IN $scopes
WITH n, c.kind AS kind, c
LET lists = [l IN [
  {list: 'vector', found: c.vector}, {list: 'words', found: c.words},
  {list: 'late', found: c.late}, {list: 'late_context', found: c.late_context}
] WHERE l.found IS NOT NULL]
// include: fragments/recall_points.cypher
// include: fragments/recall_parts.cypher
// include: fragments/recall_scores.cypher
// include: fragments/recall_shortlist.cypher
CALL (others) {
  UNWIND others AS hit
  CALL (hit) {
    FILTER hit.kind = 'memory' AND NOT $found.filtered
    WITH hit.n AS m, $valid AS valid
    // include: fragments/chain_heads.cypher
    // include: fragments/memory_card.cypher
    // include: fragments/recall_memory.cypher
  UNION ALL
    FILTER hit.kind = 'memory' AND $found.filtered
    WITH hit.n AS m, $valid AS valid
    // include: fragments/memory_dates_as_of.cypher
    // include: fragments/lineage_as_of.cypher
    // include: fragments/memory_card_as_of.cypher
    // include: fragments/recall_memory.cypher
  UNION ALL
    // include: fragments/recall_turn.cypher
  UNION ALL
    // include: fragments/recall_episode.cypher
  }
  // include: fragments/recall_found.cypher
}
LET asked = [x IN shortlist | x.n] + claimed
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
UNWIND found + [x IN believed WHERE x.trust >= $min_trust] AS hit
// The lists are dropped from the rows, because a sort measures the memory of their contents repeatedly.
WITH hit, lost
ORDER BY hit.score DESC, hit.item.id
LIMIT $limit
CALL (hit) {
  FILTER hit.kind = 'memory'
  WITH hit.n AS m, $valid AS valid
  // include: fragments/memory_reasons.cypher
  // include: fragments/memory_trust.cypher
  RETURN reasons, trust
UNION ALL
  FILTER hit.kind = 'episode'
  WITH hit.n AS p
  // include: fragments/episode_trust.cypher
  RETURN null AS reasons, trust
UNION ALL
  FILTER hit.kind IN ['belief', 'turn']
  RETURN hit.reasons AS reasons, coalesce(hit.trust, hit.n.trust, 0) AS trust
}
FILTER trust >= $min_trust
OPTIONAL CALL (hit) {
  FILTER hit.kind = 'belief'
  WITH hit.n AS b, $valid AS valid, hit.initial AS initial, hit.evidence AS evidence
  CALL (b) {
    OPTIONAL MATCH (b)<-[:SUPPORTS|REFUTES|CONCERNS]-(x:Event)
    WHERE $known IS NOT NULL AND x.occurred_at <= $valid AND x.recorded_at <= $known
    RETURN coalesce(min(x.occurred_at), b.created_at) AS created_at
  }
  // include: fragments/vitality.cypher
  RETURN vitality {
    .*, last_access_at: toString(vitality.last_access_at), prior_at: toString(vitality.prior_at),
    flagged_at: toString(vitality.flagged_at)
  } AS vitality
}
CALL (hit) {
  OPTIONAL MATCH (g:Rating {tenant: $tenant, kind: CASE hit.kind WHEN 'memory' THEN 'Memory' WHEN 'episode' THEN 'Episode' ELSE 'Belief' END, id: hit.item.id})
  // include: fragments/rating_decayed.cypher
  RETURN g {.games, elo: elo, touched_at: toString(g.touched_at)} AS rating
}
WITH hit, lost, reasons, trust, vitality, rating
ORDER BY hit.score DESC, hit.item.id
WITH collect(hit {
  .kind, .item, .score, .parts, .vector_score, .vector_rank, .bm25, .bm25_rank, .trace, .initial, .projected, .verdict,
  .belief, .ambiguous, .last_at, .lost, .head_ids, .other_candidates, .found_by, reasons: reasons, trust: trust, vitality: vitality, rating: rating
}) AS hits, coalesce(collect(lost)[0], []) AS lost
CALL (hits) {
  FILTER hits = [] AND NOT $found.filtered AND 'memory' IN $kinds
  MATCH (m:Memory)
  USING INDEX m:Memory(tenant, scope, status)
  WHERE m.tenant = $tenant AND m.scope IN $scopes AND m.status IS NOT NULL AND NOT m.status IN $statuses
  WITH m.status AS status, count(*) AS n
  RETURN collect([status, n]) AS hidden_counts
}
RETURN hits, lost, hidden_counts, datetime.realtime('Z') AS now
