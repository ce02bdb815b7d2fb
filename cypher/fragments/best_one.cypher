// The best values of a ONE slot. Needs what fragments/project_one.cypher leaves, and $limit; leaves `one`, a list of [b, map], and
// `n_one`, how many there are, or null.

UNWIND range(0, size(ranked) - 1) AS i
WITH size(ranked) AS total, i, ranked[i].b AS b, ranked[i] AS projected, close AND i < 2 AS ambiguous
ORDER BY i
LIMIT $limit
WITH max(total) AS n_one, collect([b, projected {.score, .belief, .last_at, .last_id, .events, ambiguous: ambiguous}]) AS one
