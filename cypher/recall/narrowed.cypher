// Return recall candidates filtered by tag, source and time, or as of (valid, known). The index searches cannot apply
// all of these filters, so they fetch more than a list needs, and the rest is filtered afterwards. Otherwise like
// recall/now. Twins: oracles/fusion.py, oracles/blending.py, oracles/tracerank.py, oracles/lineage.py
// mode: read
// rows: one
// then: recall/hits
// source: Vestig M3, TraceRank; ESPER, blended retrieval; Engram, recall fusion
// plan: NodeVectorIndexSearch
// params:
//   $tenant          string    tenant name
//   $scopes          list      read scopes
//   $statuses        list      statuses to return; outvoted: a candidate of a slot with another leader
//   $kept            list      cached statuses to include: all of them for a read of the past
//   $kinds           list      subset of 'memory', 'belief', 'turn'
//   $tags            list      required tags; all must match
//   $source          string    required source of at least one visible event; null: any
//   $since           datetime  inclusive lower bound of the time of creation, or of the turn
//   $until           datetime  exclusive upper bound of the time of creation, or of the turn
//   $window          map       filters that an index supports: known, since and until, wide enough for data visible then
//   $wide            integer   number of candidates per search
//   $most            integer   maximum number of memories with these tags and this source
//   $embedding       list      embedding of the query
//   $words           map       memory, belief, turn: Lucene queries with the tenant and scope filter; '' skips the search; facets: for all memories with the tags and the source; see rules/words.py
//   $asked           list      words of the question, lower case
//   $dates           list      pairs of times: the spans that the question names
//   $machines        list      roles whose turns are not by a person
//   $pool            integer   number of candidates per list
//   $limit           integer   maximum number of hits
//   $by              map       scoring parameters: see rules/blending.py sent
//   $mu              float     mean cosine of a query and unrelated texts, used to calibrate similarity
//   $trace           map       tau_days, spacing and weight of TraceRank; kept: whether cached traces use these values
//   $valid           datetime  upper bound of valid time
//   $known           datetime  upper bound of known time; null: no bound
// columns:
//   - found      list  maps of memories and turns: kind, item (a card), score, parts, vector_score (Neo4j's, in [0, 1]) or null, vector_rank or null, bm25 or null, bm25_rank or null, reasons; trace of a memory; times as ISO text, which a driver decodes much faster
//   - claimed    list  ids of beliefs that these memories claim
//   - hidden     list  empty: filtered items are not counted
//   - shortlist  list  maps of beliefs: id, kind, relevance, score, parts, vector_score, vector_rank, bm25, bm25_rank

CALL () {
    CALL () {
      FILTER 'memory' IN $kinds
      MATCH (m:Memory)
      SEARCH m IN (
        VECTOR INDEX memory_embedding_vector
        FOR $embedding
        WHERE m.tenant = $tenant AND m.scope IN $scopes AND m.status IN $kept AND m.recorded_at <= $window.known
          AND m.created_at >= $window.since AND m.created_at < $window.until
        LIMIT $wide
      ) SCORE AS found
      RETURN 'vector' AS list, m, found
    UNION
      FILTER 'memory' IN $kinds AND $words.facets <> ''
      CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words.facets, {limit: $most}) YIELD node AS m
      FILTER m.tenant = $tenant AND m.scope IN $scopes AND m.embedding IS NOT NULL
      RETURN 'vector' AS list, m, vector.similarity.cosine(m.embedding, $embedding) AS found
    UNION
      FILTER 'memory' IN $kinds AND $words.memory <> ''
      CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words.memory, {limit: $wide}) YIELD node AS m, score AS found
      FILTER found > 0 AND m.tenant = $tenant AND m.scope IN $scopes
      RETURN 'words' AS list, m, found
    }
    WITH list, m, max(found) AS found
    FILTER m.created_at < $window.until AND all(tag IN $tags WHERE tag IN m.tags)
      AND ($source IS NULL OR EXISTS {
        MATCH (m)<-[:REINFORCES]-(e:Event)
        WHERE e.source = $source AND e.scope IN $scopes AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
      })
    // Each memory is read once, regardless of the number of lists that contain it.
    WITH m, collect([list, found]) AS lists
    // include: fragments/seen_as_of.cypher
    FILTER created_at >= $since AND created_at < $until
    CALL (m) {
      // A memory without SUPERSEDES and CONCERNS edges is current.
      FILTER EXISTS { (m)<-[:SUPERSEDES|CONCERNS]-() }
      WITH m AS node
      // include: fragments/standing_as_of.cypher
      RETURN collect(status)[0] AS status
    }
    FILTER coalesce(status, 'current') IN $statuses
    UNWIND lists AS l
    WITH l[0] AS list, l[1] AS found, m
    ORDER BY found DESC, m.id
    WITH list, collect([m, found])[..$pool] AS best
    UNWIND best AS x
    WITH list, x[0] AS n, x[1] AS found, x[0] AS m, $valid AS valid
    // include: fragments/trace_told.cypher
    // include: fragments/trace_fold.cypher
    // include: fragments/trace_faded.cypher
    RETURN 'memory' AS kind, list, n, found, trace
  UNION ALL
    CALL () {
      FILTER 'belief' IN $kinds
      MATCH (m:Belief)
      SEARCH m IN (
        VECTOR INDEX belief_embedding_vector
        FOR $embedding
        WHERE m.tenant = $tenant AND m.scope IN $scopes AND m.status IN $kept AND m.recorded_at <= $window.known
          AND m.created_at >= $window.since AND m.created_at < $window.until
        LIMIT $wide
      ) SCORE AS found
      RETURN 'vector' AS list, m, found
    UNION ALL
      FILTER 'belief' IN $kinds AND $words.belief <> ''
      CALL db.index.fulltext.queryNodes('belief_statement_fulltext', $words.belief, {limit: $wide}) YIELD node AS m, score AS found
      FILTER found > 0 AND m.tenant = $tenant AND m.scope IN $scopes
      RETURN 'words' AS list, m, found
    }
    // include: fragments/belief_seen.cypher
    FILTER created_at >= $since AND created_at < $until AND ($source IS NULL OR EXISTS {
      MATCH (m)<-[:SUPPORTS|REFUTES]-(e:Event)
      WHERE e.source = $source AND e.occurred_at <= $valid AND ($known IS NULL OR e.recorded_at <= $known)
    })
    WITH list, m, found
    ORDER BY found DESC, m.id
    WITH list, collect([m, found])[..$pool] AS best
    UNWIND best AS x
    RETURN 'belief' AS kind, list, x[0] AS n, x[1] AS found, 0.0 AS trace
  UNION ALL
    FILTER 'turn' IN $kinds
    MATCH (n:Turn)
    SEARCH n IN (
      VECTOR INDEX turn_embedding_vector
      FOR $embedding
      WHERE n.tenant = $tenant AND n.scope IN $scopes AND n.recorded_at <= $window.known
        AND n.occurred_at >= $since AND n.occurred_at < $window.until
      LIMIT $pool
    ) SCORE AS found
    MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
    // include: fragments/put_away.cypher
    FILTER NOT put_away
    RETURN 'turn' AS kind, 'vector' AS list, n, found, 0.0 AS trace
  UNION ALL
    FILTER 'turn' IN $kinds AND $words.turn <> ''
    CALL db.index.fulltext.queryNodes('turn_text_fulltext', $words.turn, {limit: $wide}) YIELD node AS n, score AS found
    FILTER found > 0 AND n.tenant = $tenant AND n.scope IN $scopes AND n.recorded_at <= $window.known
      AND n.occurred_at >= $since AND n.occurred_at < $window.until
    MATCH (n)-[:OCCURRED_IN]->(p:Episode {tenant: $tenant})
    // include: fragments/put_away.cypher
    FILTER NOT put_away
    WITH n, found
    ORDER BY found DESC, n.id
    LIMIT $pool
    RETURN 'turn' AS kind, 'words' AS list, n, found, 0.0 AS trace
}
// include: fragments/recall_points.cypher
// include: fragments/recall_parts.cypher
// include: fragments/recall_scores.cypher
// include: fragments/recall_shortlist.cypher
CALL (others) {
  UNWIND others AS hit
  CALL (hit) {
    WITH hit.n AS m, $valid AS valid
    FILTER hit.kind = 'memory'
    // include: fragments/seen_as_of.cypher
    // include: fragments/lineage_as_of.cypher
    // include: fragments/memory_card_as_of.cypher
    // include: fragments/memory_reasons.cypher
    // include: fragments/trace_told.cypher
    // include: fragments/trace_fold.cypher
    // include: fragments/trace_faded.cypher
    // include: fragments/recall_memory.cypher
  UNION ALL
    // include: fragments/recall_turn.cypher
  }
  // include: fragments/recall_found.cypher
}
RETURN found, claimed, [] AS hidden, [x IN shortlist | x {
  .vector_score, .vector_rank, .bm25, .bm25_rank, .relevance, .score, .parts, .kind, id: x.n.id
}] AS shortlist
