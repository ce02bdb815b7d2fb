// Return the candidates of a recall: what vector and BM25 search find among memories, beliefs, turns and episodes, with their token states.
// The client ranks them before recall/hits reads the best; a CALL ranks them by similarity alone.
// mode: read
// rows: one
// then: recall/hits
// source: Vestig M3, TraceRank; ESPER, blended retrieval; Engram, recall fusion
// plan: NodeVectorIndexSearch
// params:
//   $scopes       list      read scopes
//   $statuses     list      statuses to return; outvoted: a candidate of a slot with another leader
//   $kinds        list      subset of 'memory', 'belief', 'turn', 'episode'
//   $embedding    list      embedding of the query
//   $words        map       memory, belief, turn, episode: Lucene queries with the tenant and scope filter; '' skips the search; see rules/fulltext.py
//   $pool         integer   number of candidates per list
//   $wide_pool    integer   number of matches of words per kind among which the best are chosen
//   $valid        datetime  time of the read
//   $known        datetime  upper bound of known time; null: no bound
//   $late         boolean   whether to return token states
//   $query_words  list      words of the question, lower case
//   $dates        list      pairs of times: the spans that the question names
//   $human_roles  list      roles of people, lower case
// columns:
//   - candidates  list     lists: element id, id, kind, vector and words (Neo4j's score, and BM25; null if not in the list), trace, episode id and position of a turn, whether the question names its speaker or subject, whether it names its time, whether its role is that of an assistant or a tool, days since it was last stated (null unless $scoring weights them), number of accesses (likewise), token states and those of the previous turn (null unless $late)
//   - filtered    boolean  false: recall/hits reads items as of now, by their caches

CALL () {
  CALL () {
    FILTER 'memory' IN $kinds AND $words.memory <> ''
    CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words.memory, {limit: $wide_pool}) YIELD node AS n, score AS found
    FILTER n.tenant = $tenant
    RETURN 'memory' AS kind, n, found
  UNION ALL
    FILTER 'belief' IN $kinds AND $words.belief <> ''
    CALL db.index.fulltext.queryNodes('belief_statement_fulltext', $words.belief, {limit: $wide_pool}) YIELD node AS n, score AS found
    FILTER n.tenant = $tenant
    RETURN 'belief' AS kind, n, found
  UNION ALL
    FILTER 'turn' IN $kinds AND $words.turn <> ''
    CALL db.index.fulltext.queryNodes('turn_text_fulltext', $words.turn, {limit: $wide_pool}) YIELD node AS n, score AS found
    FILTER n.tenant = $tenant
    RETURN 'turn' AS kind, n, found
  UNION ALL
    FILTER 'episode' IN $kinds AND $words.episode <> ''
    CALL db.index.fulltext.queryNodes('episode_summary_fulltext', $words.episode, {limit: $wide_pool}) YIELD node AS n, score AS found
    FILTER n.tenant = $tenant
    RETURN 'episode' AS kind, n, found
  }
  // include: fragments/word_weights.cypher
  WITH kind, collect({alike: alike, weight: weight}) AS groups
  // Twice the pool of texts are compared by length. The queries of the index filter by scope and status; recall/hits filters by scope again.
  UNWIND reduce(best = [], g IN groups | CASE WHEN size(best) < 2 * $pool THEN best + [n IN g.alike | {n: n, weight: g.weight}] ELSE best END) AS x
  LET n = x.n, weight = x.weight
  // include: fragments/word_score.cypher
  ORDER BY found DESC, n.id
  WITH kind, collect({n: n, found: found})[..$pool] AS best
  RETURN collect({kind: kind, best: best}) AS worded
}
CALL (worded) {
    UNWIND [k IN $kinds WHERE k = 'memory'] AS once
    MATCH (n:Memory)
    SEARCH n IN (
      VECTOR INDEX memory_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
      LIMIT $pool
    ) SCORE AS found
    RETURN 'memory' AS kind, 'vector' AS list, n, found
  UNION ALL
    UNWIND [k IN $kinds WHERE k = 'belief'] AS once
    MATCH (n:Belief)
    SEARCH n IN (
      VECTOR INDEX belief_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $statuses
      LIMIT $pool
    ) SCORE AS found
    RETURN 'belief' AS kind, 'vector' AS list, n, found
  UNION ALL
    UNWIND worded AS w
    FILTER w.kind IN ['memory', 'belief']
    UNWIND w.best AS x
    RETURN w.kind AS kind, 'words' AS list, x.n AS n, x.found AS found
  UNION ALL
    CALL (worded) {
      UNWIND [k IN $kinds WHERE k = 'turn'] AS once
      MATCH (n:Turn)
      SEARCH n IN (
        VECTOR INDEX turn_embedding_vector
        FOR $embedding
        WHERE n.tenant = $tenant AND n.scope IN $scopes
        LIMIT $pool
      ) SCORE AS found
      RETURN 'vector' AS list, n, found
    UNION ALL
      UNWIND worded AS w
      FILTER w.kind = 'turn'
      UNWIND w.best AS x
      RETURN 'words' AS list, x.n AS n, x.found AS found
    }
    WITH n.episode_id AS episode_id, collect({list: list, n: n, found: found}) AS turns
    MATCH (p:Episode {tenant: $tenant, id: episode_id})
    // include: fragments/episode_archived.cypher
    FILTER NOT put_away
    UNWIND turns AS x
    RETURN 'turn' AS kind, x.list AS list, x.n AS n, x.found AS found
  UNION ALL
    CALL (worded) {
      UNWIND [k IN $kinds WHERE k = 'episode'] AS once
      MATCH (p:Episode)
      SEARCH p IN (
        VECTOR INDEX episode_embedding_vector
        FOR $embedding
        WHERE p.tenant = $tenant AND p.scope IN $scopes
        LIMIT $pool
      ) SCORE AS found
      RETURN 'vector' AS list, p, found
    UNION ALL
      UNWIND worded AS w
      FILTER w.kind = 'episode'
      UNWIND w.best AS x
      RETURN 'words' AS list, x.n AS p, x.found AS found
    }
    // include: fragments/episode_archived.cypher
    FILTER NOT put_away
    RETURN 'episode' AS kind, list, p AS n, found
}
WITH n, min(kind) AS kind, max(CASE list WHEN 'vector' THEN found END) AS vector, max(CASE list WHEN 'words' THEN found END) AS words
// The cached status is that for all readers.
LET node = CASE WHEN kind IN ['memory', 'belief'] THEN n END
// include: fragments/rejected_for_reader.cypher
FILTER NOT reader_rejects OR 'rejected' IN $statuses
// include: fragments/recall_candidates.cypher
RETURN candidates, false AS filtered
