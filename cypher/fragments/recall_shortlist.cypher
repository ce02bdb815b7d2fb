// Select the candidates to read in full: the best $limit candidates that are not beliefs, the best $scoring.beliefs beliefs,
// and the beliefs that the memories claim. Needs the rows of fragments/recall_scores.cypher; leaves `others` and
// `shortlist`, lists of `x`, a map: kind, n, trace, score, relevance, parts (a map), vector_score, vector_rank,
// bm25, bm25_rank; and `claimed`, a list of beliefs.
// needs: x, parts, relevance, score
// leaves: others, shortlist, claimed

WITH x, parts, relevance, score
ORDER BY score DESC
WITH collect({x: x, parts: parts, relevance: relevance, score: score}) AS found
LET others = [y IN found WHERE y.x.kind <> 'belief'], shortlist = [y IN found WHERE y.x.kind = 'belief']
// Ids are read and maps are built only for possible results: candidates with at least the score of the last one.
UNWIND [y IN others WHERE y.score >= coalesce(others[$limit - 1].score, y.score)] +
       [y IN shortlist WHERE y.score >= coalesce(shortlist[$scoring.beliefs - 1].score, y.score)] AS y
WITH y, y.x AS x
ORDER BY y.score DESC, x.n.id
WITH collect(x {
  .kind, .n, .trace, .vector_score, .vector_rank, .bm25, .bm25_rank, relevance: y.relevance, score: y.score, parts: y.parts
}) AS best
LET others = [x IN best WHERE x.kind <> 'belief'][..$limit], shortlist = [x IN best WHERE x.kind = 'belief'][..$scoring.beliefs]
CALL (others) {
  UNWIND others AS x
  WITH x.n AS n
  MATCH (n)-[:CLAIMS]->(b:Belief)
  WHERE b.scope IN $scopes
  RETURN collect(DISTINCT b) AS claimed
}
