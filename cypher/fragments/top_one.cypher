// Select the best candidates of a ONE slot. Needs the results of fragments/project_one.cypher, and $limit; leaves
// `one`, a list of [b, map], and `n_one`, the total number, or null.
// needs: ranked, close
// leaves: n_one, one

UNWIND range(0, size(ranked) - 1) AS i
WITH size(ranked) AS total, i, ranked[i].b AS b, ranked[i] AS projected, close AND i < 2 AS ambiguous
ORDER BY i
LIMIT $limit
WITH max(total) AS n_one, collect([b, projected {.score, .belief, .last_at, .last_id, .events, ambiguous: ambiguous}]) AS one
