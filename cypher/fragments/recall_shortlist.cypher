// What of the candidates is looked at closely: the best $limit of what is no belief, the best $by.beliefs beliefs, and what the memories
// claim. Needs rows of `x` (fragments/recall_scores); leaves `others` and `shortlist`, lists of x, and `asked`, beliefs.

WITH x
ORDER BY x.score DESC, x.n.id
WITH collect(x) AS found
LET others = [x IN found WHERE x.kind <> 'belief'][..$limit], shortlist = [x IN found WHERE x.kind = 'belief'][..$by.beliefs]
CALL (others) {
  UNWIND others AS x
  WITH x.n AS n
  MATCH (n)-[:CLAIMS]->(b:Belief)
  WHERE b.scope IN $scopes
  RETURN collect(DISTINCT b) AS claimed
}
LET asked = [x IN shortlist | x.n] + claimed
