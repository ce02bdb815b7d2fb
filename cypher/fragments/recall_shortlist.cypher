// Select the candidates to read in full: the best $limit candidates that are not beliefs, the best $by.beliefs beliefs,
// and the beliefs that the memories claim. Needs the rows of fragments/recall_scores.cypher; leaves `others` and
// `shortlist`, lists of `x`, a map: kind, n, score, relevance, parts (a map), vector_score, vector_rank, bm25,
// bm25_rank; and `claimed`, ids of beliefs.

WITH x, parts, relevance, score
ORDER BY score DESC
WITH collect([score, x, parts, relevance]) AS found
LET others = [y IN found WHERE y[1].kind <> 'belief'], shortlist = [y IN found WHERE y[1].kind = 'belief']
// Ids are read and maps are built only for possible results: candidates with at least the score of the last one.
UNWIND [y IN others WHERE y[0] >= coalesce(others[$limit - 1][0], y[0])] +
       [y IN shortlist WHERE y[0] >= coalesce(shortlist[$by.beliefs - 1][0], y[0])] AS y
WITH y[1] AS x, y[2] AS parts, y[3] AS relevance, y[0] AS score
ORDER BY score DESC, x.n.id
WITH collect(x {
  .kind, .n, .vector_score, .vector_rank, .bm25, .bm25_rank, relevance: relevance, score: score, parts: {
    meaning: parts[0], words: parts[1], recency: parts[2], access: parts[3], around: parts[4], named: parts[5], dated: parts[6], factor: parts[7]
  }
}) AS best
LET others = [x IN best WHERE x.kind <> 'belief'][..$limit], shortlist = [x IN best WHERE x.kind = 'belief'][..$by.beliefs]
CALL (others) {
  UNWIND others AS x
  WITH x.n AS n
  MATCH (n)-[:CLAIMS]->(b:Belief)
  WHERE b.scope IN $scopes
  RETURN collect(DISTINCT b.id) AS claimed
}
