// Return the candidates of a recall: what vector and BM25 search find among memories, beliefs, turns and episodes, with their token states.
// The client ranks them before recall/hits reads the best; a CALL ranks them by similarity alone.
// mode: read
// rows: one
// then: recall/hits
// source: Vestig M3, TraceRank; ESPER, blended retrieval; Engram, recall fusion
// plan: NodeVectorIndexSearch
// params:
//   $tenant       string    tenant name
//   $scopes       list      read scopes
//   $statuses     list      statuses to return; outvoted: a candidate of a slot with another leader
//   $kinds        list      subset of 'memory', 'belief', 'turn', 'episode'
//   $embedding    list      embedding of the query
//   $words        map       memory, belief, turn, episode: Lucene queries with the tenant and scope filter; '' skips the search; see rules/fulltext.py
//   $pool         integer   number of candidates per list
//   $valid        datetime  time of the read
//   $known        datetime  upper bound of known time; null: no bound
//   $late         boolean   whether to return token states
//   $query_words  list      words of the question, lower case
//   $dates        list      pairs of times: the spans that the question names
//   $human_roles  list      roles of people, lower case
//   $scoring      map       scoring parameters: see rules/scoring.py score_params
//   $trace        map       TraceRank: see model/recall.py; kept: whether cached traces use these values
// columns:
//   - candidates  list     lists: element id, id, kind, vector and words (Neo4j's scores in each list, or null), trace, episode id and position of a turn, whether the question names its speaker or subject, whether it names its time, whether its role is that of an assistant or a tool, days since it was last stated (null unless $scoring weights them), number of accesses (likewise), token states and those of the previous turn (null unless $late)
//   - filtered    boolean  false: recall/hits reads items as of now, by their caches

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
  UNION ALL
    CALL () {
      FILTER 'episode' IN $kinds
      MATCH (p:Episode)
      SEARCH p IN (
        VECTOR INDEX episode_embedding_vector
        FOR $embedding
        WHERE p.tenant = $tenant AND p.scope IN $scopes
        LIMIT $pool
      ) SCORE AS found
      RETURN 'vector' AS list, p, found
    UNION ALL
      FILTER 'episode' IN $kinds AND $words.episode <> ''
      CALL db.index.fulltext.queryNodes('episode_summary_fulltext', $words.episode, {limit: $pool}) YIELD node AS p, score AS found
      FILTER found > 0 AND p.tenant = $tenant AND p.scope IN $scopes
      RETURN 'words' AS list, p, found
    }
    // include: fragments/episode_archived.cypher
    FILTER NOT put_away
    RETURN 'episode' AS kind, list, p AS n, found
}
WITH n, min(kind) AS kind, max(CASE list WHEN 'vector' THEN found END) AS vector, max(CASE list WHEN 'words' THEN found END) AS words
// include: fragments/recall_candidates.cypher
RETURN candidates, false AS filtered
