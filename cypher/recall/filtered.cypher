// Return recall candidates filtered by tag, source and time, or as of (valid, known). The index searches cannot apply
// all of these filters, so they fetch more than a list needs, and the rest is filtered afterwards. Otherwise like
// recall/current. Twins: oracles/tracerank.py, oracles/lineage.py
// mode: read
// rows: one
// then: recall/hits
// source: Vestig M3, TraceRank; ESPER, blended retrieval; Engram, recall fusion
// plan: NodeVectorIndexSearch
// params:
//   $scopes           list      read scopes
//   $statuses         list      statuses to return; outvoted: a candidate of a slot with another leader
//   $cached_statuses  list      cached statuses to include: all of them for a read of the past
//   $kinds            list      subset of 'memory', 'belief', 'turn', 'episode'
//   $tags             list      required tags; all must match
//   $source           string    required source of at least one visible event; null: any
//   $min_trust        integer   lowest rank of trust, see rules/trust.py; 0: any
//   $since            datetime  inclusive lower bound of the time of creation, or of the turn or episode
//   $until            datetime  exclusive upper bound of the time of creation, or of the turn or episode
//   $window           map       filters that an index supports: known, since and until, wide enough for data visible then
//   $wide_pool        integer   number of candidates per vector search, and of matches of words per kind
//   $max_faceted      integer   maximum number of memories with these tags and this source
//   $embedding        list      embedding of the query
//   $words            map       memory, belief, turn, episode: Lucene queries with the tenant and scope filter; '' skips the search; facets: for all memories with the tags and the source; see rules/fulltext.py
//   $pool             integer   number of candidates per list
//   $valid            datetime  upper bound of valid time
//   $known            datetime  upper bound of known time; null: no bound
//   $late             boolean   whether to return token states
//   $query_words      list      words of the question, lower case
//   $dates            list      pairs of times: the spans that the question names
//   $human_roles      list      roles of people, lower case
// columns:
//   - candidates  list     lists: element id, id, kind, vector and words (Neo4j's score, and BM25; null if not in the list), trace, episode id and position of a turn, whether the question names its speaker or subject, whether it names its time, whether its role is that of an assistant or a tool, days since it was last stated (null unless $scoring weights them), number of accesses (likewise), token states and those of the previous turn (null unless $late)
//   - filtered    boolean  true: recall/hits reads items as of ($valid, $known), from events

CALL () {
  UNWIND [k IN $kinds WHERE k = 'memory'] AS once
  MATCH (n:Memory)
  SEARCH n IN (
    VECTOR INDEX memory_embedding_vector
    FOR $embedding
    WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $cached_statuses AND n.recorded_at <= $window.known
      AND n.created_at >= $window.since AND n.created_at < $window.until
    LIMIT $wide_pool
  ) SCORE AS found
  RETURN 'memory' AS kind, 'vector' AS list, n, found
UNION ALL
  FILTER 'memory' IN $kinds AND $words.facets <> ''
  CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words.facets, {limit: $max_faceted}) YIELD node AS n
  FILTER n.tenant = $tenant AND n.scope IN $scopes AND n.embedding IS NOT NULL
  RETURN 'memory' AS kind, 'vector' AS list, n, vector.similarity.cosine(n.embedding, $embedding) AS found
UNION ALL
  UNWIND [k IN $kinds WHERE k = 'belief'] AS once
  MATCH (n:Belief)
  SEARCH n IN (
    VECTOR INDEX belief_embedding_vector
    FOR $embedding
    WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.status IN $cached_statuses AND n.recorded_at <= $window.known
      AND n.created_at >= $window.since AND n.created_at < $window.until
    LIMIT $wide_pool
  ) SCORE AS found
  RETURN 'belief' AS kind, 'vector' AS list, n, found
UNION ALL
  UNWIND [k IN $kinds WHERE k = 'turn'] AS once
  MATCH (n:Turn)
  SEARCH n IN (
    VECTOR INDEX turn_embedding_vector
    FOR $embedding
    WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.recorded_at <= $window.known
      AND n.occurred_at >= $since AND n.occurred_at < $window.until
    LIMIT $pool
  ) SCORE AS found
  RETURN 'turn' AS kind, 'vector' AS list, n, found
UNION ALL
  UNWIND [k IN $kinds WHERE k = 'episode'] AS once
  MATCH (n:Episode)
  SEARCH n IN (
    VECTOR INDEX episode_embedding_vector
    FOR $embedding
    WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.recorded_at <= $window.known
      AND n.occurred_at >= $since AND n.occurred_at < $window.until
    LIMIT $wide_pool
  ) SCORE AS found
  RETURN 'episode' AS kind, 'vector' AS list, n, found
UNION ALL
  CALL () {
    FILTER 'memory' IN $kinds AND $words.memory <> ''
    CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words.memory, {limit: $wide_pool}) YIELD node AS n, score AS found
    FILTER n.tenant = $tenant AND n.scope IN $scopes
    RETURN 'memory' AS kind, n, found
  UNION ALL
    FILTER 'belief' IN $kinds AND $words.belief <> ''
    CALL db.index.fulltext.queryNodes('belief_statement_fulltext', $words.belief, {limit: $wide_pool}) YIELD node AS n, score AS found
    FILTER n.tenant = $tenant AND n.scope IN $scopes
    RETURN 'belief' AS kind, n, found
  UNION ALL
    FILTER 'turn' IN $kinds AND $words.turn <> ''
    CALL db.index.fulltext.queryNodes('turn_text_fulltext', $words.turn, {limit: $wide_pool}) YIELD node AS n, score AS found
    FILTER n.tenant = $tenant AND n.scope IN $scopes
    RETURN 'turn' AS kind, n, found
  UNION ALL
    FILTER 'episode' IN $kinds AND $words.episode <> ''
    CALL db.index.fulltext.queryNodes('episode_summary_fulltext', $words.episode, {limit: $wide_pool}) YIELD node AS n, score AS found
    FILTER n.tenant = $tenant AND n.scope IN $scopes
    RETURN 'episode' AS kind, n, found
  }
  // include: fragments/word_weights.cypher
  UNWIND alike AS n
  // include: fragments/word_score.cypher
  RETURN kind, 'words' AS list, n, found
}
// A memory can be found by its words and facets, and is read once, regardless of the number of lists that contain it.
WITH n, min(kind) AS kind, max(CASE list WHEN 'vector' THEN found END) AS vector, max(CASE list WHEN 'words' THEN found END) AS words
CALL (kind, n) {
  FILTER kind = 'memory'
  WITH n AS m
  FILTER m.created_at < $window.until AND all(tag IN $tags WHERE tag IN m.tags)
    AND ($source IS NULL OR EXISTS {
      MATCH (m)<-[:REINFORCES]-(e:Event)
      WHERE e.type IN ['ADD', 'IMPORT', 'REINFORCE_EXACT', 'REINFORCE_NEAR'] AND e.source = $source AND e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
    })
  // One trusted statement suffices here; recall/hits decides, because a later event may have made it void.
  FILTER $min_trust = 0 OR EXISTS {
    MATCH (m)<-[:REINFORCES|CONCERNS]-(e:Event {tenant: $tenant})
    WHERE e.trust >= $min_trust AND e.type <> 'REINFORCE_NEAR' AND e.scope IN $scopes
      AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  }
  // include: fragments/memory_dates_as_of.cypher
  FILTER created_at >= $since AND created_at < $until
  CALL (m) {
    // A memory without rulings, SUPERSEDES and CONCERNS edges is current.
    FILTER m.rulings IS NOT NULL OR EXISTS { (m)<-[:SUPERSEDES|CONCERNS]-() }
    WITH m AS node
    // include: fragments/status_as_of.cypher
    RETURN collect(status)[0] AS status
  }
  FILTER coalesce(status, 'current') IN $statuses
  RETURN true AS visible
UNION ALL
  FILTER kind = 'belief'
  WITH n AS m
  // include: fragments/belief_created_as_of.cypher
  FILTER created_at >= $since AND created_at < $until AND ($source IS NULL OR EXISTS {
    MATCH (m)<-[:SUPPORTS|REFUTES]-(e:Event)
    WHERE e.source = $source AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  })
  FILTER $min_trust = 0 OR EXISTS {
    MATCH (m)<-[:SUPPORTS|CONCERNS]-(e:Event {tenant: $tenant})
    WHERE e.trust >= $min_trust AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
  }
  RETURN true AS visible
UNION ALL
  FILTER kind = 'turn' AND n.trust >= $min_trust AND n.recorded_at <= $window.known AND n.occurred_at >= $since AND n.occurred_at < $window.until
  MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
  // include: fragments/episode_archived.cypher
  FILTER NOT put_away
  RETURN true AS visible
UNION ALL
  FILTER kind = 'episode' AND n.recorded_at <= $window.known AND n.occurred_at >= $since AND n.occurred_at < $window.until
  WITH n AS p
  // A summary must not cover turns that are invisible then.
  FILTER NOT EXISTS { (p)<-[:OCCURRED_IN]-(t:Turn {tenant: $tenant}) WHERE t.occurred_at > $valid OR t.recorded_at > $window.known }
  // include: fragments/episode_archived.cypher
  FILTER NOT put_away
  // include: fragments/episode_trust.cypher
  FILTER trust >= $min_trust
  RETURN true AS visible
}
UNWIND [l IN [{list: 'vector', found: vector}, {list: 'words', found: words}] WHERE l.found IS NOT NULL] AS l
WITH kind, l.list AS list, n, l.found AS found
ORDER BY found DESC, n.id
WITH kind, list, collect({n: n, found: found})[..$pool] AS best
UNWIND best AS x
WITH x.n AS n, min(kind) AS kind, max(CASE list WHEN 'vector' THEN x.found END) AS vector, max(CASE list WHEN 'words' THEN x.found END) AS words
// include: fragments/recall_candidates.cypher
RETURN candidates, true AS filtered
