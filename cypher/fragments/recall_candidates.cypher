// Return the candidates of a recall in one row, with token states if $late.
// needs: n, kind, vector, words
// leaves: candidates

WITH collect({
  node: elementId(n), kind: kind, vector: vector, words: words,
  states: CASE WHEN $late THEN n.token_states END,
  before: CASE WHEN $late AND kind = 'turn' THEN [(t:Turn {tenant: $tenant})-[:NEXT]->(n) | t.token_states][0] END
}) AS candidates
