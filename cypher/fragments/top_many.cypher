// Select the best candidates of a MANY slot. If nothing states its cardinality, its likely values are ordered newest first,
// because a newer one may replace the others.
// needs: b, projected, policy
// leaves: n_many (the total number, or null), many (a list of [b, map])

WITH b, projected, coalesce(NOT policy.built_in, false) AND projected.belief >= 0.5 AND projected.last_at IS NOT NULL AS open
ORDER BY open DESC, CASE WHEN open THEN projected.last_at END DESC, projected.belief DESC, projected.last_at IS NOT NULL DESC, projected.last_at DESC, b.id DESC
WITH collect({b: b, projected: projected}) AS found
UNWIND found[..$limit] AS x
WITH size(found) AS total, x.b AS b, x.projected AS projected
WITH max(total) AS n_many, collect([b, projected {
  .belief, .positive, .negative, .log_positive, .log_negative, .supporting_episodes, .refuting_episodes, .contested,
  .last_at, .events, score: projected.belief, ambiguous: false
}]) AS many
