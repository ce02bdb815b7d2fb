// Select the best candidates of a ONE slot. Needs the results of fragments/project_one.cypher, and $limit; leaves
// `one`, a list of [b, map], and `n_one`, the total number, or null.
// needs: ranked, close
// leaves: n_one, one

LET one = [i IN range(0, size(ranked[..$limit]) - 1) | [ranked[i].b, {
  score: ranked[i].score, belief: ranked[i].belief, last_at: ranked[i].last_at, last_id: ranked[i].last_id,
  events: ranked[i].events, ambiguous: close AND i < 2
}]]
LET n_one = nullIf(size(ranked), 0)
