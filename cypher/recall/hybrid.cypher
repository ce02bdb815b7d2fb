// Candidates by meaning and by words, fused by reciprocal rank: over memories and, when asked, turns. Each list ranks
// its own candidates; equal scores share a rank. Twin of the fusion: rules/fusion.py
// mode: read
// rows: one
// source: reciprocal rank fusion, score = sum of weight / (k + rank)
// plan: NodeVectorIndexSearch
// params:
//   $tenant         string   whose
//   $scopes         list     scopes the reader can see
//   $statuses       list     of memories that may be shown
//   $kinds          list     'memory', 'turn'
//   $embedding      list     of the query
//   $words          string   Lucene query on memories, walled; see rules/words.py
//   $turn_words     string   Lucene query on turns, walled
//   $pool           integer  candidates of each list
//   $k              integer  of the fusion
//   $vector_weight  float    of the lists by meaning
//   $words_weight   float    of the lists by words
//   $limit          integer  hits to return
// columns:
//   - hits    list  maps, best first: kind, item (a memory card or a turn), score, vector_score (Neo4j's, in [0, 1]) or null, vector_rank or null, bm25 or null, bm25_rank or null
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
    RETURN 'memory' AS kind, 'vector' AS list, $vector_weight AS weight, n, found
  UNION ALL
    FILTER 'memory' IN $kinds AND $words <> ''
    CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words, {limit: $pool}) YIELD node AS n, score AS found
    // A query of nothing but stop words matches everything, with a score of 0.
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
    RETURN 'memory' AS kind, 'words' AS list, $words_weight AS weight, n, found
  UNION ALL
    FILTER 'turn' IN $kinds
    MATCH (n:Turn)
    SEARCH n IN (
      VECTOR INDEX turn_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes
      LIMIT $pool
    ) SCORE AS found
    RETURN 'turn' AS kind, 'vector' AS list, $vector_weight AS weight, n, found
  UNION ALL
    FILTER 'turn' IN $kinds AND $turn_words <> ''
    CALL db.index.fulltext.queryNodes('turn_text_fulltext', $turn_words, {limit: $pool}) YIELD node AS n, score AS found
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes
    RETURN 'turn' AS kind, 'words' AS list, $words_weight AS weight, n, found
  }
  // One group per distinct score, best first; its members share the rank after all that are better.
  WITH kind, list, weight, found, collect(n) AS equals
  ORDER BY kind, list, found DESC
  WITH kind, list, weight, collect({found: found, equals: equals}) AS groups
  WITH *, reduce(ranks = [1], group IN groups | ranks + (ranks[-1] + size(group.equals))) AS ranks
  UNWIND range(0, size(groups) - 1) AS place
  UNWIND groups[place].equals AS n
  WITH kind, n,
       sum(weight / ($k + ranks[place])) AS score,
       max(CASE list WHEN 'vector' THEN groups[place].found END) AS vector_score,
       max(CASE list WHEN 'vector' THEN ranks[place] END) AS vector_rank,
       max(CASE list WHEN 'words' THEN groups[place].found END) AS bm25,
       max(CASE list WHEN 'words' THEN ranks[place] END) AS bm25_rank
  ORDER BY score DESC, n.id
  LIMIT $limit
  CALL (kind, n) {
    WITH n AS m
    FILTER kind = 'memory'
    // include: fragments/memory_card.cypher
    RETURN card AS item
  UNION ALL
    FILTER kind = 'turn'
    RETURN n {.id, .episode_id, .position, .role, .name, .text, .occurred_at, .recorded_at} AS item
  }
  WITH kind, item, score, vector_score, vector_rank, bm25, bm25_rank
  ORDER BY score DESC, item.id
  RETURN collect({
    kind: kind, item: item, score: score, vector_score: vector_score, vector_rank: vector_rank,
    bm25: bm25, bm25_rank: bm25_rank
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
