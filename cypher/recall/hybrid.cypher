// Candidates by meaning and by words, fused by reciprocal rank, or by meaning alone: over memories and, when asked, turns. Each
// list ranks its own candidates, memories by meaning as TraceRank has it; equal ones share a rank. Twins: rules/fusion.py,
// rules/tracerank.py
// mode: read
// rows: one
// source: reciprocal rank fusion, score = sum of weight / (k + rank); Vestig M3, TraceRank; ESPER, flat
// plan: NodeVectorIndexSearch
// params:
//   $tenant         string    whose
//   $scopes         list      scopes the reader can see
//   $statuses       list      of memories that may be shown
//   $kinds          list      'memory', 'turn'
//   $embedding      list      of the query
//   $words          string    Lucene query on memories, walled; see rules/words.py
//   $turn_words     string    Lucene query on turns, walled
//   $pool           integer   candidates of each list
//   $score          string    what to rank by: fused, flat (1 / (1 + d)) or trace (max(similarity, 0) * (1 + k ln(1 + trace)))
//   $mu             float     mean cosine of a query to what it has nothing to do with, by which similarity is calibrated
//   $trace          map       tau_days, spacing and weight of TraceRank; kept: whether cached traces are by these
//   $valid          datetime  now
//   $known          datetime  what was recorded later does not count in a trace; null: everything
//   $k              integer   of the fusion
//   $vector_weight  float     of the lists by meaning
//   $words_weight   float     of the lists by words
//   $limit          integer   hits to return
// columns:
//   - hits    list  maps, best first: kind, item (a memory card or a turn), score, vector_score (Neo4j's, in [0, 1]) or null, vector_rank or null, bm25 or null, bm25_rank or null, trace of a memory or null
//   - hidden  list  when there are no hits: pairs of a status and how many memories it holds back

CALL () {
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
    RETURN 'memory' AS kind, 'vector' AS list, $vector_weight AS weight, n, found, trace
  UNION ALL
    FILTER 'memory' IN $kinds AND $words <> ''
    CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words, {limit: $pool}) YIELD node AS n, score AS found
    // A query of nothing but stop words matches everything, with a score of 0.
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
    RETURN 'memory' AS kind, 'words' AS list, $words_weight AS weight, n, found, 0.0 AS trace
  UNION ALL
    FILTER 'turn' IN $kinds
    MATCH (n:Turn)
    SEARCH n IN (
      VECTOR INDEX turn_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes
      LIMIT $pool
    ) SCORE AS found
    RETURN 'turn' AS kind, 'vector' AS list, $vector_weight AS weight, n, found, 0.0 AS trace
  UNION ALL
    FILTER 'turn' IN $kinds AND $turn_words <> ''
    CALL db.index.fulltext.queryNodes('turn_text_fulltext', $turn_words, {limit: $pool}) YIELD node AS n, score AS found
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes
    RETURN 'turn' AS kind, 'words' AS list, $words_weight AS weight, n, found, 0.0 AS trace
  }
  WITH *, (2 * found - 1 - $mu) / (1 - $mu) AS similarity
  WITH kind, list, weight, n, found, CASE
    WHEN list = 'words' THEN found
    WHEN $score = 'flat' THEN 1 / (1 + sqrt(CASE WHEN found < 1 THEN 4 - 4 * found ELSE 0 END))
    WHEN similarity > 0 THEN similarity * (1 + $trace.weight * log(1 + trace))
    ELSE similarity
  END AS points
  // One group per distinct score, best first; its members share the rank after all that are better.
  WITH kind, list, weight, points, collect([n, found]) AS equals
  ORDER BY kind, list, points DESC
  WITH kind, list, weight, collect({points: points, equals: equals}) AS groups
  WITH *, reduce(ranks = [1], group IN groups | ranks + (ranks[-1] + size(group.equals))) AS ranks
  UNWIND range(0, size(groups) - 1) AS place
  UNWIND groups[place].equals AS x
  WITH kind, x[0] AS n,
       sum(CASE
         WHEN $score = 'fused' THEN weight / ($k + ranks[place])
         WHEN groups[place].points > 0 THEN groups[place].points
         ELSE 0.0
       END) AS score,
       max(CASE list WHEN 'vector' THEN x[1] END) AS vector_score,
       max(CASE list WHEN 'vector' THEN ranks[place] END) AS vector_rank,
       max(CASE list WHEN 'words' THEN x[1] END) AS bm25,
       max(CASE list WHEN 'words' THEN ranks[place] END) AS bm25_rank
  ORDER BY score DESC, n.id
  LIMIT $limit
  CALL (kind, n) {
    WITH n AS m, $valid AS valid
    FILTER kind = 'memory'
    // include: fragments/memory_card.cypher
    // include: fragments/trace_told.cypher
    // include: fragments/trace_fold.cypher
    // include: fragments/trace_faded.cypher
    RETURN card AS item, trace
  UNION ALL
    FILTER kind = 'turn'
    RETURN n {.id, .episode_id, .position, .role, .name, .text, .occurred_at, .recorded_at} AS item, null AS trace
  }
  WITH kind, item, score, vector_score, vector_rank, bm25, bm25_rank, trace
  ORDER BY score DESC, item.id
  RETURN collect({
    kind: kind, item: item, score: score, vector_score: vector_score, vector_rank: vector_rank,
    bm25: bm25, bm25_rank: bm25_rank, trace: trace
  }) AS hits
}
CALL (hits) {
  FILTER size(hits) = 0 AND 'memory' IN $kinds
  MATCH (m:Memory)
  USING INDEX m:Memory(tenant, scope, status)
  WHERE m.tenant = $tenant AND m.scope IN $scopes AND m.status IS NOT NULL AND NOT m.status IN $statuses
  WITH m.status AS status, count(*) AS n
  RETURN collect([status, n]) AS hidden
}
RETURN hits, hidden
