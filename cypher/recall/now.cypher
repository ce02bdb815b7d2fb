// What fits a question now: candidates by meaning and by words over memories, beliefs and turns, each scored, what is believed of
// the beliefs read from their evidence, and the best of all. Twins: rules/fusion.py, rules/blending.py, rules/tracerank.py
// mode: read
// rows: one
// source: Vestig M3, TraceRank; ESPER, blended retrieval; Engram, recall fusion
// plan: NodeVectorIndexSearch
// params:
//   $tenant          string    whose
//   $scopes          list      scopes the reader can see
//   $statuses        list      of what may be shown; outvoted: a value that another one leads
//   $kinds           list      'memory', 'belief', 'turn'
//   $embedding       list      of the query
//   $words           map       memory, belief, turn: Lucene queries, walled; '' asks nothing; see rules/words.py
//   $asked           list      words of the question, lower case
//   $dates           list      pairs of instants, spans that the question names
//   $machines        list      roles whose turns no person said
//   $pool            integer   candidates of each list
//   $limit           integer   hits to return
//   $by              map       how to score: see rules/blending.py sent
//   $mu              float     mean cosine of a query to what it has nothing to do with, by which similarity is calibrated
//   $trace           map       tau_days, spacing and weight of TraceRank; kept: whether cached traces are by these
//   $valid           datetime  now
//   $known           datetime  null: everything
//   $policy          map       null: predicates are read as declared
//   $present_policy  boolean   false
//   $default_policy  map       of a predicate that nobody declared
//   $weights         map       reliability of each source type, in (0, 1]
//   $test            map       upper, lower, promote_step, demote_step, most, least
//   $vital           map       the constants of a belief's life: see rules/vitality.py sent
//   $fade            map       floor of ratings, and days, the time constant of their fading
// columns:
//   - hits    list      maps, best first: kind, item (a card), score, parts, vector_score (Neo4j's, in [0, 1]) or null, vector_rank or null, bm25 or null, bm25_rank or null, reasons; trace of a memory; what is believed of a belief; instants as ISO text, which a driver reads much faster
//   - lost    list      ids of beliefs that memories among the hits claim, and that have lost
//   - hidden  list      when there are no hits: pairs of a status and how much it holds back
//   - now     datetime  the server's clock

CALL () {
    FILTER 'memory' IN $kinds
    MATCH (n:Memory)
    SEARCH n IN (
      VECTOR INDEX memory_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
      LIMIT $pool
    ) SCORE AS found
    WITH n, n AS m, found, $valid AS valid
    // include: fragments/trace_told.cypher
    // include: fragments/trace_fold.cypher
    // include: fragments/trace_faded.cypher
    RETURN 'memory' AS kind, 'vector' AS list, n, found, trace
  UNION ALL
    FILTER 'memory' IN $kinds AND $words.memory <> ''
    CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words.memory, {limit: $pool}) YIELD node AS n, score AS found
    // A query of nothing but stop words matches everything, with a score of 0.
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
    RETURN 'memory' AS kind, 'words' AS list, n, found, 0.0 AS trace
  UNION ALL
    FILTER 'belief' IN $kinds
    MATCH (n:Belief)
    SEARCH n IN (
      VECTOR INDEX belief_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
      LIMIT $pool
    ) SCORE AS found
    RETURN 'belief' AS kind, 'vector' AS list, n, found, 0.0 AS trace
  UNION ALL
    FILTER 'belief' IN $kinds AND $words.belief <> ''
    CALL db.index.fulltext.queryNodes('belief_statement_fulltext', $words.belief, {limit: $pool}) YIELD node AS n, score AS found
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
    RETURN 'belief' AS kind, 'words' AS list, n, found, 0.0 AS trace
  UNION ALL
    FILTER 'turn' IN $kinds
    MATCH (n:Turn)
    SEARCH n IN (
      VECTOR INDEX turn_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes
      LIMIT $pool
    ) SCORE AS found
    MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
    // include: fragments/put_away.cypher
    FILTER NOT put_away
    RETURN 'turn' AS kind, 'vector' AS list, n, found, 0.0 AS trace
  UNION ALL
    FILTER 'turn' IN $kinds AND $words.turn <> ''
    CALL db.index.fulltext.queryNodes('turn_text_fulltext', $words.turn, {limit: $pool}) YIELD node AS n, score AS found
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes
    MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
    // include: fragments/put_away.cypher
    FILTER NOT put_away
    RETURN 'turn' AS kind, 'words' AS list, n, found, 0.0 AS trace
}
// include: fragments/recall_points.cypher
// include: fragments/recall_parts.cypher
// include: fragments/recall_scores.cypher
// include: fragments/recall_shortlist.cypher
// include: fragments/judged_slots.cypher
// include: fragments/recall_values.cypher
// include: fragments/recall_beliefs.cypher
LET lost = [j IN judged WHERE j.lost | j.b.id]
UNWIND others + believed AS hit
// The lists are left behind: a sort counts what its rows hold, over and over.
WITH hit, lost
ORDER BY hit.score DESC, hit.n.id
LIMIT $limit
CALL (hit) {
  WITH hit.n AS m, $valid AS valid
  FILTER hit.kind = 'memory'
  // include: fragments/heads.cypher
  // include: fragments/memory_card.cypher
  // include: fragments/memory_reasons.cypher
  // include: fragments/trace_told.cypher
  // include: fragments/trace_fold.cypher
  // include: fragments/trace_faded.cypher
  RETURN {trace: trace, reasons: reasons, item: card {
    .*, created_at: toString(card.created_at), recorded_at: toString(card.recorded_at), last_seen_at: toString(card.last_seen_at)
  }} AS of
UNION ALL
  WITH hit.n AS n
  FILTER hit.kind = 'turn'
  RETURN {item: n {
    .id, .episode_id, .position, .role, .name, .text, occurred_at: toString(n.occurred_at), recorded_at: toString(n.recorded_at)
  }} AS of
UNION ALL
  WITH hit, hit.n AS b, hit.n.created_at AS created_at, $valid AS valid, hit.initial AS initial, hit.told AS told
  FILTER hit.kind = 'belief'
  // include: fragments/vitality.cypher
  RETURN hit {
    .*, vitality: vitality {.*, last_access_at: toString(vitality.last_access_at), flagged_at: toString(vitality.flagged_at)}
  } AS of
}
// include: fragments/recall_hits.cypher
CALL (hits) {
  FILTER size(hits) = 0 AND 'memory' IN $kinds
  MATCH (m:Memory)
  USING INDEX m:Memory(tenant, scope, status)
  WHERE m.tenant = $tenant AND m.scope IN $scopes AND m.status IS NOT NULL AND NOT m.status IN $statuses
  WITH m.status AS status, count(*) AS n
  RETURN collect([status, n]) AS hidden
}
RETURN hits, lost, hidden, datetime.realtime('Z') AS now
