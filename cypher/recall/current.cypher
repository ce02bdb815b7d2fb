// Return the current recall candidates with scores, from vector and BM25 search over memories, beliefs and turns.
// Contains the cards of the best memories and turns, and a shortlist of beliefs, whose belief recall/hits computes from
// their evidence. Twins: oracles/fusion.py, oracles/blending.py, oracles/tracerank.py
// mode: read
// rows: one
// then: recall/hits
// source: Vestig M3, TraceRank; ESPER, blended retrieval; Engram, recall fusion
// plan: NodeVectorIndexSearch
// params:
//   $tenant           string    tenant name
//   $scopes           list      read scopes
//   $statuses         list      statuses to return; outvoted: a candidate of a slot with another leader
//   $kinds            list      subset of 'memory', 'belief', 'turn'
//   $embedding        list      embedding of the query
//   $words            map       memory, belief, turn: Lucene queries with the tenant and scope filter; '' skips the search; see rules/fulltext.py
//   $query_words      list      words of the question, lower case
//   $dates            list      pairs of times: the spans that the question names
//   $non_human_roles  list      roles whose turns are not by a person
//   $pool             integer   number of candidates per list
//   $limit            integer   maximum number of hits
//   $scoring          map       scoring parameters: see rules/scoring.py score_params
//   $mu               float     mean cosine of a query and unrelated texts, used to calibrate similarity
//   $trace            map       tau_days, spacing and weight of TraceRank; kept: whether cached traces use these values
//   $valid            datetime  time of the read
//   $known            datetime  upper bound of known time; null: no bound
// columns:
//   - found          list  maps of memories and turns: kind, item (a card), score, parts, vector_score (Neo4j's, in [0, 1]) or null, vector_rank or null, bm25 or null, bm25_rank or null, reasons; trace of a memory; times as ISO text, which a driver decodes much faster
//   - claimed        list  ids of beliefs that these memories claim
//   - hidden_counts  list  if nothing was found: pairs of a status and the number of memories it hides
//   - shortlist      list  maps of beliefs: id, kind, relevance, score, parts, vector_score, vector_rank, bm25, bm25_rank

CALL () {
    FILTER 'memory' IN $kinds
    MATCH (n:Memory)
    SEARCH n IN (
      VECTOR INDEX memory_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
      LIMIT $pool
    ) SCORE AS found
    RETURN 'memory' AS kind, 'vector' AS list, n, found
  UNION ALL
    FILTER 'memory' IN $kinds AND $words.memory <> ''
    CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words.memory, {limit: $pool}) YIELD node AS n, score AS found
    // A query that consists of stop words matches everything with a score of 0.
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
    RETURN 'memory' AS kind, 'words' AS list, n, found
  UNION ALL
    FILTER 'belief' IN $kinds
    MATCH (n:Belief)
    SEARCH n IN (
      VECTOR INDEX belief_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
      LIMIT $pool
    ) SCORE AS found
    RETURN 'belief' AS kind, 'vector' AS list, n, found
  UNION ALL
    FILTER 'belief' IN $kinds AND $words.belief <> ''
    CALL db.index.fulltext.queryNodes('belief_statement_fulltext', $words.belief, {limit: $pool}) YIELD node AS n, score AS found
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
    RETURN 'belief' AS kind, 'words' AS list, n, found
  UNION ALL
    CALL () {
      FILTER 'turn' IN $kinds
      MATCH (n:Turn)
      SEARCH n IN (
        VECTOR INDEX turn_embedding_vector
        FOR $embedding
        WHERE n.tenant = $tenant AND n.scope IN $scopes
        LIMIT $pool
      ) SCORE AS found
      RETURN 'vector' AS list, n, found
    UNION ALL
      FILTER 'turn' IN $kinds AND $words.turn <> ''
      CALL db.index.fulltext.queryNodes('turn_text_fulltext', $words.turn, {limit: $pool}) YIELD node AS n, score AS found
      FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes
      RETURN 'words' AS list, n, found
    }
    MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
    // include: fragments/episode_archived.cypher
    FILTER NOT put_away
    RETURN 'turn' AS kind, list, n, found
}
WITH n, min(kind) AS kind, null AS seen, collect({list: list, found: found}) AS lists
// include: fragments/recall_points.cypher
// include: fragments/recall_parts.cypher
// include: fragments/recall_scores.cypher
// include: fragments/recall_shortlist.cypher
CALL (others) {
  UNWIND others AS hit
  CALL (hit) {
    FILTER hit.kind = 'memory'
    WITH hit.n AS m, $valid AS valid
    // include: fragments/chain_heads.cypher
    // include: fragments/memory_card.cypher
    // include: fragments/memory_reasons.cypher
    // include: fragments/recall_memory.cypher
  UNION ALL
    // include: fragments/recall_turn.cypher
  }
  // include: fragments/recall_found.cypher
}
CALL (found) {
  FILTER size(found) = 0 AND 'memory' IN $kinds
  MATCH (m:Memory)
  USING INDEX m:Memory(tenant, scope, status)
  WHERE m.tenant = $tenant AND m.scope IN $scopes AND m.status IS NOT NULL AND NOT m.status IN $statuses
  WITH m.status AS status, count(*) AS n
  RETURN collect([status, n]) AS hidden_counts
}
RETURN found, claimed, hidden_counts, [x IN shortlist | x {
  .vector_score, .vector_rank, .bm25, .bm25_rank, .relevance, .score, .parts, .kind, id: x.n.id
}] AS shortlist
